import type { Listed } from "../client/check-list.js";
import { rowFromRecord } from "../rows/row-from-record.js";

type SizedKind = "chunks" | "child_chunks";

/** Bytes of a row: as JSON of the service, embedded children included, and as a line of JSONL. */
export interface RowSize {
  readonly json: number;
  readonly jsonl: number;
}

/** A placeholder: all UUIDs have the same length. */
const someId = "00000000-0000-4000-8000-000000000000";

/** Rows of each kind that are measured of one document; a mean of more would hardly be another. */
const enough = 300;

/** Weight, in rows, of the mean of like documents in the mean of one, of which perhaps only a few rows were seen. */
const general = 2;

/** Measures sample rows: of one document, and with it of all of its form, and of all. */
export class RowSizes {
  readonly #keepSignatures: boolean;
  readonly #whole: RowSizes | undefined;
  readonly #forms = new Map<string | null, RowSizes>();
  readonly #sums = {
    chunks: { seen: 0, measured: 0, json: 0, jsonl: 0 },
    child_chunks: { seen: 0, measured: 0, json: 0, jsonl: 0 },
  };

  constructor(keepSignatures: boolean, whole?: RowSizes) {
    this.#keepSignatures = keepSignatures;
    this.#whole = whole;
  }

  /** The sizes of one document, which count for those of its form, too. */
  ofDocument(docForm: string | null): RowSizes {
    const form = this.#forms.get(docForm) ?? new RowSizes(this.#keepSignatures, this);
    this.#forms.set(docForm, form);
    return new RowSizes(this.#keepSignatures, form);
  }

  add(kind: SizedKind, records: readonly Listed[]): void {
    const sum = this.#sums[kind];
    sum.seen += records.length;
    for (const record of records.slice(0, Math.max(0, enough - sum.measured))) {
      const size = sizeOf(kind, record, this.#keepSignatures);
      if (size) this.#count(kind, size);
    }
  }

  /** Rows that were received, repeats included. */
  seen(kind: SizedKind): number {
    return this.#sums[kind].seen;
  }

  /** Rows that were measured. */
  measured(kind: SizedKind): number {
    return this.#sums[kind].measured;
  }

  /** The mean of one row; of a document it leans on that of its form, the more so the fewer rows were seen. */
  mean(kind: SizedKind): RowSize {
    const { measured, json, jsonl } = this.#sums[kind];
    const others = this.#whole && this.#whole.measured(kind) > 0 ? general : 0;
    const like = this.#whole?.mean(kind) ?? { json: 0, jsonl: 0 };
    const rows = Math.max(1, measured + others);
    return { json: (json + others * like.json) / rows, jsonl: (jsonl + others * like.jsonl) / rows };
  }

  #count(kind: SizedKind, size: RowSize): void {
    const sum = this.#sums[kind];
    sum.measured++;
    sum.json += size.json;
    sum.jsonl += size.jsonl;
    if (this.#whole) this.#whole.#count(kind, size);
  }
}

/** Undefined for what is nested too deeply to be written, which fails its document in a run, too. */
function sizeOf(kind: SizedKind, record: Listed, keepSignatures: boolean): RowSize | undefined {
  const { document_id = someId, segment_id = someId } = record;
  const known = { dataset_id: someId, document_id, segment_id };
  try {
    const row = rowFromRecord(kind, record, known, { keepSignatures, drift: () => {} });
    return { json: bytesOf(record), jsonl: bytesOf(row) + 1 };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** An exact number counts as a few bytes. */
function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
