import { countOf } from "../../words.js";
import type { Intent } from "../journal/journal-lines.js";
import type { ApplyOptions } from "./apply-options.js";
import { findDataset, findDocument, findField, findTag } from "./find-made.js";
import { type Find, lookForWrite } from "./look-for-write.js";

/** The writer is not needed: only reading tells what was done. */
export type SettleOptions = Pick<ApplyOptions, "api" | "journal" | "log" | "now" | "settle" | "signal" | "sleep">;

/**
 * Learns what became of the writes of an earlier process whose answers were lost. Those of rows and of states count as not done once their
 * time is over: whoever goes on with a document reads it. A write stays open where the service cannot be read. A plan must come later: it goes by what was made.
 */
export async function settleWrites(options: SettleOptions): Promise<void> {
  const { journal, log, now, settle } = options;
  const { open } = journal;
  if (open.length > 0) log("info", `an earlier restore did not end: looking for ${countOf(open.length, "write")}`);
  for (const intent of open) {
    const until = Math.min(Date.parse(intent.time), now()) + settle;
    const looked = await lookForWrite(finderOf(intent, options), until, options);
    if (looked === "unknown") log("warn", `cannot learn what became of a write: ${intent.method} ${intent.path}`);
    else if (looked === "not done") await journal.conclude(intent, "not done");
    else await journal.conclude(intent, "done", looked);
  }
}

function finderOf({ write, dataset_id, name }: Intent, options: SettleOptions): Find {
  const datasetId = options.journal.facts.datasets.get(dataset_id)?.id;
  if (write === "create dataset") return () => findDataset(options, name ?? "");
  if (write === "create tag") return () => findTag(options, name ?? "");
  if (datasetId !== undefined && write === "create document") return () => findDocument(options, datasetId, name ?? "");
  if (datasetId !== undefined && write === "create field") return () => findField(options, datasetId, name ?? "");
  return async () => undefined;
}
