import type { StagedRows } from "../dump/formats/format.js";
import type { Kind } from "../rows/columns.js";

/** A run as the database takes it in, beside its rows. */
export interface RunFacts {
  readonly run: RunRow;
  /** True: the run asked for no child chunks, so what earlier runs know of them stands. */
  readonly withoutChildren?: boolean;
  /** Documents that came and went; absent where the service was not asked which there are. */
  readonly documentChanges?: readonly DocumentChange[] | undefined;
}

/** The rows of a run, as SQL selects them from its parts or from a published dump. */
export interface RunRows extends RunFacts, Pick<StagedRows, "rows"> {
  /** SQL that selects the rows of a kind, in the columns and types of its table; undefined where the run has none. */
  readonly select: (kind: Kind) => string | undefined;
}

/** A document that the service lists and an earlier run did not have, or the other way round. */
export interface DocumentChange {
  readonly change: "new" | "vanished";
  readonly dataset_id: string;
  readonly document_id: string;
}

/** A run as a row of the table `runs`; times are ISO strings. */
export interface RunRow {
  readonly run_id: string;
  readonly status: "complete" | "partial";
  readonly started_at: string;
  readonly finished_at: string;
  readonly base_url: string;
  readonly tool_version: string;
  readonly documents: number;
  readonly chunks: number;
  readonly child_chunks: number;
  readonly requests_sent: number;
  readonly requests_retried: number;
  readonly warnings: readonly string[];
}
