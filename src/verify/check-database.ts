import { lstat, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText, sqlTypes } from "../duckdb/sql.js";
import type { Manifest } from "../dump/manifest.js";
import { StopError, UsageError } from "../errors.js";
import { allKinds, type Kind, namesWith } from "../rows/columns.js";
import { documentKey } from "../rows/row.js";
import { countOf } from "../words.js";
import { compareRows } from "./compare-rows.js";
import type { CheckedDatabase, Findings } from "./findings.js";
import { type RowSource, UnreadableError } from "./readers/read-text.js";
import { tableRows, unreadable } from "./readers/sql-rows.js";
import { manifestRows } from "./readers/table-rows.js";
import { isGuarded, type Loaded, type LoadedFile, type RowStore } from "./row-store.js";

/** The part of a run that the database of its job has. */
export interface DatabaseShare {
  /** Documents that this run was the last to read. */
  readonly kept: Manifest["documents"];
  /** Documents that a later run read: the database has their newer state, with which nothing is compared. */
  readonly later: number;
  /** Documents that were unstable in this run: the database keeps the complete state that an earlier run read. */
  readonly passedOver: number;
}

/** Finds out which documents the database has as this run read them; one that it lacks is a finding. */
function shareOf(manifest: Manifest, name: string, { readBy }: RunDatabase, findings: Findings): DatabaseShare {
  const kept: Manifest["documents"][number][] = [];
  let [later, passedOver] = [0, 0];
  for (const document of manifest.documents.filter(({ status }) => status !== "failed")) {
    const { run, status } = readBy.get(documentKey(document)) ?? {};
    if (run === manifest.run_id) kept.push(document);
    else if (run !== undefined && run > manifest.run_id) later++;
    else if (run !== undefined && document.status === "unstable" && status === "complete") passedOver++;
    else {
      const what = run === undefined ? "missing" : `from the older run ${run}`;
      findings.add(name, "document", `document ${document.document_id} is ${what}`);
    }
  }
  return { kept, later, passedOver };
}

/** The table `runs` has one row of this run, which says what the manifest says. */
function checkRunRow(manifest: Manifest, name: string, { runs }: RunDatabase, findings: Findings): void {
  const { status, counts } = manifest;
  const [row] = runs;
  if (!row || runs.length > 1)
    findings.add(name, "runs", `has ${countOf(runs.length, "row")} for run ${manifest.run_id} in the table runs`);
  const wanted = { status, documents: counts.documents, chunks: counts.chunks, child_chunks: counts.child_chunks };
  for (const [column, value] of Object.entries(wanted)) {
    if (row && String(row[column]) !== String(value))
      findings.add(name, "runs", `runs.${column} is ${row[column]}, the manifest says ${value}`);
  }
}

interface ComparedDatabase {
  readonly manifest: Manifest;
  readonly share: DatabaseShare;
  readonly database: RunDatabase;
  /** The rows of the run folder, of the kinds that can be read there. */
  readonly folder: ReadonlyMap<Kind, LoadedFile>;
  readonly found: ReadonlyMap<Kind, Loaded>;
}

/** The rows of the run folder are in the database, and no others of this run. Their order is not looked at. */
async function compareDatabase(store: RowStore, compared: ComparedDatabase): Promise<void> {
  const { manifest, share, database, folder, found } = compared;
  const documents = await store.load(manifestRows({ ...manifest, documents: share.kept }));
  if (!documents) return;
  for (const [kind, rows] of found) {
    const all = kind === "documents" ? documents : folder.get(kind);
    if (!all) continue;
    const wanted = { ...all, table: await tableOf(kind, all, documents, store, database) };
    const unguarded = isGuarded(all, manifest);
    const exactly = kind !== "indexing_status"; // kbdump status may have added readings at the same time
    await compareRows(store, wanted, rows, { unguarded, ordered: false, exactly });
  }
  for (const kind of ["chunks", "child_chunks"] as const) {
    const name = found.get(kind)?.source.name;
    const count = await database.ofOtherRuns(kind);
    if (name && count > 0)
      store.findings.add(
        name,
        "run_id",
        `${countOf(count, "row")} of ${kind} ${count === 1 ? "has" : "have"} another run_id than the document`,
      );
  }
}

