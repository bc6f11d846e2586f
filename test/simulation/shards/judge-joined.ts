import { shardOf } from "../../../src/crawl/shards.js";
import type { JoinResult } from "../../../src/join/join-shards.js";
import type { Coverage } from "../judge/coverage.js";
import { type Complain, judgeDocument } from "../judge/judge.js";
import type { Outcome } from "../outcome.js";
import type { ReadShard } from "./read-shards.js";

/** A joined dump and its shards. */
export interface Joined {
  readonly result: JoinResult;
  readonly shards: readonly ReadShard[];
  readonly outcome: Outcome;
}

/** Returns the broken promises of a joined dump. Judges each document like one of a single run. */
export function judgeJoined(joined: Joined, coverage: Coverage): readonly string[] {
  const { outcome, result } = joined;
  const wrong = [...outcome.violations];
  const complain: Complain = (text) => wrong.push(text);
  checkDocuments(joined, complain, coverage);
  checkStatus(joined, complain, coverage);
  for (const [index, { document_id }] of result.manifest.documents.entries())
    if (outcome.calls.ofDocument(document_id).length > 0) wrong.push(...judgeDocument(outcome, index, coverage));
    else checkUnasked(joined, index, complain, coverage);
  return wrong;
}

/** Checks that the dump has every document once: those that the job names, or those that existed all the time. */
function checkDocuments({ outcome, result, shards }: Joined, wrong: Complain, coverage: Coverage): void {
  const { service, scenario } = outcome;
  const ids = result.manifest.documents.map(({ document_id }) => document_id);
  if (new Set(ids).size < ids.length) wrong("a document is there twice");
  const states = service.history.documentsBetween(0, service.moment);
  const [first = new Set<string>()] = states;
  if (scenario.job.documents === "named") {
    if (ids.join() !== [...first].sort().join()) wrong("the documents are not those of the job, in its order");
    return;
  }
  if (states.length > 1) coverage.met("documents came and went");
  if (ids.some((id) => !states.some((state) => state.has(id)))) wrong("a document was never there");
  const isListed = shards.every(({ through }) =>
    through?.reading.discovery.found?.listings.every(({ state }) => state === "listed"),
  );
  const lost = [...first].filter((id) => states.every((state) => state.has(id)) && !ids.includes(id));
  if (lost.length > 0 && isListed) wrong(`${lost.length} documents were there all the time, and are not in the dump`);
}

/** Checks the status: complete only if every document is complete and all shards used one list; otherwise partial, with reasons. */
function checkStatus({ result, shards }: Joined, wrong: Complain, coverage: Coverage): void {
  const { manifest, status, problems } = result;
  coverage.met(`joined: ${status}`);
  for (const problem of problems) wrong(`it says: ${problem}`);
  if (status !== manifest.status) wrong(`it is ${status}, its manifest says ${manifest.status}`);
  const incomplete = manifest.documents.filter((row) => row.status !== "complete");
  const lists = new Set(shards.map(({ through }) => JSON.stringify(through?.reading.list)));
  const isWhole = shards.every(({ through }) => through?.reading.isWhole);
  if (lists.size > 1) coverage.met("joined from lists that differ");
  const isComplete = incomplete.length === 0 && isWhole;
  if (status === "complete" && !isComplete) wrong("it is complete, and not every document is");
  if (status === "partial" && isComplete && lists.size === 1) wrong("it is partial for no reason");
  for (const { document_id, status: is } of incomplete)
    if (!manifest.warnings.some((text) => text.includes(document_id)))
      wrong(`no warning says of ${document_id}: ${is}`);
  const counted = manifest.documents.reduce((sum, { chunk_count }) => sum + chunk_count, 0);
  if (manifest.counts.chunks !== counted)
    wrong(`${manifest.counts.chunks} chunks are counted, its documents have ${counted}`);
}

/** Checks a document that was never requested: its shard did not list it, and its error says so. */
function checkUnasked({ result, shards, outcome }: Joined, index: number, wrong: Complain, coverage: Coverage): void {
  const row = result.manifest.documents[index];
  if (!row) return;
  coverage.met("not listed by its own shard");
  const { dataset_id, document_id, status, error, chunk_count } = row;
  const own = shards[shardOf(dataset_id, document_id, shards.length) - 1]?.through?.reading.list;
  const isListed = own?.datasets.some(({ documents }) => documents.includes(document_id));
  if (isListed) wrong(`document ${index + 1}, ${status}: its shard listed it, and it was never requested`);
  if (status !== "failed" || chunk_count > 0 || !error?.includes("did not list it"))
    wrong(`document ${index + 1}, ${status}: it was never requested, and it says ${error}`);
  if (outcome.scenario.job.documents === "named") wrong(`document ${index + 1} is named, and it was never requested`);
}
