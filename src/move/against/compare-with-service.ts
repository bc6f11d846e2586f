import { type Dump, openDump } from "../../dump/open-dump.js";
import { StopError } from "../../errors.js";
import type { ReadTally } from "../../read-tally.js";
import type { DumpTally } from "../../restore/target/dump-target.js";
import { refuseLinksBeside, withTemporaryFolder } from "../../restore/target/restore-folder.js";
import type { TargetService } from "../../restore/target-service.js";
import { countOf } from "../../words.js";
import { compareDumps } from "../compare/compare-dumps.js";
import type { ComparedRows, RowCounts } from "../compare/compare-options.js";
import { copiesOfJournal } from "../compare/copies-of.js";
import { readJournalFacts } from "../journal/open-move-journal.js";
import { isSameService, moveFolderOf, plainBaseUrl } from "../move-folder.js";
import type { MoveDifference } from "../moved.js";
import { chooseDocuments } from "./choose-documents.js";
import { readLive } from "./read-live.js";

export interface AgainstOptions extends TargetService {
  /** Folder of the run. */
  readonly folder: string;
  /** Documents to compare; none: all. */
  readonly documents: readonly string[];
  /** Updated while the comparison goes on. */
  readonly tally: AgainstTally;
}

/** How far a comparison with a service is; `done` counts documents. */
export interface AgainstTally extends ReadTally, DumpTally {}

/** The result of a comparison with a service. Texts may hold anything that a service sends. */
export interface Against {
  readonly base_url: string;
  /** True: copies that `restore --to` made. False: the same documents, with the same ids. */
  readonly copies: boolean;
  /** Documents of the run that were compared, and their rows. */
  readonly documents: number;
  readonly chunks: number;
  readonly child_chunks: number;
  readonly differences: readonly MoveDifference[];
  /** Documents and parts that were not compared, and why. */
  readonly notes: readonly string[];
}

/**
 * Compares a run with a service: with the copies that a restore made there, or else with the same documents. Reads only.
 * UsageError where the run or an option does not fit, StopError where a document cannot be read whole or nothing is left to compare.
 */
export async function compareWithService(options: AgainstOptions): Promise<Against> {
  const { tally } = options;
  const old = await openDump(options.folder, "nothing was compared");
  const baseUrl = plainBaseUrl(options.baseUrl);
  await refuseLinksBeside(old.folder);
  const facts = await readJournalFacts(moveFolderOf(old.folder, baseUrl), { runId: old.manifest.run_id, baseUrl });
  const { pairs, notes } = chooseDocuments(old.manifest, facts, options.documents);
  if (pairs.length === 0) throw new StopError(["nothing to compare with the service", ...notes].join("\n  "));
  const isSame = isSameService(old.manifest.service.base_url, baseUrl);
  const copies = facts.from === null ? null : copiesOfJournal(facts, isSame);
  const [compared, refused] = [emptyCounts(), emptyCounts()];
  const differences = await withTemporaryFolder(async (dir) => {
    const service = { ...options, baseUrl };
    Object.assign(tally, { step: "reading the service", expected: pairs.length, done: 0 });
    const live = await readLive({ service, old, pairs, copies, name: "live", dir, tally });
    if (live.dump === undefined) return live.gone;
    Object.assign(tally, { step: "comparing", done: live.gone.length });
    const onDocument = (rows: ComparedRows) => {
      tally.done++;
      addTo(compared, rows.compared);
      addTo(refused, rows.refused);
    };
    const { memory, signal } = options;
    const found = await compareDumps({ old, live: live.dump, pairs: live.pairs, copies, memory, signal, onDocument });
    return [...live.gone, ...found];
  });
  const isOfRows = copies?.from !== "originals";
  return {
    base_url: baseUrl,
    copies: copies !== null,
    documents: pairs.length,
    ...compared,
    differences,
    notes: [...notes, ...partNotes(old, isOfRows), ...refusedNotes(refused)],
  };
}

/** Rows that have no copy, as the service takes none that say nothing. */
function refusedNotes({ chunks, child_chunks }: RowCounts): readonly string[] {
  const rows = [
    ...(chunks > 0 ? [countOf(chunks, "chunk")] : []),
    ...(child_chunks > 0 ? [countOf(child_chunks, "child chunk")] : []),
  ];
  if (rows.length === 0) return [];
  return [`${rows.join(" and ")} of the run: not compared, as the service takes none that say nothing`];
}

function emptyCounts() {
  return { chunks: 0, child_chunks: 0 };
}

function addTo(sum: ReturnType<typeof emptyCounts>, { chunks, child_chunks }: RowCounts): void {
  sum.chunks += chunks;
  sum.child_chunks += child_chunks;
}

/** Parts that are not compared. */
function partNotes(old: Dump, isOfRows: boolean): readonly string[] {
  return [
    ...(old.tablesOf(["datasets", "document_details"])
      ? []
      : ["settings and metadata were not compared: the run does not have them (details: true)"]),
    ...(old.manifest.options.child_chunks === "none" && isOfRows
      ? ["child chunks were not compared: the run did not read them"]
      : []),
    ...(isOfRows ? [] : ["chunks were not compared: the service cut the files anew (--from originals)"]),
  ];
}
