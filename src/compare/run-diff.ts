import type { FileFormat } from "../dump/formats/formats.js";
import type { DumpTable, Manifest } from "../dump/manifest.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import { emptyReadTally, type ReadTally } from "../read-tally.js";
import { type DocumentRow, documentKey } from "../rows/row.js";
import { countOf } from "../words.js";

/** The differences between two dumps. Texts may hold anything that a service sends: not safe for a terminal. */
export interface RunDiff {
  readonly status: "same" | "different";
  readonly old: DiffedRun;
  readonly new: DiffedRun;
  readonly counts: {
    readonly documents: DocumentCounts;
    readonly chunks: ChangeCounts;
    readonly child_chunks: ChangeCounts;
  };
  /** Every document of either run: those of the old one in its order, then those that only the new one has. */
  readonly documents: readonly DocumentDiff[];
  /** Reasons why the comparison may be less complete than it seems. */
  readonly warnings: readonly string[];
}

/** One of the two runs. */
export interface DiffedRun {
  readonly folder: string;
  readonly job: string;
  readonly run_id: string;
  /** The format that was read. */
  readonly format: string;
  readonly chunks: number;
  readonly child_chunks: number;
}

/**
 * The status of a document. `removed`: only the old run has it; `added`: only the new one. `not_compared`: one of the runs
 * failed to read it, or it moved while it was read, so that its rows prove nothing.
 */
export type DocumentState = "same" | "different" | "removed" | "added" | "not_compared";

export type DocumentCounts = Readonly<Record<DocumentState, number>> & {
  /** Documents of whose chunks every one has a new id. */
  readonly reindexed: number;
};

/** Chunks, or child chunks: `added`, `removed`, `changed`, `moved` and `unchanged` are all there are, each counted once. */
export interface ChangeCounts {
  readonly added: number;
  readonly removed: number;
  /** Rows with another content or answer. */
  readonly changed: number;
  /** Rows with the same content and answer at another position. */
  readonly moved: number;
  readonly unchanged: number;
  /** Rows of both runs with other keywords, enabled, status, error, summary, attachments, type or extra. */
  readonly fields: number;
  /** Removed, or edits undone, in documents that were indexed anew. */
  readonly lost: number;
  /** Lost rows that had been made or edited by hand. */
  readonly lost_by_hand: number;
}

export interface DocumentDiff {
  readonly dataset_id: string;
  /** Null where neither run listed the documents. */
  readonly dataset_name: string | null;
  readonly document_id: string;
  readonly document_name: string | null;
  readonly state: DocumentState;
  /** Whether every chunk has a new id. */
  readonly reindexed: boolean;
  /** Whether chunks of the same content stand in another order; else those that moved did so because others came or went. */
  readonly reordered: boolean;
  /** Why it is not compared, or what else is to be known; null when there is nothing. */
  readonly reason: string | null;
  readonly chunks: ChangeCounts;
  readonly child_chunks: ChangeCounts;
}

/** How a row differs; `fields`: in nothing but the fields that are named. */
export type ChangeKind = "added" | "removed" | "changed" | "moved" | "fields";

/** How a row of the old run was made by hand: edited, added after the indexing, a child that is customized or has one. */
export type HandMade = "edited" | "added" | "customized";

/** One chunk or child chunk that differs. `old_…` is null for what was added, `new_…` for what was removed. */
export interface ChunkChange {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly level: "chunk" | "child_chunk";
  readonly kind: ChangeKind;
  /** A re-index lost it: the row is gone, or the edit undone. */
  readonly lost: boolean;
  /** The sign that the old row was made by hand; null without one, and for added rows. */
  readonly hand_made: HandMade | null;
  readonly old_id: string | null;
  readonly new_id: string | null;
  /** The old parent of a child chunk. */
  readonly old_segment_id: string | null;
  readonly new_segment_id: string | null;
  readonly old_position: number | null;
  readonly new_position: number | null;
  /** Names of the columns that differ beside content and answer. */
  readonly fields: readonly string[];
  /** The first 160 characters of the content. */
  readonly old_beginning: string | null;
  readonly new_beginning: string | null;
  /** With `text`, for what changed: what became of the words. */
  readonly text?: TextDiff;
}

/** Undefined: that column is the same. */
export interface TextDiff {
  readonly content?: readonly TextPart[];
  readonly answer?: readonly TextPart[];
}

/** A piece of a text. What is long is cut: `cut` is the number of characters that are left out where `…` stands. */
export interface TextPart {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
  readonly cut: number;
}

export interface DiffOptions {
  /** Told of every chunk and child chunk that differs: what a re-index lost first, what was made by hand before the rest. */
  readonly onChange?: (change: ChunkChange) => void | Promise<void>;
  /** Compare the words of what changed, too; `lost`: only of edits that a re-index undid. */
  readonly text?: boolean | "lost";
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory?: string;
  /** Ends the comparison; its reason is what it rejects with. */
  readonly signal?: AbortSignal;
  /** Filled while it goes on. */
  readonly tally?: ReadTally;
}

export type DiffSetting = Required<Omit<DiffOptions, "onChange">>;

/** The options with their defaults. */
export function withDiffDefaults(options: DiffOptions): DiffSetting {
  return {
    text: options.text ?? false,
    memory: options.memory ?? "800MB",
    signal: options.signal ?? new AbortController().signal,
    tally: options.tally ?? emptyReadTally(),
  };
}

