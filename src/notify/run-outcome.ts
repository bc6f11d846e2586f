import type { RequestTally } from "../client/request-tally.js";
import type { Kind } from "../rows/columns.js";
import type { DocumentRow } from "../rows/document-row.js";

export const outcomes = ["complete", "partial", "failed", "interrupted"] as const;

/** How a run ended; nothing is published by the last two. */
export type Outcome = (typeof outcomes)[number];

/** The result of a run as notifications and metrics report it: no content, no key; names of documents, but no other text of the service. */
export interface RunOutcome {
  readonly job: string;
  /** Null when it failed before there was a run, for want of a key, say. */
  readonly runId: string | null;
  readonly status: Outcome;
  /** When this process finished; its seconds and requests follow, without those of earlier processes of the run. */
  readonly finishedAt: Date;
  readonly seconds: number;
  readonly requests: Readonly<RequestTally>;
  /** Rows, and documents by status; undefined unless the run was published. */
  readonly rows: Readonly<Partial<Record<Kind, number>>> | undefined;
  readonly documents: Readonly<Record<DocumentRow["status"], number>> | undefined;
  /** Ids of the first documents that failed. */
  readonly failedDocuments: readonly string[];
  /** The same, with their names. */
  readonly failedNames: readonly string[];
  /** One sentence. */
  readonly message: string;
}
