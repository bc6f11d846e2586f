import { type DumpTable, type Manifest, manifestName, partsOf, tablesOf } from "../dump/manifest.js";
import { contradictionsIn, readDumpFolder } from "../dump/read-manifest.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import type { Kind } from "../rows/columns.js";
import { countOf } from "../words.js";
import { databasePath, verifyDatabase } from "./check-database.js";
import { type CheckedFiles, checkFiles, listedDatasets } from "./check-files.js";
import { checkCounts, checkIds, checkUnique } from "./check-ids.js";
import { compareRows } from "./compare-rows.js";
import { type Checked, Findings, type Verification } from "./findings.js";
import { hasReader, type Loaded, manifestRows, type RowSource } from "./readers/sources.js";
import { firstOfKinds, isGuarded, loadTables, type RowStore, withRowStore } from "./row-store.js";

export interface VerifyOptions {
  /** Also compare with a database: its path, or true for `<job>.duckdb` next to the runs folder. */
  readonly duckdb?: boolean | string;
  /** Maximum memory of DuckDB, such as `800MB`. */
  readonly memory?: string;
  /** Ends the verification, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Updated during the verification. */
  readonly progress?: ReadProgress;
}

/**
 * Reads a run folder again and verifies its contents. Rejects with UsageError if the path is not a run folder
 * or the requested database does not exist, and with the reason of `options.signal`.
 */
export async function verifyRun(path: string, options: VerifyOptions = {}): Promise<Verification> {
  const { memory = "800MB", signal = new AbortController().signal, progress = emptyReadProgress() } = options;
  const { duckdb = false } = options;
  const findings = new Findings();
  const { folder, manifest, problems } = await readDumpFolder(path);
  findings.addAll(manifestName, "not as expected", problems);
  if (!manifest) return verificationOf(findings, nothingChecked(folder));

  const database = duckdb === false ? undefined : await databasePath(folder, manifest, duckdb);
  findings.addAll(manifestName, "contradiction", contradictionsIn(manifest));
  progress.expected += bytesToRead(manifest);
  const files = await checkFiles(folder, manifest, {
    findings,
    onFile: (file) => {
      progress.step = `hashing ${file}`;
    },
    onBytes: (bytes) => {
      signal.throwIfAborted();
      progress.done += bytes;
    },
  });
  const tables = wholeTables(manifest, files);
  const datasets = await listedDatasets(folder, manifest, { sound: files.sound, findings });

  const bytesPerRow = new Map(tables.map((table) => [table.path, table.bytes / Math.max(table.rows, 1)]));
  const onRows = ({ name }: RowSource, rows: number) => {
    signal.throwIfAborted();
    progress.step = `reading ${name}`;
    progress.done += rows * (bytesPerRow.get(name) ?? 0);
  };
  const unguarded = manifest.options.output.csv_safe;
  return withRowStore({ memory, signal, unguarded, findings, onRows }, async (reader, store) => {
    const isCompared = ({ kind }: DumpTable) =>
      database !== undefined || kind === "documents" || tables.filter((table) => table.kind === kind).length > 1;
    const loaded = await loadTables(reader, store, folder, tables, isCompared);
    const firsts = firstOfKinds(loaded, manifest);
    progress.step = "comparing the formats";
    await compareFormats(store, manifest, loaded, firsts);
    const found =
      database === undefined
        ? undefined
        : await verifyDatabase(reader, store, { path: database, manifest, folder: firsts });

    progress.step = "checking ids and counts";
    const { rows, documents } = firsts.size === 0 && found ? found : { rows: firsts, documents: manifest.documents };
    await checkIds(store, rows, { manifest, datasets });
    await checkCounts(store, rows, documents);
    return verificationOf(findings, {
      folder,
      run_id: manifest.run_id,
      files: manifest.files.filter((file) => files.there.has(file.path)).length,
      documents: documents.length,
      chunks: rows.get("chunks")?.rows ?? 0,
      child_chunks: rows.get("child_chunks")?.rows ?? 0,
      ...savedFiles(manifest),
      database: found?.checked ?? null,
      notes: notesOf(manifest, loaded, found?.checked ?? null),
    });
  });
}

function verificationOf({ list, count }: Findings, checked: Checked): Verification {
  return { status: count === 0 ? "sound" : "differences", findings: list, finding_count: count, checked };
}