/** SQL: the rows that the database should have. */
async function tableOf(
  kind: Kind,
  { table }: Loaded,
  documents: Loaded,
  store: RowStore,
  { readLater }: RunDatabase,
): Promise<string> {
  if (kind === "chunks" || kind === "child_chunks")
    return `(FROM ${table} SEMI JOIN ${documents.table} USING (dataset_id, document_id))`;
  const later = isReplaced(kind) && (await store.load(readLater(kind)));
  return later ? `(FROM ${table} ANTI JOIN ${later.table} USING (${namesWith(kind, "document").join(", ")}))` : table;
}

/** The rows of a run as the database of its job has them. */
interface VerifiedDatabase {
  readonly checked: CheckedDatabase;
  readonly share: DatabaseShare;
  readonly rows: ReadonlyMap<Kind, Loaded>;
}

/** The path of the database: beside the runs folder unless one is given. UsageError when there is none. */
export async function databasePath(folder: string, { job }: Manifest, given: true | string): Promise<string> {
  const path = given === true ? join(folder, "..", "..", `${job}.duckdb`) : given;
  const facts = await (given === true ? lstat : stat)(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
  });
  if (facts?.isFile()) return path;
  const message = facts ? "it is no regular file" : "there is no such file; --duckdb=PATH names another";
  throw new UsageError("There is no database to compare with:", [{ path, message }]);
}

/** Compares a run folder with a database; undefined when that cannot be read, which is a finding. */
export async function verifyDatabase(
  reader: Connection,
  store: RowStore,
  path: string,
  manifest: Manifest,
  folder: ReadonlyMap<Kind, LoadedFile>,
): Promise<VerifiedDatabase | undefined> {
  const { findings } = store;
  const name = basename(path);
  try {
    const readings = await readingsIn(store, folder.get("indexing_status"));
    const withChildren = manifest.options.child_chunks !== "none";
    const database = await readDatabase(reader, path, { name, runId: manifest.run_id, withChildren, readings });
    checkRunRow(manifest, name, database, findings);
    const share = shareOf(manifest, name, database, findings);
    const rows = new Map<Kind, Loaded>();
    for (const kind of allKinds.filter((each) => manifest.counts[each] !== undefined)) {
      const loaded = await store.load(database.rows(kind));
      if (loaded) rows.set(kind, loaded);
    }
    await compareDatabase(store, { manifest, share, database, folder, found: rows });
    const { kept, later, passedOver } = share;
    return { checked: { path, documents: kept.length, read_later: later, passed_over: passedOver }, share, rows };
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    findings.add(name, "cannot be read", `cannot be read: ${error.message}`);
    return undefined;
  }
}

async function readingsIn(store: RowStore, status: Loaded | undefined): Promise<TimeSpan | undefined> {
  if (!status) return undefined;
  const [span] = await store.query(
    `SELECT min(id::${sqlTypes.time})::VARCHAR AS first, max(id::${sqlTypes.time})::VARCHAR AS last FROM ${status.table}`,
  );
  return span?.first == null ? undefined : { first: String(span.first), last: String(span.last) };
}

type Rows = readonly Readonly<Record<string, unknown>>[];

/** The database of a job as far as it has to do with one run. It is opened to be read only. */
interface RunDatabase {
  /** The run whose rows the database has of each document, and what it found them to be, by `documentKey`. */
  readonly readBy: ReadonlyMap<string, { readonly run: string; readonly status: unknown }>;
  /** Rows of the table `runs`; there should be one. */
  readonly runs: Rows;
  /** Rows of documents that this run read, and that say they are of another run. */
  readonly ofOtherRuns: (kind: "chunks" | "child_chunks") => Promise<number>;
  /** Rows of a kind that a later run has replaced: the table has their newer state, which is not compared. */
  readonly readLater: (kind: Kind) => RowSource;
  /** The rows of this run, and of the documents that it was the last to read. */
  readonly rows: (kind: Kind) => RowSource;
}

