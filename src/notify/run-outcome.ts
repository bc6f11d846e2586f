import type { RequestTally } from "../client/request-tally.js";
import type { Kind } from "../rows/columns.js";
import type { DocumentRow } from "../rows/document-row.js";

export const outcomes = ["complete", "partial", "failed", "interrupted"] as const;

/** How a run ended; nothing is published by the last two. */
export type Outcome = (typeof outcomes)[number];

/** What is told of a run when it is over. No content, no key, nothing that the service said. */
export interface RunOutcome {
  readonly job: string;
  /** Null when it failed before there was a run, for want of a key, say. */
  readonly runId: string | null;
  readonly status: Outcome;
  /** Of this process. */
  readonly finishedAt: Date;
  readonly seconds: number;
  readonly requests: Readonly<RequestTally>;
  /** Of a published run. */
  readonly rows: Readonly<Partial<Record<Kind, number>>> | undefined;
  readonly documents: Readonly<Record<DocumentRow["status"], number>> | undefined;
  /** Ids of the first documents that failed. */
  readonly failedDocuments: readonly string[];
  /** One sentence. */
  readonly message: string;
}
