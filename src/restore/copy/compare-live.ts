import type { KnowledgeApi } from "../../client/knowledge-api.js";
import {
  type CompareOptions,
  type Copies,
  compareDumps,
  datasetPairKey,
  nothingCompared,
} from "../../compare/proof/compare-dumps.js";
import type { LivePair } from "../../compare/proof/proof-pairs.js";
import { differenceOf } from "../../compare/proof/prove.js";
import { type CopiedDataset, type DumpDetails, detailsIn } from "../../compare/proof/settings.js";
import type { Connection } from "../../duckdb/open-duckdb.js";
import type { JournalFacts } from "../../journal/journal-state.js";
import { type DumpProgress, haveChildren, readLive, type TargetReading, type TargetService } from "../target.js";
import { datasetIdOf } from "./copy-plan.js";
import type { AppliedCopy } from "./copy-result.js";
import { formedDocuments, keepComing } from "./read-dump.js";

/** Dumps documents of a service and compares them with a dump. Rejects like a run and like `compareDumps`. */
export async function compareLive({ api, service, name, dir, progress, ...compared }: LiveOptions) {
  const { old, pairs, copies } = compared;
  const { memory, signal } = service;
  // A copy has child chunks only if the run has some. The same document may have new ones anywhere.
  const mayHaveNew = copies === null && old.manifest.options.child_chunks === "all";
  const documents = pairs.map((pair) => pair.old);
  const hasChildren = mayHaveNew || haveChildren(old, documents);
  const reading = { name, dir, pairs, hasChildren, details: detailsIn(old) };
  const { dump, ...live } = await readLive(api, service, reading, progress);
  const leaveOut = (connection: Connection, details: DumpDetails) =>
    keepComing(connection, formedDocuments(old.manifest, details));
  const found = dump
    ? await compareDumps({ ...compared, live: dump, pairs: live.pairs, leaveOut, memory, signal })
    : nothingCompared;
  const gone = live.gone.map((pair) => differenceOf("document", pair.old.document_id, "the service does not have it"));
  return { ...found, dump, differences: [...gone, ...found.differences] };
}

type Compared = Omit<CompareOptions, "live" | "leaveOut" | keyof TargetService>;

interface LiveOptions extends Compared, Pick<TargetReading, "name" | "dir"> {
  readonly api: KnowledgeApi;
  readonly service: TargetService;
  readonly progress: DumpProgress;
}

/**
 * Collects the facts about copies from their journal. `isSameService`: the copies are at the service of the run, so attachments have
 * the same ids. `applied`: the results of this command. Their problems and failed rows are already reported, and their plan has the
 * current names of datasets.
 */
export function copiesOf(
  facts: JournalFacts,
  isSameService: boolean,
  { plan, copied, missingTags }: Partial<AppliedCopy> = {},
): Copies {
  const names = new Map(plan?.datasets.map(({ key, target }) => [key, target.name]));
  const datasets = [...facts.datasets].map(([key, { id, name, existed = false }]): [string, CopiedDataset] => [
    datasetPairKey(datasetIdOf(key), id),
    { name: names.get(key) ?? name, existed, missingTags: missingTags?.get(key) ?? [] },
  ]);
  return {
    datasets: new Map(datasets),
    attachmentOf: (id) => facts.attachments.get(id) ?? (isSameService ? id : undefined),
    failed: new Set(copied?.documents.flatMap(({ failed }) => failed.map(({ id }) => id))),
  };
}

/** A document of the dump, and its copy according to the journal; undefined if it has none. */
export function copyPair(old: LivePair["old"], { documents }: JournalFacts): LivePair | undefined {
  const copy = documents.get(old.document_id);
  return copy && { old, live: { dataset_id: copy.target_dataset_id, document_id: copy.target_id } };
}