/** A document of either run, and whether its rows can be compared. */
export interface DocumentPair {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly old: DocumentRow | undefined;
  readonly new: DocumentRow | undefined;
  /** Why its rows prove nothing; null when they can be compared. */
  readonly reason: string | null;
}

/** The documents of both runs: those of the old one in its order, then those that only the new one has. */
export function compareDocuments(
  before: readonly DocumentRow[],
  after: readonly DocumentRow[],
): readonly DocumentPair[] {
  const [olds, news] = [before, after].map((rows) => new Map(rows.map((row) => [documentKey(row), row])));
  const keys = new Set([...(olds?.keys() ?? []), ...(news?.keys() ?? [])]);
  return [...keys].flatMap((key) => {
    const [old, fresh] = [olds?.get(key), news?.get(key)];
    const row = old ?? fresh;
    if (!row) return [];
    const reasons = [reasonOf("old", old), reasonOf("new", fresh)].filter((reason) => reason !== undefined);
    const reason = reasons.length > 0 ? reasons.join("; ") : null;
    return [{ dataset_id: row.dataset_id, document_id: row.document_id, old, new: fresh, reason }];
  });
}

function reasonOf(run: "old" | "new", row: DocumentRow | undefined): string | undefined {
  if (row?.status === "failed") return `it could not be read in the ${run} run${row.error ? ` (${row.error})` : ""}`;
  if (row?.status === "unstable") return `it changed while it was read in the ${run} run`;
  return undefined;
}

/** Whether the document itself differs, whatever its rows do: only one run has it, or only one could read it. */
export function isOtherDocument(pair: DocumentPair): boolean {
  return pair.old?.status !== pair.new?.status;
}

/** A dump to compare, and the two tables of it that are read. */
export interface ReadRun {
  readonly dump: Dump;
  readonly format: FileFormat;
  readonly chunks: DumpTable;
  readonly childChunks: DumpTable;
}

/** Opens a run folder. UsageError when the path is none; StopError when its manifest is not sound or names no rows. */
export async function readRun(path: string): Promise<ReadRun> {
  const dump = await openDump(path, "nothing was compared");
  const [chunks, childChunks] = dump.tablesOf(["chunks", "child_chunks"], { guarded: true }) ?? [];
  if (chunks && childChunks) return { dump, format: chunks.format, chunks, childChunks };
  throw new StopError(
    `${dump.folder} has no data files to compare: its run wrote ${dump.manifest.options.output.formats.join(", ") || "none"}; diff needs jsonl, parquet or csv`,
  );
}

/** Sentences on what may make a comparison say less than it seems to. */
export function warningsOf(old: ReadRun, fresh: ReadRun): readonly string[] {
  const [before, after] = [old.dump.manifest, fresh.dump.manifest];
  return [
    old.dump.folder === fresh.dump.folder && "OLD and NEW are the same run folder",
    before.run_id > after.run_id && `OLD is the newer run: ${before.run_id} comes after ${after.run_id}`,
    before.job !== after.job && `these are runs of different jobs: ${before.job} and ${after.job}`,
    before.service.base_url !== after.service.base_url &&
      `these are dumps of different services: ${before.service.base_url} and ${after.service.base_url}`,
    readsChildren(before) !== readsChildren(after) &&
      `only the ${readsChildren(before) ? "old" : "new"} run read child chunks: they were not compared`,
    skippedText("old", before, after, "added"),
    skippedText("new", after, before, "removed"),
    filtersOf(before) !== filtersOf(after) &&
      "the runs used different filters (status, keyword): chunks that only one of them matched appear as added or removed",
    isGuarded(old) !== isGuarded(fresh) &&
      "one of the runs was read from a CSV with csv_safe: apostrophes before formulas were ignored",
  ].filter((warning) => typeof warning === "string");
}

/** Documents whose child lists `auto` took to be empty in one run, although lists held child chunks in the other. */
function skippedText(
  run: "old" | "new",
  { child_lists: here }: Manifest,
  { child_lists: there }: Manifest,
  looks: string,
): string | undefined {
  const skipped = new Set(here.filter((lists) => lists.skipped > 0).map(documentKey));
  const count = there.filter((lists) => lists.asked > lists.empty && skipped.has(documentKey(lists))).length;
  if (count === 0) return undefined;
  const other = run === "old" ? "new" : "old";
  return `the ${run} run skipped child lists (child_chunks: auto) of ${countOf(count, "document")} in which the ${other} run found child chunks: these appear as ${looks}`;
}

/** Whether a run read child chunks at all; what its manifest does not say, it did. */
export function readsChildren({ options }: Manifest): boolean {
  return options.child_chunks !== "none";
}

/** Whether apostrophes may stand before texts in what is read of a run. */
export function isGuarded({ format, dump }: ReadRun): boolean {
  return format === "csv" && dump.manifest.options.output.csv_safe;
}

/** The filters of every dataset that has some, as far as the manifest says. */
function filtersOf({ options }: Manifest): string {
  const datasets: readonly unknown[] = Array.isArray(options.datasets) ? options.datasets : [options.datasets];
  const filters = datasets.map((dataset) => {
    if (typeof dataset !== "object" || dataset === null) return "";
    const { id, status, keyword }: { id?: unknown; status?: unknown; keyword?: unknown } = dataset;
    const isFiltered = keyword != null || (Array.isArray(status) && status.length > 0);
    return isFiltered ? JSON.stringify([id, status, keyword]) : "";
  });
  return filters.sort().join("");
}
