import { readStandingChunks } from "../../restore/apply/read-standing.js";
import { waitingFor } from "../../restore/apply/settle.js";
import { countOf } from "../../words.js";
import type { Intent } from "../journal/journal-lines.js";
import type { ApplyOptions } from "./apply-options.js";
import { latestLanding } from "./carry-out.js";
import { findDataset, findDocument, findField, findTag } from "./find-made.js";
import { type Find, type Found, lookForWrite } from "./look-for-write.js";

/** The writer is not needed: only reading tells what was done. */
export type SettleOptions = Pick<
  ApplyOptions,
  "api" | "journal" | "log" | "now" | "settle" | "lockTime" | "signal" | "sleep"
>;

/**
 * Learns what became of the writes of an earlier process whose answers were lost. Those of rows and of states count as not done once their
 * time is over: the rows of a document are read before it is continued. A write stays open where the service cannot be read. A plan must come later: it goes by what was made.
 */
export async function settleWrites(options: SettleOptions): Promise<void> {
  const { journal, log, now } = options;
  const { open } = journal;
  if (open.length > 0) log("info", `an earlier restore did not end: looking for ${countOf(open.length, "write")}`);
  for (const intent of open) {
    const isSent = journal.sentAt(intent) !== undefined;
    const until = Math.min(latestLanding(intent, options), now() + options.settle + options.lockTime);
    const onWait = (end: number) => log("info", waitingFor(intent, end));
    const looked = isSent ? await lookForWrite(finderOf(intent, options), until, { ...options, onWait }) : "not done";
    if (looked === "unknown") log("warn", `cannot learn what became of a write: ${intent.method} ${intent.path}`);
    else if (looked === "not done") await journal.conclude(intent, "not done");
    else await journal.conclude(intent, "done", looked);
  }
}

function finderOf(intent: Intent, options: SettleOptions): Find {
  const { write, dataset_id, name } = intent;
  const datasetId = options.journal.facts.datasets.get(dataset_id)?.id;
  if (write === "create dataset") return () => findDataset(options, name ?? "");
  if (write === "create tag") return () => findTag(options, name ?? "");
  if (datasetId !== undefined && write === "create document") return () => findDocument(options, datasetId, name ?? "");
  if (datasetId !== undefined && write === "create field") return () => findField(options, datasetId, name ?? "");
  if (write === "add chunks") return () => findAdded(intent, options);
  return async () => undefined;
}

/** Finds the chunks of an add: the copy has exactly that many chunks that the journal does not list. The service stores a request as a whole. */
async function findAdded({ document_id, rows }: Intent, { api, journal }: SettleOptions): Promise<Found | undefined> {
  const copy = document_id === null ? undefined : journal.facts.documents.get(document_id);
  if (document_id === null || !copy) return undefined;
  const place = { datasetId: copy.target_dataset_id, documentId: copy.target_id };
  const known = new Set(journal.additions(document_id).flatMap(({ ids }) => ids ?? []));
  const fresh = (await readStandingChunks(api, place)).filter(({ id }) => !known.has(id));
  return fresh.length === rows ? { ids: fresh.map(({ id }) => id) } : undefined;
}
