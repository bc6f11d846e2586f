import { filteredDatasets, type Manifest } from "../../dump/manifest.js";
import { type Dump, openDump } from "../../dump/open-dump.js";
import { StopError, UsageError } from "../../errors.js";
import type { ReadProgress } from "../../read-progress.js";
import { makeTemporaryFolder } from "../../temporary-folder.js";
import { countOf } from "../../words.js";
import { readJournalFacts } from "../journal.js";
import type { JournalFacts } from "../journal-facts.js";
import { refuseLinksBeside } from "../session.js";
import {
  type DocumentPair,
  type DumpProgress,
  isSameService,
  openTarget,
  type TargetService,
  unknownDocuments,
} from "../target.js";
import { compareLive, copiesOf, countsOf } from "./compare-with-target.js";
import { type Against, copyFolderOf, plainBaseUrl } from "./copy-result.js";
import { detailsIn } from "./details.js";

export interface AgainstOptions extends TargetService {
  /** Folder of the run. */
  readonly folder: string;
  /** Documents to compare; empty: all. */
  readonly documents: readonly string[];
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
  const facts = await readJournalFacts(copyFolderOf(old.folder, baseUrl), { runId: old.manifest.run_id, baseUrl });
  const chosen = chooseDocuments(old.manifest, facts, options.documents);
  const { pairs, notes } = options.sample === undefined ? chosen : drawDocuments(chosen, options.sample);
  if (pairs.length === 0) throw new StopError(["nothing to compare with the service", ...notes].join("\n  "));
  const isSame = isSameService(old.manifest.service.base_url, baseUrl);
  const copies = !facts.isBegun ? null : copiesOf(facts, isSame);
  const onDocument = () => {
    progress.step = "comparing";
    progress.done++;
  };
  await using folder = await makeTemporaryFolder("restore");
  const service = { ...options, baseUrl };
  await using target = await openTarget(service, old.manifest.documents);
  Object.assign(progress, { step: "reading the service", expected: pairs.length, done: 0 });
  const live = { api: target.client, old, pairs, copies, service, name: "live", dir: folder.path, progress } as const;
  const { memory, signal } = options;
  const { differences, rows, ...rest } = await compareLive({ ...live, memory, signal, onDocument });
  return {
    base_url: baseUrl,
    copies: copies !== null,
    documents: pairs.length,
    ...rows,
    differences,
    notes: [...notes, ...partNotes(old), ...unreadNotes(rest.unread), ...refusedNotes(rest.refused)],
  };
}

/** Notes on settings that the service did not show. */
function unreadNotes({ document, dataset }: Readonly<Record<"document" | "dataset", number>>): readonly string[] {
  const counts = countsOf([document, "document"], [dataset, "dataset"]);
  return counts.map((text) => `settings and metadata of ${text} were not compared: the service did not return them`);
}

/** Notes on rows without a copy, because the service accepts no blank rows. */
function refusedNotes({ chunks, child_chunks }: Pick<Against, "chunks" | "child_chunks">): readonly string[] {
  const counts = countsOf([chunks, "chunk"], [child_chunks, "child chunk"]);
  return counts.map((text) => `${text} of the run: not compared, because the service accepts no blank ones`);
}

/** Notes on parts that are not compared. */
function partNotes(old: Dump): readonly string[] {
  const details = detailsIn(old);
  const which = details === "auto" ? " of documents that do not look edited" : "";
  return [
    ...(details === true
      ? []
      : [`settings and metadata${which} were not compared: the run does not have them (details: true)`]),
    ...(old.manifest.options.child_chunks === "none"
      ? ["child chunks were not compared: the run did not read them"]
      : []),
  ];
}

/** The documents to compare, and sentences about the others. */
interface Chosen {
  readonly pairs: readonly DocumentPair[];
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
  const pairs = complete.flatMap((document) => {
    const { dataset_id, document_id } = document;
    const old = { dataset_id, document_id };
    if (!facts.isBegun) return filtered.has(dataset_id) ? [] : [{ old, live: old }];
    const copy = facts.documents.get(document_id);
    if (copy?.state !== "restored") return [];
    return [{ old, live: { dataset_id: copy.target_dataset_id, document_id: copy.target_id } }];
  });
  const left = (count: number, why: string) =>
    count > 0 ? [`${countOf(count, "document")} of the run: not compared, ${why}`] : [];
  const why = facts.isBegun ? "because the journal has no finished copy" : "as the job has a filter (status, keyword)";
  const partial = left(all.length - complete.length, "as the run could not read all of it");
  return { pairs, notes: [...partial, ...left(complete.length - pairs.length, why)] };
}

/** Draws this share of the documents at random, at least one, and keeps their order. Each draw is different: repeated draws cover all. */
export function drawDocuments({ pairs, notes }: Chosen, share: number, random: () => number = Math.random): Chosen {
  const count = Math.min(pairs.length, Math.max(1, Math.ceil(share * pairs.length)));
  const drawn = new Set(
    pairs
      .map((pair) => ({ pair, place: random() }))
      .sort((a, b) => a.place - b.place)
      .slice(0, count)
      .map(({ pair }) => pair),
  );
  const note = `${countOf(count, "document")} of ${pairs.length}, drawn at random, ${count === 1 ? "was" : "were"} compared`;
  return { pairs: pairs.filter((pair) => drawn.has(pair)), notes: [note, ...notes] };
}
