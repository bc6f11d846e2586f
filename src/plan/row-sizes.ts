import type { Listed } from "../client/check-list.js";
import { encodeLines } from "../dump/files/encode-lines.js";
import { csvText } from "../dump/formats/csv/write.js";
import { jsonlText } from "../dump/formats/jsonl/write.js";
import { rowFromRecord } from "../rows/row-from-record.js";

type SizedKind = "chunks" | "child_chunks";

/** Bytes of rows as a run writes them: of so many rows together, or of one in the mean. */
export interface RowSize {
  readonly rows: number;
  readonly jsonl: number;
  readonly csv: number;
}

/** A uuid in place of one that is not at hand: all are as long. */
const someId = "00000000-0000-4000-8000-000000000000";

/** Rows of each kind that are measured of one document; a mean of more would hardly be another. */
const enough = 300;

/** As many rows does the mean of all documents count for in the mean of one, of which only a few may have been seen. */
const general = 2;

/** Writes sample rows as a run would, and measures them: of one document, and with it of all. */
export class RowSizes {
  readonly #keepSignatures: boolean;
  readonly #all: RowSizes | undefined;
  readonly #sums: Record<SizedKind, RowSize> = {
    chunks: { rows: 0, jsonl: 0, csv: 0 },
    child_chunks: { rows: 0, jsonl: 0, csv: 0 },
  };

  constructor(keepSignatures: boolean, all?: RowSizes) {
    this.#keepSignatures = keepSignatures;
    this.#all = all;
  }

  /** The sizes of one document, which count for those of all, too. */
  ofDocument(): RowSizes {
    return new RowSizes(this.#keepSignatures, this);
  }

  add(kind: SizedKind, records: readonly Listed[]): void {
    const rows = records.slice(0, Math.max(0, enough - this.#sums[kind].rows));
    for (const record of rows) {
      const size = sizeOf(kind, record, this.#keepSignatures);
      if (size) this.#count(kind, size);
    }
  }

  /** Rows that were measured. */
  rows(kind: SizedKind): number {
    return this.#sums[kind].rows;
  }

  /** The mean of one row; of a document it leans on that of all, the more so the fewer rows were seen. */
  mean(kind: SizedKind): RowSize {
    const { rows, jsonl, csv } = this.#sums[kind];
    const all = this.#all?.mean(kind) ?? { rows: 0, jsonl: 0, csv: 0 };
    const others = all.rows > 0 ? general : 0;
    const per = Math.max(1, rows + others);
    return { rows, jsonl: (jsonl + others * all.jsonl) / per, csv: (csv + others * all.csv) / per };
  }

  #count(kind: SizedKind, { rows, jsonl, csv }: RowSize): void {
    const sum = this.#sums[kind];
    this.#sums[kind] = { rows: sum.rows + rows, jsonl: sum.jsonl + jsonl, csv: sum.csv + csv };
    if (this.#all) this.#all.#count(kind, { rows, jsonl, csv });
  }
}

/** Undefined for what is nested too deeply to be written, which fails its document in a run, too. */
function sizeOf(kind: SizedKind, record: Listed, keepSignatures: boolean): RowSize | undefined {
  const { document_id = someId, segment_id = someId } = record;
  const known = { dataset_id: someId, document_id, segment_id };
  try {
    const row = rowFromRecord(kind, record, known, { keepSignatures, drift: () => {} });
    const jsonl = encodeLines(jsonlText.texts(kind, [row])).length;
    return { rows: 1, jsonl, csv: encodeLines(csvText(false).texts(kind, [row])).length };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