/** From one time to another, as DuckDB writes them. */
interface TimeSpan {
  readonly first: string;
  readonly last: string;
}

interface SoughtRun {
  /** The name that findings shall have. */
  readonly name: string;
  readonly runId: string;
  /** False: the run asked for no child chunks, and the database keeps those that earlier runs read. */
  readonly withChildren: boolean;
  /** When the run took its readings of the indexing status; undefined when it took none that can be read. */
  readonly readings: TimeSpan | undefined;
}

/** Opens a database. UnreadableError when it is none; StopError when it is in use. */
async function readDatabase(
  connection: Connection,
  path: string,
  { name, runId, withChildren, readings }: SoughtRun,
): Promise<RunDatabase> {
  await attach(connection, path);
  const query = async (sql: string): Promise<Rows> => {
    const result = await connection.runAndReadAll(sql).catch(unreadable);
    return result.getRowObjectsJson();
  };
  const run = sqlText(runId);
  const documents = await query("SELECT dataset_id, document_id, run_id, status FROM dump.documents");
  return {
    readBy: new Map(documents.map((row) => [documentKey(row), { run: String(row.run_id), status: row.status }])),
    runs: await query(`SELECT status, documents, chunks, child_chunks FROM dump.runs WHERE run_id = ${run}`),
    ofOtherRuns: async (kind) => {
      if (kind === "child_chunks" && !withChildren) return 0;
      const [row] = await query(
        `SELECT count(*) AS count FROM dump.${kind} t WHERE run_id IS DISTINCT FROM ${run} AND ${lastReadBy(run)}`,
      );
      return Number(row?.count);
    },
    readLater: (kind) => tableRows(connection, name, kind, `dump.${kind} WHERE run_id > ${run}`),
    rows: (kind) => {
      const condition = kind === "child_chunks" && !withChildren ? `run_id = ${run}` : conditionOf(kind, run, readings);
      return tableRows(connection, name, kind, `dump.${kind} t WHERE ${condition}`);
    },
  };
}

async function attach(connection: Connection, path: string): Promise<void> {
  try {
    await connection.run(`ATTACH ${sqlText(path)} AS dump (READ_ONLY)`);
    await connection.run("FROM dump.documents LIMIT 0");
  } catch (error) {
    if (error instanceof Error && /\block\b/i.test(error.message)) {
      throw new StopError("the database is open for writing in another program; close it first", { cause: error });
    }
    unreadable(error);
  }
}

/** Whether a run that asks for rows of this kind replaces those of earlier runs, whatever became of the documents. */
function isReplaced(kind: Kind): boolean {
  return kind === "metadata_fields" || kind === "datasets" || kind === "document_info" || kind === "document_details";
}

function lastReadBy(run: string, comparison: "=" | ">" = "="): string {
  return `EXISTS (FROM dump.documents d WHERE d.run_id ${comparison} ${run} AND d.dataset_id = t.dataset_id AND d.document_id = t.document_id)`;
}

/**
 * Readings of the status do not say which run made them: they are known by their time. Child chunks stay those of an earlier
 * run where a later one read their document without them.
 */
function conditionOf(kind: Kind, run: string, readings: TimeSpan | undefined): string {
  const ofRun = `(run_id = ${run} OR ${lastReadBy(run)})`;
  if (isReplaced(kind)) return `run_id = ${run}`;
  if (kind === "child_chunks") return `${ofRun} AND NOT ${lastReadBy(run, ">")}`;
  if (kind !== "indexing_status") return ofRun;
  return readings ? `captured_at BETWEEN ${sqlText(readings.first)} AND ${sqlText(readings.last)}` : "false";
}
