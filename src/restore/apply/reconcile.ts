import { SkipError } from "../../errors.js";
import { countOf } from "../../words.js";
import { type ApplyOptions, DocumentWork, findWrite, interleave, withDefaults } from "./document-work.js";
import { mendChunk } from "./mend-chunk.js";
import { latestLanding, lookFor } from "./write-row.js";

/** Why a restore waits before it plans. */
export function waitingFor(
  { dataset_id, document_id }: { readonly dataset_id: string; readonly document_id: string | null },
  until: number,
): string {
  const place = document_id === null ? `dataset ${dataset_id}` : `document ${document_id}`;
  const time = new Date(until).toISOString();
  return `${place}: waiting until ${time} for an earlier write that the service has not answered and may still carry out`;
}

/**
 * Learns what became of the writes of an earlier process whose answers were lost, and repairs the chunks that they left unindexed.
 * Writes that cannot be looked for stay open, and their documents are not written.
 */
export async function reconcileJournal(options: ApplyOptions): Promise<void> {
  const full = withDefaults(options);
  const { api, journal, log, now, settle, lockTime } = full;
  const { open } = journal;
  if (open.length > 0) log("info", `an earlier restore did not end: looking for ${countOf(open.length, "write")}`);
  for (const intent of open) {
    if (journal.sentAt(intent) === undefined) {
      await journal.conclude(intent, "not done");
      continue;
    }
    try {
      const until = Math.min(latestLanding(intent, full), now() + 1_000 * (settle + lockTime)); // a clock may have been wrong
      const found = await lookFor(() => findWrite(api, intent), until, {
        ...full,
        onWait: () => log("info", waitingFor(intent, until)),
      });
      await journal.conclude(intent, found ? "done" : "not done", found ?? null);
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      log("warn", `document ${intent.document_id}: cannot learn what became of a write: ${error.message}`);
    }
  }
  const repairs = journal.unindexed.map((row) => {
    const place = { datasetId: row.dataset_id, documentId: row.document_id };
    return mendChunk(new DocumentWork(full, place, null), { ...row, error: "" });
  });
  await interleave(repairs, full);
}
