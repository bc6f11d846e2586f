import { listedFiles, type Manifest, manifestName, partsOf } from "../dump/manifest.js";
import { contradictionsIn, readDumpFolder } from "../dump/read-manifest.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import { countOf } from "../words.js";
import { databasePath, verifyDatabase } from "./check-database.js";
import { checkFiles } from "./check-files.js";
import { checkCounts, checkIds, checkUnique } from "./check-ids.js";
import { compareRows } from "./compare-rows.js";
import { type Checked, Findings, type Verification } from "./findings.js";
import { type Loaded, manifestRows, readers, type Tables } from "./readers/sources.js";
import { loadTables, type RowStore, withRowStore } from "./row-store.js";

export interface VerifyOptions {
  /** Also compare with a database: its path, or true for `<job>.duckdb` next to the runs folder. */
  readonly duckdb?: boolean | string;
  /** Maximum memory of DuckDB, such as `800MB`. */
  readonly memory?: string;
  /** Aborting it ends the verification, which then rejects with the signal's reason. */
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
  progress.expected += bytesToVerify(manifest);
  const verifying = { findings, signal, progress };
  const { files, tables, datasets } = await checkFiles(folder, manifest, verifying);
  const unguarded = manifest.options.output.csv_safe;
  return withRowStore({ ...verifying, memory, unguarded }, async (store) => {
    const loaded = await loadTables(store, folder, tables, database !== undefined);
    progress.step = "comparing the formats";
    const firsts = await compareFormats(store, manifest, loaded);
    const found = database ? await verifyDatabase({ store, path: database, manifest, folder: firsts }) : undefined;

    progress.step = "checking ids and counts";
    const { rows, documents } = firsts.size === 0 && found ? found : { rows: firsts, documents: manifest.documents };
    await checkIds(store, rows, { manifest, datasets });
    await checkCounts(store, rows, documents);
    return verificationOf(findings, {
      folder,
      run_id: manifest.run_id,
      files,
      documents: documents.length,
      chunks: rows.get("chunks")?.rows ?? 0,
      child_chunks: rows.get("child_chunks")?.rows ?? 0,
      ...savedFiles(manifest),
      database: found?.checked ?? null,
      notes: [...notesOf(manifest, loaded, found?.checked ?? null)],
    });
  });
}

/** The bytes to read: files with rows are read twice, for hashes and for rows. */
export function bytesToVerify(manifest: Manifest): number {
  return [...listedFiles(manifest), ...manifest.files].reduce((sum, { bytes }) => sum + bytes, 0);
}

function verificationOf({ list, count }: Findings, checked: Checked): Verification {
  return { status: count === 0 ? "sound" : "differences", findings: list, finding_count: count, checked };
}

function nothingChecked(folder: string): Checked {
  const counts = { files: 0, documents: 0, chunks: 0, child_chunks: 0, originals: null, attachments: null };
  const notes = ["nothing else was checked, because the manifest is not reliable"];
  return { folder, run_id: null, ...counts, database: null, notes };
}

/** The numbers of originals and attachments; null if the run did not save any. */
function savedFiles({ originals }: Manifest): Pick<Checked, "originals" | "attachments"> {
  if (!originals) return { originals: null, attachments: null };
  const saved = originals.filter(({ path }) => path !== null);
  const attachments = saved.filter(({ attachment_id: id }) => id !== null).length;
  return { originals: saved.length - attachments, attachments };
}

/**
 * Checks that every file has the same rows as the first of its kind, in the same order, and that the documents match the manifest.
 * Returns the first of each kind: one with the expected row count if there is any.
 */
async function compareFormats(store: RowStore, manifest: Manifest, tables: readonly Loaded[]): Promise<Tables> {
  const whole = tables.filter(({ kind, rows }) => rows === manifest.counts[kind]);
  const firsts = new Map([...tables.toReversed(), ...whole.toReversed()].map((table) => [table.kind, table]));
  for (const table of tables) {
    const first = firsts.get(table.kind);
    if (first && first !== table) await compareRows(store, first, table);
  }
  const documents = await store.load(manifestRows(manifest));
  await checkUnique(store, documents);
  const first = firsts.get("documents");
  if (documents && first) await compareRows(store, documents, first);
  return firsts;
}

/** Sentences about skipped checks, and why. */
function* notesOf(
  { options, files, originals = [] }: Manifest,
  tables: readonly Loaded[],
  database: Checked["database"],
): Generator<string> {
  const formats = new Set(tables.map(({ format }) => format));
  for (const format of new Set(files.map((file) => partsOf(file).format)))
    if (!readers.has(format))
      yield `verify cannot read ${format}: the hashes of its files were checked, their rows were not`;
  if (formats.size === 0)
    yield database
      ? "this folder has no data files: ids, parents and counts were checked in the database"
      : "this folder has no data files: only manifest.json was checked; --duckdb checks the rows in the database";
  if (formats.has("csv") && formats.size > 1 && options.output.csv_safe)
    yield "the CSV was written with csv_safe: apostrophes before formulas were ignored in comparisons";
  for (const noun of ["original", "attachment"]) {
    const saved = originals.filter(({ attachment_id: id }) => (id === null) === (noun === "original"));
    const incomplete = saved.filter(({ verdict }) => verdict !== "complete").length;
    const was = `${incomplete} of ${countOf(saved.length, noun)} ${incomplete === 1 ? "was" : "were"}`;
    if (incomplete > 0) yield `${was} not complete when the run saved them: originals in manifest.json says why`;
  }
  const { read_later: later = 0, passed_over: passedOver = 0 } = database ?? {};
  if (later > 0)
    yield `${countOf(later, "document")} of the database come from a later run: their newer rows were not compared`;
  if (passedOver > 0)
    yield `${countOf(passedOver, "document")} unstable in this run: the database keeps the earlier complete state, which was not compared`;
}
