import { SkipError } from "../../../errors.js";
import type { DocumentRows } from "../../../restore/document-rows.js";
import type { FailedRow } from "../../moved.js";
import type { DocumentWork } from "../apply-options.js";
import { addChunks } from "./add-chunks.js";
import { DocumentCopy } from "./document-copy.js";
import { Finish } from "./finish-chunks.js";
import { readCopies, takeUp } from "./take-up.js";

/** The outcome for the rows of one document. */
export interface Brought {
  /** Rows that did not come, and nobody announced. */
  readonly failed: readonly FailedRow[];
  /** Why the document was given up before all of its rows were tried, as a sentence; null where it was not. */
  readonly reason: string | null;
}

/**
 * Brings the chunks and child chunks of one document of the dump into its copy, in order, and goes on where an earlier process ended. The
 * copy is completed, enabled, not archived, and holds no chunk of its stub. Rejects with StopError where the key is refused or the
 * disk fails, and with the reason of the signal.
 */
export async function bringRows(work: DocumentWork, rows: DocumentRows): Promise<Brought> {
  const copy = new DocumentCopy(work, rows);
  try {
    const { there, next } = await takeUp(copy);
    const finish = new Finish(copy);
    await finish.finish(there);
    for await (const added of addChunks(copy, next)) await finish.finish(added);
    await finish.end();
    if (work.options.journal.mayShowUp("add chunks", work.plan.document_id)) await readCopies(copy);
    return { failed: copy.failed, reason: null };
  } catch (error) {
    if (error instanceof SkipError) return { failed: copy.failed, reason: error.message };
    throw error;
  }
}
