import type { DocumentRef } from "../../client/knowledge-api.js";
import type { Batch } from "../../crawl/batch.js";
import { SkipError } from "../../errors.js";
import { type Drift, DriftCount } from "../../rows/drift.js";
import type { Row } from "../../rows/row.js";
import { rowFromRecord } from "../../rows/row-from-record.js";

/** Makes the rows of one document, and counts what came otherwise than expected. */
export class DocumentRows {
  readonly #ref: DocumentRef;
  readonly #keepSignatures: boolean;
  readonly #drift: DriftCount;

  /** `drift` was counted by an earlier process. */
  constructor(ref: DocumentRef, keepSignatures: boolean, drift?: Drift) {
    this.#ref = ref;
    this.#keepSignatures = keepSignatures;
    this.#drift = new DriftCount(drift);
  }

  get drift(): Drift {
    return this.#drift.drift;
  }

  rowsFrom({ kind, records, chunkId }: Batch): readonly Row[] {
    const known = { dataset_id: this.#ref.datasetId, document_id: this.#ref.documentId };
    const parent = kind === "chunks" ? known : { ...known, segment_id: chunkId };
    const options = { keepSignatures: this.#keepSignatures, drift: this.#drift.add };
    return records.map((record) => rowFromRecord(kind, record, parent, options));
  }
}

/** A value nested thousands of levels deep cannot be written; that is this document's trouble, not that of the others. */
export function tooDeep(error: unknown): SkipError | undefined {
  if (!(error instanceof RangeError)) return undefined;
  return new SkipError("a record is nested too deeply to be written", { cause: error });
}