function nothingChecked(folder: string): Checked {
  const counts = { files: 0, documents: 0, chunks: 0, child_chunks: 0, originals: null, attachments: null };
  const notes = ["nothing else was checked, because the manifest is not reliable"];
  return { folder, run_id: null, ...counts, database: null, notes };
}

/** The bytes of all files; files with rows are read twice. */
function bytesToRead({ files, originals = [] }: Manifest): number {
  return [...files, ...files, ...originals].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The tables whose files all exist, sound ones first, because the others are compared with the first. */
function wholeTables(manifest: Manifest, { there, sound }: CheckedFiles): readonly DumpTable[] {
  const files = new Map(manifest.files.map((file) => [file.path, file])); // a manifest may list one twice
  const isIn = (paths: ReadonlySet<string>) => (table: DumpTable) => table.files.every(({ path }) => paths.has(path));
  const whole = tablesOf([...files.values()]).filter(isIn(there));
  return [...whole.filter(isIn(sound)), ...whole.filter((table) => !isIn(sound)(table))];
}

/** The numbers of originals and attachments; null if the run did not save any. */
function savedFiles({ originals }: Manifest): Pick<Checked, "originals" | "attachments"> {
  if (!originals) return { originals: null, attachments: null };
  const saved = originals.filter(({ path }) => path !== null);
  const attachments = saved.filter(({ attachment_id: id }) => id !== null).length;
  return { originals: saved.length - attachments, attachments };
}

/** Checks that every file has the same rows as the first of its kind, in the same order, and that the documents match the manifest. */
async function compareFormats(
  store: RowStore,
  manifest: Manifest,
  tables: readonly Loaded[],
  firsts: ReadonlyMap<Kind, Loaded>,
): Promise<void> {
  const compare = (wanted: Loaded, found: Loaded) => {
    const unguarded = isGuarded(wanted, manifest) || isGuarded(found, manifest);
    return compareRows(store, wanted, found, { unguarded, ordered: true, exactly: true });
  };
  for (const table of tables) {
    const first = firsts.get(table.kind);
    if (first && first !== table) await compare(first, table);
  }
  const documents = await store.load(manifestRows(manifest));
  await checkUnique(store, documents);
  const first = firsts.get("documents");
  if (documents && first) await compare(documents, first);
}

/** Sentences about skipped checks, and why. */
function notesOf(
  { options, files, originals = [] }: Manifest,
  tables: readonly Loaded[],
  database: Checked["database"],
): readonly string[] {
  const formats = new Set(tables.map(({ format }) => format));
  const unread = new Set(files.map((file) => partsOf(file).format).filter((format) => !hasReader(format)));
  const notes = [...unread].map(
    (format) => `verify cannot read ${format}: the hashes of its files were checked, their rows were not`,
  );
  if (formats.size === 0)
    notes.push(
      database
        ? "this folder has no data files: ids, parents and counts were checked in the database"
        : "this folder has no data files: only manifest.json was checked; --duckdb checks the rows in the database",
    );
  if (formats.size === 1 && !database)
    notes.push(
      `${[...formats].join()} is the only format in this folder, so contents were not compared between formats`,
    );
  if (formats.has("csv") && formats.size > 1 && options.output.csv_safe)
    notes.push("the CSV was written with csv_safe: apostrophes before formulas were ignored in comparisons");
  for (const [noun, saved] of [
    ["original", originals.filter(({ attachment_id: id }) => id === null)],
    ["attachment", originals.filter(({ attachment_id: id }) => id !== null)],
  ] as const) {
    const incomplete = saved.filter(({ verdict }) => verdict !== "complete").length;
    const was = `${incomplete} of ${countOf(saved.length, noun)} ${incomplete === 1 ? "was" : "were"}`;
    if (incomplete > 0) notes.push(`${was} not complete when the run saved them: originals in manifest.json says why`);
  }
  const { read_later: later = 0, passed_over: passedOver = 0 } = database ?? {};
  if (later > 0)
    notes.push(
      `${countOf(later, "document")} of the database come from a later run: their newer rows were not compared`,
    );
  if (passedOver > 0)
    notes.push(
      `${countOf(passedOver, "document")} unstable in this run: the database keeps the earlier complete state, which was not compared`,
    );
  return notes;
}
