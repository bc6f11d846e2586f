import { type Connection, comparisonMemory } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/read-rows.js";
import type { FileFormat } from "../dump/formats/formats.js";
import { checkRows } from "../dump/load.js";
import type { DumpTable, Manifest } from "../dump/manifest.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import { type DocumentRow, documentKey } from "../rows/row.js";
import { causeFirst, countOf } from "../words.js";
import type { ChunkChange } from "./diff-result.js";

export interface DiffOptions {
  /** Called with every chunk and child chunk that differs: losses first, those with manual edits before the rest. */
  readonly onChange?: (change: ChunkChange) => void | Promise<void>;
  /** Also compare the changed texts word by word; `lost`: only edits that a re-index undid. */
  readonly text?: boolean | "lost";
  /** The database of the older run's job, whose history has the text before an edit. Default: the one next to the run; null: none. */
  readonly database?: string | null;
  /** Maximum memory of DuckDB, such as `800MB`. */
  readonly memory?: string;
  /** Aborting it ends the comparison, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Updated during the comparison. */
  readonly progress?: ReadProgress;
}

export type DiffContext = Required<Omit<DiffOptions, "onChange" | "database">> & {
  readonly database: string | undefined;
};

/** Fills in the default options. */
export function withDiffDefaults(options: DiffOptions): DiffContext {
  return {
    database: options.database ?? undefined,
    text: options.text ?? false,
    memory: options.memory ?? comparisonMemory,
    signal: options.signal ?? new AbortController().signal,
    progress: options.progress ?? emptyReadProgress(),
  };
}

/** A document in one or both runs, and whether its rows can be compared. */
export interface DocumentPair {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly old: DocumentRow | undefined;
  readonly new: DocumentRow | undefined;
  /** Why the rows of the document prove nothing; null if they can be compared. */
  readonly reason: string | null;
}

/** The documents of both runs: the old run's documents in order, then documents only in the new run. */
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
  if (row?.status === "failed")
    return `it could not be read in the ${run} run${row.error ? ` (${causeFirst(row.error)})` : ""}`;
  if (row?.status === "unstable") return `it changed while it was read in the ${run} run`;
  return undefined;
}

/** Whether the document itself differs, apart from its rows: only one run has it, or only one could read it. */
export function isOtherDocument(pair: DocumentPair): boolean {
  return pair.old?.status !== pair.new?.status;
}

/** A dump to compare, and its two tables to read. */
export interface ReadRun {
  readonly dump: Dump;
  readonly format: FileFormat;
  readonly chunks: DumpTable;
  readonly childChunks: DumpTable;
}

/** Opens a run folder. Throws UsageError if the path is not a run folder; StopError if its manifest is damaged or names no rows. */
export async function readRun(path: string): Promise<ReadRun> {
  return readRunOf(await openDump(path, "nothing was compared"));
}

/** The tables of a dump to compare. Throws StopError if it has none. */
export function readRunOf(dump: Dump): ReadRun {
  const [chunks, childChunks] = dump.tablesOf(["chunks", "child_chunks"], { guarded: true }) ?? [];
  if (chunks && childChunks) return { dump, format: chunks.format, chunks, childChunks };
  throw new StopError(
    `${dump.folder} has no data files to compare: its run wrote ${dump.manifest.options.output.formats.join(", ") || "none"}; diff needs jsonl, parquet or csv`,
  );
}

/** Sentences on why a comparison may be less complete than it seems. */
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

/** A warning about documents whose child lists `auto` skipped as empty in one run, although the other run found child chunks in them. */
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

/** Whether a run read child chunks at all; true if its manifest does not say. */
export function readsChildren({ options }: Manifest): boolean {
  return options.child_chunks !== "none";
}

/** Whether texts read from this run may begin with apostrophes that `csv_safe` added. */
export function isGuarded({ format, dump }: ReadRun): boolean {
  return format === "csv" && dump.manifest.options.output.csv_safe;
}

/** The filters of all datasets, as far as the manifest has them. */
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

/** The names of a document and its dataset; null if neither run listed the documents. */
export interface Names {
  readonly dataset_name: string | null;
  readonly document_name: string | null;
}

const unknown: Names = { dataset_name: null, document_name: null };

/**
 * Reads the names of all documents, as listed or in their details; a later run overrides an earlier one. Throws StopError if a file
 * of names differs from its manifest.
 */
export async function namesReader(
  connection: Connection,
  runs: readonly ReadRun[],
): Promise<(document: { readonly dataset_id: string; readonly document_id: string }) => Names> {
  const names = new Map<string, Names>();
  for (const [{ dump }, kind] of runs.flatMap((run) => namingKinds.map((each) => [run, each] as const))) {
    const [file] = dump.tablesOf([kind], { guarded: true }) ?? [];
    if (!file) continue;
    const rows = await checkRows(dump, file);
    const datasetName = kind === "document_info" ? "dataset_name" : "NULL AS dataset_name";
    const sql = `SELECT dataset_id, document_id, ${datasetName}, name FROM ${rows.sql}`;
    for (const { dataset_id, document_id, dataset_name, name } of await rowsOf(connection, sql)) {
      const key = documentKey({ dataset_id: String(dataset_id), document_id: String(document_id) });
      const { dataset_name: listedIn, document_name } = names.get(key) ?? unknown;
      names.set(key, { dataset_name: textOf(dataset_name) ?? listedIn, document_name: textOf(name) ?? document_name });
    }
  }
  return (document) => names.get(documentKey(document)) ?? unknown;
}

/** The tables with names. A run whose job names its documents has no list (`document_info`), but may have their details. */
const namingKinds = ["document_details", "document_info"] as const;

const textOf = (value: unknown) => (typeof value === "string" ? value : null);
