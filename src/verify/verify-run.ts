import { type DumpTable, type Manifest, type ManifestFile, manifestName, partsOf, tablesOf } from "../dump/manifest.js";
import { contradictionsIn, readDumpFolder } from "../dump/read-manifest.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import type { Kind } from "../rows/columns.js";
import { countOf } from "../words.js";
import { type DatabaseShare, databasePath, verifyDatabase } from "./check-database.js";
import { checkFile, checkFolder, checkList, checkOriginals } from "./check-files.js";
import { checkCounts, checkDetails, checkIds, checkListed, checkUnique } from "./check-ids.js";
import { compareRows } from "./compare-rows.js";
import { type Checked, Findings, type Verification } from "./findings.js";
import { hasReader, manifestRows } from "./readers/table-rows.js";
import {
  firstOfKinds,
  isGuarded,
  type LoadedFile,
  loadFiles,
  type RowStore,
  type RowStoreOptions,
  withRowStore,
} from "./row-store.js";

type VerifyContext = Required<VerifyOptions> & { readonly findings: Findings };

/** The dump and database that are verified. */
interface Subject {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Undefined when no database is to be looked at. */
  readonly database: string | undefined;
  /** The files that could be opened. */
  readonly files: number;
  /** The ids of the datasets whose documents were listed. */
  readonly datasets: readonly string[];
}

/**
 * Reads a run folder again and proves it from what lies there. Rejects with UsageError when the path is no run folder,
 * or when the database that was asked for is not there, and with the reason of `options.signal`.
 */
export async function verifyRun(path: string, options: VerifyOptions = {}): Promise<Verification> {
  const findings = new Findings();
  const context = { ...withVerifyDefaults(options), findings };
  const { folder, manifest, problems } = await readDumpFolder(path);
  findings.addAll(manifestName, "not as expected", problems);
  if (!manifest) return verificationOf(findings, nothingChecked(folder));

  const database = context.duckdb === false ? undefined : await databasePath(folder, manifest, context.duckdb);
  findings.addAll(manifestName, "contradiction", contradictionsIn(manifest));
  const listed = await checkFolder(folder, manifest, findings);
  const datasets = await checkList(folder, manifest, findings);
  const tables = await checkFiles(folder, listed, context, manifest);
  const saved = await checkSaved(folder, manifest, context);
  const checked = await checkRows({ folder, manifest, database, files: listed.length, datasets }, tables, context);
  return verificationOf(findings, { ...checked, ...saved });
}

/**
 * Reads the bytes of every file. Gives the tables that are there with all of their files, and those first whose files are as listed,
 * because the others are compared with the first.
 */
async function checkFiles(
  folder: string,
  files: readonly ManifestFile[],
  { signal, progress, findings }: VerifyContext,
  { files: all, originals = [] }: Manifest,
): Promise<readonly DumpTable[]> {
  const sizeOf = (list: readonly { readonly bytes: number }[]) => list.reduce((sum, { bytes }) => sum + bytes, 0);
  progress.expected += 2 * sizeOf(files) + sizeOf(originals);
  const asListed = new Set<ManifestFile>();
  for (const file of files) {
    progress.step = `hashing ${file.path}`;
    const onBytes = (bytes: number) => {
      signal.throwIfAborted();
      progress.done += bytes;
    };
    if (await checkFile(folder, file, findings, onBytes)) asListed.add(file);
  }
  const there = new Set(files.map(({ path }) => path));
  const torn = new Set(tablesOf(all.filter(({ path }) => !there.has(path))).map(nameOfTable));
  const whole = tablesOf(files).filter((table) => !torn.has(nameOfTable(table)));
  const isSound = (table: DumpTable) => table.files.every((file) => asListed.has(file));
  return [...whole.filter(isSound), ...whole.filter((table) => !isSound(table))];
}

const nameOfTable = ({ kind, format }: DumpTable) => `${kind}.${format}`;

/** Reads the bytes of every original; gives their numbers, null where the run was not asked for them. */
async function checkSaved(
  folder: string,
  manifest: Manifest,
  { signal, progress, findings }: VerifyContext,
): Promise<Saved> {
  progress.step = "hashing originals";
  return checkOriginals(folder, manifest, findings, (bytes) => {
    signal.throwIfAborted();
    progress.done += bytes;
  });
}

type Saved = Pick<Checked, "originals" | "attachments">;

/** Reads every row, and checks them against each other, the manifest and the database. */
async function checkRows(
  subject: Subject,
  tables: readonly DumpTable[],
  context: VerifyContext,
): Promise<Omit<Checked, keyof Saved>> {
  const { folder, manifest } = subject;
  const { memory, signal, progress, findings } = context;
  const unguarded = manifest.options.output.csv_safe;
  const options = { memory, signal, unguarded, findings, onRows: progressOf(tables, context) };
  return withRowStore(options, async (reader, store) => {
    const loaded = await loadFiles(reader, store, folder, tables);
    const firsts = firstOfKinds(loaded, manifest);
    progress.step = "comparing the formats";
    await compareFormats(store, manifest, loaded, firsts);
    const database =
      subject.database === undefined
        ? undefined
        : await verifyDatabase(reader, store, subject.database, manifest, firsts);

    progress.step = "checking ids and counts";
    const inDatabase = firsts.size === 0 && database;
    const rows = inDatabase ? database.rows : firsts;
    const documents = inDatabase ? database.share.kept : manifest.documents;
    await checkIds(store, rows);
    await checkListed(store, firsts, subject); // in the database, later runs have had their say
    await checkDetails(store, firsts);
    await checkCounts(store, rows, documents);
    return {
      folder,
      run_id: manifest.run_id,
      files: subject.files,
      documents: documents.length,
      chunks: rows.get("chunks")?.rows ?? 0,
      child_chunks: rows.get("child_chunks")?.rows ?? 0,
      database: database?.checked ?? null,
      notes: notesOf(manifest, loaded, database?.share),
    };
  });
}

