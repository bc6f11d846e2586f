import type { KnowledgeApi } from "../../client/knowledge-api.js";
import type { Dump } from "../../dump/open-dump.js";
import { readLive } from "../against/read-live.js";
import { compareDumps } from "../compare/compare-dumps.js";
import type { DocumentPair } from "../compare/compare-options.js";
import { copiesOfPlan } from "../compare/copies-of.js";
import type { JournalFacts } from "../journal-facts.js";
import type { MoveOptions } from "../move-options.js";
import type { MovePlan } from "../move-plan.js";
import type { MoveResult } from "../move-result.js";
import type { AppliedMove, MovedDocument } from "../moved.js";
import { findStrangers } from "./find-strangers.js";

export interface ProveOptions {
  readonly api: Pick<KnowledgeApi, "documents">;
  readonly old: Dump;
  readonly options: MoveOptions;
  /** The folder of the journal, which takes the dump of the copies. */
  readonly folder: string;
  readonly plan: MovePlan;
  readonly applied: AppliedMove;
  readonly facts: JournalFacts;
}

/**
 * Dumps the copies of a move, and compares them with the run: those of documents that came whole, or but for some rows. The datasets must hold nothing else. `differences` is
 * null where there are none. StopError where a copy cannot be read whole: then nothing is proved.
 */
export async function proveMove({
  api,
  old,
  options,
  folder,
  plan,
  applied,
  facts,
}: ProveOptions): Promise<Pick<MoveResult, "differences" | "proof">> {
  const { tally, memory, signal } = options;
  tally.step = "proving";
  const pairs = applied.moved.documents.flatMap((document) => pairOf(document) ?? []);
  if (pairs.length === 0) return { differences: null, proof: null };
  const copies = copiesOfPlan(plan, facts, applied);
  const live = await readLive({ service: options, old, pairs, copies, name: "after", dir: folder, tally });
  const strangers = await findStrangers(api, facts);
  if (!live.dump) return { differences: [...live.gone, ...strangers], proof: null };
  const found = await compareDumps({ old, live: live.dump, pairs: live.pairs, copies, memory, signal });
  return { differences: [...live.gone, ...found, ...strangers], proof: live.dump.folder };
}

function pairOf(document: MovedDocument): DocumentPair | undefined {
  const { dataset_id, document_id, outcome, target_dataset_id, target_id } = document;
  const isThere = outcome === "restored" || outcome === "partial";
  if (!isThere || target_dataset_id === null || target_id === null) return undefined;
  return { old: { dataset_id, document_id }, live: { dataset_id: target_dataset_id, document_id: target_id } };
}
