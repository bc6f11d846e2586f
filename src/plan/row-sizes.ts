import type { Listed } from "../client/check-list.js";
import { type Row, rowFromRecord } from "../normalise/row-from-record.js";
import { csvText } from "../sinks/csv.js";
import { encodeLines } from "../sinks/encode-lines.js";
import { jsonlText } from "../sinks/jsonl.js";

/** A uuid in place of one that is not at hand: all are as long. */
const someId = "00000000-0000-4000-8000-000000000000";

/** Rows that are measured of each kind; a mean of more would hardly be another. */
const enough = 2_000;

/** What the rows of one kind take, in bytes. */
export interface RowSize {
  readonly rows: number;
  readonly jsonl: number;
  readonly csv: number;
}

/** Writes sample rows as a run would, and measures them. */
export class RowSizes {
  readonly #keepSignatures: boolean;
  readonly #sizes: Record<"chunks" | "child_chunks", { rows: number; jsonl: number; csv: number }> = {
    chunks: { rows: 0, jsonl: 0, csv: 0 },
    child_chunks: { rows: 0, jsonl: 0, csv: 0 },
  };

  constructor(keepSignatures: boolean) {
    this.#keepSignatures = keepSignatures;
  }

  add(kind: "chunks" | "child_chunks", records: readonly Listed[]): void {
    const size = this.#sizes[kind];
    const options = { keepSignatures: this.#keepSignatures, drift: () => {} };
    for (const record of records) {
      if (size.rows >= enough) return;
      const { document_id = someId, segment_id = someId } = record;
      const row = rowOf(() => rowFromRecord(kind, record, { dataset_id: someId, document_id, segment_id }, options));
      if (!row) continue;
      size.rows++;
      size.jsonl += encodeLines(jsonlText.texts(kind, [row])).length;
      size.csv += encodeLines(csvText(false).texts(kind, [row])).length;
    }
  }

  /** Means of one row. */
  of(kind: "chunks" | "child_chunks"): RowSize {
    const { rows, jsonl, csv } = this.#sizes[kind];
    const per = Math.max(1, rows);
    return { rows, jsonl: jsonl / per, csv: csv / per };
  }
}

/** Undefined for what is nested too deeply to be written, which fails its document in a run, too. */
function rowOf(make: () => Row): Row | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