/** Counts the rows that were read in the tally; a table counts by its bytes. */
function progressOf(tables: readonly DumpTable[], { signal, progress }: VerifyContext): RowStoreOptions["onRows"] {
  const bytesPerRow = new Map(tables.map(({ path, bytes, rows }) => [path, bytes / Math.max(rows, 1)]));
  return ({ name }, rows) => {
    signal.throwIfAborted();
    progress.step = `reading ${name}`;
    progress.done += rows * (bytesPerRow.get(name) ?? 0);
  };
}

function nothingChecked(folder: string): Checked {
  const notes = ["nothing else was checked, because the manifest is not reliable"];
  return {
    folder,
    run_id: null,
    files: 0,
    documents: 0,
    chunks: 0,
    child_chunks: 0,
    originals: null,
    attachments: null,
    database: null,
    notes,
  };
}

function verificationOf({ list, count }: Findings, checked: Checked): Verification {
  return { status: count === 0 ? "sound" : "differences", findings: list, finding_count: count, checked };
}

/** Every file has the rows of the first of its kind, cell by cell and in the same order; the documents are the manifest's. */
async function compareFormats(
  store: RowStore,
  manifest: Manifest,
  files: readonly LoadedFile[],
  firsts: ReadonlyMap<Kind, LoadedFile>,
): Promise<void> {
  for (const file of files) {
    const first = firsts.get(file.source.kind);
    if (!first || first === file) continue;
    const unguarded = isGuarded(first, manifest) || isGuarded(file, manifest);
    await compareRows(store, first, file, { unguarded, ordered: true, exactly: true });
  }
  const documents = await store.load(manifestRows(manifest));
  if (!documents) return;
  await checkUnique(store, documents);
  const file = firsts.get("documents");
  if (file)
    await compareRows(store, documents, file, {
      unguarded: isGuarded(file, manifest),
      ordered: true,
      exactly: true,
    });
}

/** Sentences on what could not be checked, and why. */
function notesOf(
  { options, files: listed, originals = [] }: Manifest,
  files: readonly LoadedFile[],
  database: DatabaseShare | undefined,
): readonly string[] {
  const formats = new Set(files.map(({ format }) => format));
  const unread = new Set(listed.map((file) => partsOf(file).format).filter((format) => !hasReader(format)));
  const notes = [...unread].map(
    (format) => `verify cannot read ${format}: the hashes of its files were checked, their rows were not`,
  );
  if (formats.size === 0 && database) {
    notes.push("this folder has no data files: ids, parents and counts were checked in the database");
  } else if (formats.size === 0) {
    notes.push(
      "this folder has no data files: only manifest.json was checked; --duckdb checks the rows in the database",
    );
  } else if (formats.size === 1 && !database) {
    notes.push(
      `${[...formats].join()} is the only format in this folder, so contents were not compared between formats`,
    );
  }
  if (formats.has("csv") && formats.size > 1 && options.output.csv_safe) {
    notes.push("the CSV was written with csv_safe: apostrophes before formulas were ignored in comparisons");
  }
  for (const [noun, saved] of [
    ["original", originals.filter(({ attachment_id: id }) => id === null)],
    ["attachment", originals.filter(({ attachment_id: id }) => id !== null)],
  ] as const) {
    const incomplete = saved.filter(({ verdict }) => verdict !== "complete").length;
    if (incomplete === 0) continue;
    notes.push(
      `${incomplete} of ${countOf(saved.length, noun)} ${incomplete === 1 ? "was" : "were"} not complete when the run saved them: originals in manifest.json says why`,
    );
  }
  const later = database?.later ?? 0;
  if (later > 0)
    notes.push(
      `${countOf(later, "document")} of the database come from a later run: their newer rows were not compared`,
    );
  const passedOver = database?.passedOver ?? 0;
  if (passedOver > 0)
    notes.push(
      `${countOf(passedOver, "document")} unstable in this run: the database keeps the earlier complete state, which was not compared`,
    );
  return notes;
}

export interface VerifyOptions {
  /** Also compare with a database: true for `<job>.duckdb` beside the runs folder, or its path. */
  readonly duckdb?: boolean | string;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory?: string;
  /** Ends the verification; its reason is what it rejects with. */
  readonly signal?: AbortSignal;
  /** Filled while the verification goes on. */
  readonly progress?: ReadProgress;
}

/** The options with their defaults. */
function withVerifyDefaults(options: VerifyOptions): Required<VerifyOptions> {
  return {
    duckdb: options.duckdb ?? false,
    memory: options.memory ?? "800MB",
    signal: options.signal ?? new AbortController().signal,
    progress: options.progress ?? emptyReadProgress(),
  };
}
