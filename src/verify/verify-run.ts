import { type DumpTable, type Manifest, type ManifestFile, manifestName, tablesOf } from "../dump/manifest.js";
import { contradictionsIn, readDumpFolder } from "../dump/read-manifest.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import type { Kind } from "../rows/columns.js";
import { type DocumentRow, documentKey } from "../rows/row.js";
import { countOf } from "../words.js";
import { databasePath, verifyDatabase } from "./check-database.js";
import { checkFile, checkFolder, checkList, checkOriginals } from "./check-files.js";
import { checkDetails, checkIds, checkListed, checkUnique } from "./check-ids.js";
import { compareRows } from "./compare-rows.js";
import { type Checked, Findings, type Verification } from "./findings.js";
import { notesOf } from "./notes.js";
import { manifestRows } from "./readers/table-rows.js";
import {
  firstOfKinds,
  isGuarded,
  type Loaded,
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

/** Every document has as many chunks and child chunks as it says, and there are no rows of other documents. */
async function checkCounts(
  store: RowStore,
  rows: ReadonlyMap<Kind, Loaded>,
  documents: readonly DocumentRow[],
): Promise<void> {
  for (const [kind, column] of [
    ["chunks", "chunk_count"],
    ["child_chunks", "child_chunk_count"],
  ] as const) {
    const loaded = rows.get(kind);
    if (!loaded) continue;
    const counts = await countByDocument(store, loaded);
    for (const document of documents) {
      const key = documentKey(document);
      const count = counts.get(key) ?? 0;
      counts.delete(key);
      if (count === document[column]) continue;
      const message = `document ${document.document_id} has ${countOf(count, "row")}, its ${column} is ${document[column]}`;
      store.findings.add(loaded.source.name, "rows of documents", message);
    }
    for (const [key, count] of counts) {
      store.findings.add(
        loaded.source.name,
        "of no document",
        `has ${countOf(count, "row")} of document ${key}, which is not part of this run`,
      );
    }
  }
}

async function countByDocument(store: RowStore, { table }: Loaded): Promise<Map<string, number>> {
  const rows = await store.query(`SELECT dataset_id, document_id, count(*) AS count FROM ${table} GROUP BY ALL`);
  return new Map(rows.map((row) => [documentKey(row), Number(row.count)]));
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
