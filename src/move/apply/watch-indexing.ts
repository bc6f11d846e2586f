import type { Listed } from "../../client/check-list.js";
import { SkipError } from "../../errors.js";
import { textIn } from "../../restore/json-fields.js";
import { cutText } from "../../safe-text.js";
import type { ApplyOptions, DocumentWork } from "./apply-options.js";
import { ifThere } from "./if-there.js";

/** The wait between two looks, in milliseconds: the first, which doubles, and the longest. */
const [firstWait, longestWait] = [200, 5_000];
/** Milliseconds without any progress that are too many, and characters of the service's words that are shown. */
const patience = 30 * 60_000;
const longestWords = 300;

type Watched = Pick<ApplyOptions, "api" | "now" | "sleep" | "signal">;

/**
 * Waits until the service has indexed a document. `batch`: null where no answer told it. SkipError, with the service's words, where
 * the indexing fails, is paused, or does not move for 30 minutes.
 */
export async function watchIndexing(
  { api, now, sleep, signal }: Watched,
  place: DocumentWork["place"],
  batch: string | null,
): Promise<void> {
  let known = batch;
  let seen = "";
  let movedAt = now();
  for (let wait = firstWait; ; wait = Math.min(longestWait, wait * 2)) {
    const entry = known === null ? undefined : await readEntry(api, place, known);
    if (!entry) known = null; // batches are forgotten before documents are
    const status = entry ?? (await api.document(place.datasetId, place.documentId));
    const { indexing_status, completed_segments, total_segments } = status;
    if (indexing_status === "completed") return;
    if (indexing_status === "error" || indexing_status === "paused") throw new SkipError(endOf(status));
    const state = JSON.stringify([indexing_status, completed_segments, total_segments]);
    if (state !== seen) movedAt = now();
    seen = state;
    if (now() - movedAt >= patience)
      throw new SkipError(`the service does not index it: nothing moved for 30 minutes (${textIn(indexing_status)})`);
    await sleep(wait, signal);
  }
}

/** The entry of the document in its batch; undefined where the service does not know that. */
async function readEntry(
  api: Watched["api"],
  { datasetId, documentId }: DocumentWork["place"],
  batch: string,
): Promise<Listed | undefined> {
  const entries = await ifThere(() => api.indexingStatus(datasetId, batch));
  return entries?.find(({ id }) => id === documentId);
}

function endOf({ indexing_status, error }: Listed): string {
  const words = cutText(textIn(error) ?? "", longestWords);
  if (indexing_status === "paused") return "its indexing is paused at the service: resume it there, then restore again";
  return `the service could not index it${words === "" ? "" : `: ${words}`}`;
}
