import type { Place } from "../client/knowledge-api.js";
import { countOf } from "../words.js";
import { findWrite } from "./find-write.js";
import type { Journal } from "./journal.js";
import type { Intent } from "./journal-lines.js";
import { readHashes } from "./standing-rows.js";
import {
  concludeFound,
  type Found,
  type Looked,
  latestLanding,
  lookForWrite,
  placeName,
  type WriteOptions,
} from "./write-once.js";

/** No writer, because only reading shows the outcomes. */
export type ReconcileOptions = Omit<WriteOptions, "writer" | "concurrency" | "onWrite">;

/**
 * Finds the outcome of an earlier process's writes without an answer. If the service cannot be read, a write
 * stays open, and its document is not written. Writes to the rows and the state of a copy count as not done after their time
 * limit if the service does not show them: the rows of a document are read before it is continued. Plan only after this, because a plan depends on the outcomes.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { journal, log, now, settle, lockTime } = options;
  const { open } = journal;
  if (open.length > 0) log("info", `an earlier restore did not end: looking for ${countOf(open.length, "write")}`);
  for (const intent of open) {
    const until = Math.min(latestLanding(intent, options), now() + settle + lockTime); // a clock may have been wrong
    const onWait = () => log("info", waitingFor(intent, until));
    const isSent = journal.sentAt(intent) !== undefined;
    const looked: Looked = isSent
      ? await lookForWrite(() => findEarlier(intent, options), until, options, onWait)
      : { kind: "not done" };
    if (looked.kind === "found") await concludeFound(options, intent, looked.found);
    else if (looked.kind === "not done") await journal.conclude(intent, "not done");
    else log("warn", `${placeName(intent)}: cannot determine the outcome of a write: ${looked.reason}`);
  }
}

function waitingFor(intent: Intent, until: number): string {
  const time = new Date(until).toISOString();
  return `${placeName(intent)}: waiting until ${time} for an earlier write that the service has not answered and may still execute`;
}

/** Looks for a write of an earlier process, whose journal knows the ids at the service. */
async function findEarlier(intent: Intent, options: ReconcileOptions): Promise<Found | undefined> {
  const place = placeOf(intent, options.journal);
  if (!place) return undefined;
  return intent.write === "add chunks" && intent.rows !== null
    ? findAddition(intent, place, options)
    : findWrite(intent, place, options);
}

/** The ids at the service of the dataset and document of a write; undefined if there is no such copy. */
function placeOf({ write, dataset_id, document_id }: Intent, { facts, undo }: Journal): Place | undefined {
  if (undo !== null) return { datasetId: dataset_id, documentId: document_id ?? "" };
  const copy = facts.documents.get(document_id ?? "");
  if (copy) return { datasetId: copy.target_dataset_id, documentId: copy.target_id };
  const dataset = facts.datasets.get(dataset_id);
  if (write === "create dataset") return { datasetId: "", documentId: "" };
  const isOfDataset = document_id === null || write === "create document";
  return dataset && isOfDataset ? { datasetId: dataset.id, documentId: "" } : undefined;
}

/**
 * Finds the chunks that a request of a copy added: the copy has exactly that many chunks outside the journal. The service stores a request
 * as a whole.
 */
async function findAddition(
  { document_id, rows }: Intent,
  place: Place,
  { api, journal }: ReconcileOptions,
): Promise<Found | undefined> {
  const known = new Set(journal.additions(document_id ?? "").flatMap(({ ids }) => ids ?? []));
  const fresh = (await readHashes(api, place)).filter(({ id }) => !known.has(id));
  return fresh.length === rows ? { ids: fresh.map(({ id }) => id) } : undefined;
}
