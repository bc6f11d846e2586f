import { countsOf, type DumpComparison } from "../compare/proof/compare-dumps.js";
import type { LivePair } from "../compare/proof/proof-pairs.js";
import { detailsIn } from "../compare/proof/settings.js";
import { filteredDatasets, type Manifest } from "../dump/manifest.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";
import { readJournalState } from "../journal/journal.js";
import type { JournalFacts } from "../journal/journal-state.js";
import type { ReadProgress } from "../read-progress.js";
import { compareLive, copiesOf, copyPair } from "../restore/copy/compare-live.js";
import { copyFolderOf, plainBaseUrl } from "../restore/copy/copy-result.js";
import { refuseLinksBeside, type SessionOptions } from "../restore/session.js";
import {
  type DumpProgress,
  isSameService,
  openTarget,
  type TargetService,
  unknownDocuments,
} from "../restore/target.js";
import { makeTemporaryFolder } from "../temporary-folder.js";
import { countOf } from "../words.js";
import type { Against } from "./against-result.js";

export interface AgainstOptions extends TargetService, Pick<SessionOptions, "folder" | "documents"> {
  /** The share of the documents to compare, from 0 to 1; undefined: all. */
  readonly sample?: number | undefined;
  /** Updated during the comparison. */
  readonly progress: AgainstProgress;
}

/** Progress of a comparison with a service; `done` counts documents. */
export interface AgainstProgress extends ReadProgress, DumpProgress {}

/**
 * Compares a run with a service: with the copies that a restore made there, otherwise with the same documents. Reads only. Throws
 * UsageError if the run or an option does not fit; StopError if a document cannot be read completely or nothing is left to compare.
 */
export async function compareWithService(options: AgainstOptions): Promise<Against> {
  const { progress } = options;
  const old = await openDump(options.folder, "nothing was compared");
  const baseUrl = plainBaseUrl(options.baseUrl);
  await refuseLinksBeside(old.folder);
  const id = { runId: old.manifest.run_id, baseUrl };
  const { facts } = await readJournalState(copyFolderOf(old.folder, baseUrl), id);
  const chosen = chooseDocuments(old.manifest, facts, options.documents);
  const { pairs, notes } = options.sample === undefined ? chosen : drawDocuments(chosen, options.sample);
  if (pairs.length === 0) throw new StopError(["nothing to compare with the service", ...notes].join("\n  "));
  const isSame = isSameService(old.manifest.service.base_url, baseUrl);
  const copies = facts.isBegun ? copiesOf(facts, isSame) : null;
  const onDocument = () => {
    progress.step = "comparing";
    progress.done++;
  };
  await using folder = await makeTemporaryFolder("restore");
  const service = { ...options, baseUrl };
  await using target = await openTarget(service, old.manifest.documents);
  Object.assign(progress, { step: "reading the service", expected: pairs.length, done: 0 });
  const found = await compareLive({
    ...{ api: target.client, service, name: "live", dir: folder.path, progress },
    ...{ old, pairs, copies, onDocument },
  });
  return {
    ...{ base_url: baseUrl, copies: copies !== null, documents: pairs.length, ...found.rows },
    differences: found.differences,
    notes: [...notes, ...partNotes(old, found)],
  };
}

/** Notes on parts that were not compared: the run or the service does not have them, or the service accepts no such rows. */
function partNotes(old: Dump, { unread, refused }: Pick<DumpComparison, "unread" | "refused">): readonly string[] {
  const details = detailsIn(old);
  const which = details === "auto" ? " of documents that do not look edited" : "";
  const noDetails = `settings and metadata${which} were not compared: the run does not have them (details: true)`;
  const noChildren = "child chunks were not compared: the run did not read them";
  return [
    ...(details === true ? [] : [noDetails]),
    ...(old.manifest.options.child_chunks === "none" ? [noChildren] : []),
    ...countsOf([unread.document, "document"], [unread.dataset, "dataset"]).map(
      (text) => `settings and metadata of ${text} were not compared: the service did not return them`,
    ),
    ...countsOf([refused.chunks, "chunk"], [refused.child_chunks, "child chunk"]).map(
      (text) => `${text} of the run: not compared, because the service accepts no blank ones`,
    ),
  ];
}

/** The documents to compare, and sentences about the others. */
interface Chosen {
  readonly pairs: readonly LivePair[];
  readonly notes: readonly string[];
}

/**
 * Chooses the documents of a run that can be compared with a service: those restored there, according to the journal, or without a
 * journal the same documents. `ids`: the documents that the owner named; empty: all. Throws UsageError if the run lacks one.
 */
export function chooseDocuments(manifest: Manifest, facts: JournalFacts, ids: readonly string[]): Chosen {
  const problems = unknownDocuments(manifest, ids);
  if (problems.length > 0) throw new UsageError("The documents cannot be compared:", problems);
  const named = new Set(ids);
  const all = manifest.documents.filter(({ document_id }) => named.size === 0 || named.has(document_id));
  const complete = all.filter(({ status }) => status === "complete");
  const filtered = new Set(filteredDatasets(manifest.options));
  const pairs = complete.flatMap(({ dataset_id, document_id }) => {
    const old = { dataset_id, document_id };
    if (!facts.isBegun) return filtered.has(dataset_id) ? [] : [{ old, live: old }];
    return facts.documents.get(document_id)?.state === "restored" ? (copyPair(old, facts) ?? []) : [];
  });
  const left = (count: number, why: string) =>
    count > 0 ? [`${countOf(count, "document")} of the run: not compared, ${why}`] : [];
  const why = facts.isBegun ? "because the journal has no finished copy" : "as the job has a filter (status, keyword)";
  const partial = left(all.length - complete.length, "as the run could not read all of it");
  return { pairs, notes: [...partial, ...left(complete.length - pairs.length, why)] };
}

/** Draws this share of the documents at random, at least one, and keeps their order. Each call draws again. */
export function drawDocuments({ pairs, notes }: Chosen, share: number, random: () => number = Math.random): Chosen {
  const count = Math.min(pairs.length, Math.max(1, Math.ceil(share * pairs.length)));
  const shuffled = pairs.map((pair) => ({ pair, place: random() })).sort((a, b) => a.place - b.place);
  const drawn = new Set(shuffled.slice(0, count).map(({ pair }) => pair));
  const note = `${countOf(count, "document")} of ${pairs.length}, drawn at random, ${count === 1 ? "was" : "were"} compared`;
  return { pairs: pairs.filter((pair) => drawn.has(pair)), notes: [note, ...notes] };
}
