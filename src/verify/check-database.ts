import { lstat, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import { sqlText, sqlTypes } from "../duckdb/sql.js";
import type { Manifest } from "../dump/manifest.js";
import { StopError, UsageError } from "../errors.js";
import { UnreadableError } from "../files/files.js";
import { allKinds, type Kind, namesWith } from "../rows/columns.js";
import { documentKey } from "../rows/row.js";
import { countOf } from "../words.js";
import { compareRows } from "./compare-rows.js";
import type { CheckedDatabase } from "./findings.js";
import { databaseRows, type Loaded, manifestRows, type Tables } from "./readers/sources.js";
import { unreadable } from "./readers/sql-rows.js";
import type { RowStore } from "./row-store.js";

/** The path of the database: the given one, otherwise the one next to the runs folder. Throws UsageError if it does not exist. */
export async function databasePath(folder: string, { job }: Manifest, given: true | string): Promise<string> {
  const path = given === true ? join(folder, "..", "..", `${job}.duckdb`) : given;
  const facts = await (given === true ? lstat : stat)(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
  });
  if (facts?.isFile()) return path;
  const message = facts ? "it is not a regular file" : "there is no such file; --duckdb=PATH names another";
  throw new UsageError("There is no database to compare with:", [{ path, message }]);
}

/** A run folder, and the database to compare it with. */
interface RunDatabase {
  readonly store: RowStore;
  readonly path: string;
  readonly manifest: Manifest;
  /** The rows of the run folder. */
  readonly folder: Tables;
}

/**
 * Compares a run folder with a database; undefined if the database cannot be read, which is a finding. Returns the documents that no
 * later run has read, and those of their rows that no later run has replaced.
 */
export async function verifyDatabase(database: RunDatabase) {
  const { path, manifest, store } = database;
  try {
    await attach(database);
    await checkRunRow(database);
    const { kept, later, passedOver } = await documentsIn(database);
    const readings = await readingsIn(database);
    const rows = new Map<Kind, Loaded>();
    for (const kind of allKinds.filter((each) => manifest.counts[each] !== undefined)) {
      const loaded = await load(database, kind, conditionOf(kind, manifest, readings));
      if (loaded) rows.set(kind, loaded);
    }
    await compareWithFolder(database, rows, kept);
    await checkRunIds(database, rows);
    const checked: CheckedDatabase = { path, documents: kept.length, read_later: later, passed_over: passedOver };
    const ofDocuments = [...rows].filter(([kind]) => kind === "chunks" || kind === "child_chunks");
    return { checked, documents: kept, rows: new Map(ofDocuments) };
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    store.findings.add(basename(path), "cannot be read", `cannot be read: ${error.message}`);
    return undefined;
  }
}

/** Opens a database read-only. Throws UnreadableError if the file is not one; StopError if it is in use. */
async function attach({ store, path }: RunDatabase): Promise<void> {
  try {
    await store.reader.run(`ATTACH ${sqlText(path)} AS dump (READ_ONLY)`);
    await store.reader.run("FROM dump.documents LIMIT 0");
  } catch (error) {
    if (error instanceof Error && /\block\b/i.test(error.message)) {
      throw new StopError("the database is open for writing in another program; close it first", { cause: error });
    }
    unreadable(error);
  }
}

function query({ store }: RunDatabase, sql: string): Promise<readonly SqlRow[]> {
  return rowsOf(store.reader, sql).catch(unreadable);
}

function load({ store, path }: RunDatabase, kind: Kind, condition: string): Promise<Loaded | undefined> {
  return store.load(databaseRows(store.reader, basename(path), kind, `dump.${kind} t WHERE ${condition}`));
}

/** Checks that the table `runs` has exactly one row for this run, and that it matches the manifest. */
async function checkRunRow(database: RunDatabase): Promise<void> {
  const { manifest, path, store } = database;
  const { documents, chunks, child_chunks } = manifest.counts;
  const wanted = { status: manifest.status, documents, chunks, child_chunks };
  const condition = `run_id = ${sqlText(manifest.run_id)}`;
  const rows = await query(database, `SELECT ${Object.keys(wanted).join(", ")} FROM dump.runs WHERE ${condition}`);
  const [row] = rows;
  const report = (message: string) => store.findings.add(basename(path), "runs", message);
  if (rows.length !== 1) report(`has ${countOf(rows.length, "row")} for run ${manifest.run_id} in the table runs`);
  for (const [column, value] of Object.entries(wanted)) {
    if (row && String(row[column]) !== String(value))
      report(`runs.${column} is ${row[column]}, the manifest says ${value}`);
  }
}

/**
 * The documents to compare, and how many were left out: those that a later run read, and those that were unstable in this run, for
 * which the database keeps the complete state of an earlier run. A document missing from the database is a finding.
 */
async function documentsIn(database: RunDatabase) {
  const { manifest, path, store } = database;
  const rows = await query(database, "SELECT dataset_id, document_id, run_id, status FROM dump.documents");
  const readBy = new Map(rows.map((row) => [documentKey(row), { run: String(row.run_id), status: row.status }]));
  const kept: Manifest["documents"][number][] = [];
  let [later, passedOver] = [0, 0];
  for (const document of manifest.documents.filter(({ status }) => status !== "failed")) {
    const { run, status } = readBy.get(documentKey(document)) ?? {};
    if (run === manifest.run_id) kept.push(document);
    else if (run !== undefined && run > manifest.run_id) later++;
    else if (run !== undefined && document.status === "unstable" && status === "complete") passedOver++;
    else {
      const state = run === undefined ? "missing" : `from the older run ${run}`;
      store.findings.add(basename(path), "document", `document ${document.document_id} is ${state}`);
    }
  }
  return { kept, later, passedOver };
}

/** SQL: the first and last time of the status readings; undefined if there is no readable one. */
async function readingsIn({ store, folder }: RunDatabase): Promise<string | undefined> {
  const status = folder.get("indexing_status");
  if (!status) return undefined;
  const time = `id::${sqlTypes.time}`;
  const [span] = await store.query(
    `SELECT min(${time})::VARCHAR AS first, max(${time})::VARCHAR AS last FROM ${status.table}`,
  );
  return span?.first == null ? undefined : `${sqlText(String(span.first))} AND ${sqlText(String(span.last))}`;
}

/**
 * SQL: the rows of this run, and of the documents that no later run has read. Status readings have no run id, so their time
 * identifies them. Child chunks remain from an earlier run if a later run read their document without them.
 */
function conditionOf(kind: Kind, manifest: Manifest, readings: string | undefined): string {
  if (kind === "indexing_status") return readings ? `captured_at BETWEEN ${readings}` : "false";
  const run = sqlText(manifest.run_id);
  const isOfRun = `run_id = ${run}`;
  if (replacedKinds.has(kind) || (kind === "child_chunks" && !asksForChildren(manifest))) return isOfRun;
  const ofRun = `(${isOfRun} OR ${lastReadBy(run)})`;
  return kind === "child_chunks" ? `${ofRun} AND NOT ${lastReadBy(run, ">")}` : ofRun;
}

/** Whether a run reads child chunks. If it does not, the database keeps those of earlier runs. */
function asksForChildren({ options }: Manifest): boolean {
  return options.child_chunks !== "none";
}

/** Kinds whose rows replace those of earlier runs, even for documents that failed. */
const replacedKinds = new Set<Kind>(["metadata_fields", "datasets", "document_info", "document_details"]);

function lastReadBy(run: string, comparison: "=" | ">" = "="): string {
  return `EXISTS (FROM dump.documents d WHERE d.run_id ${comparison} ${run} AND d.dataset_id = t.dataset_id AND d.document_id = t.document_id)`;
}

/** Checks that the database has exactly the rows of the run folder for this run, in any order. */
async function compareWithFolder(database: RunDatabase, found: Tables, kept: Manifest["documents"]): Promise<void> {
  const { store, folder } = database;
  const documents = await store.load(manifestRows({ documents: kept }));
  if (!documents) return;
  for (const [kind, rows] of found) {
    const all = kind === "documents" ? documents : folder.get(kind);
    if (!all) continue;
    await compareRows(store, { ...all, table: await wantedTable(kind, all, documents, database) }, rows);
  }
}

/** SQL: the rows that the database should have; leaves out rows that a later run has replaced. */
async function wantedTable(kind: Kind, { table }: Loaded, documents: Loaded, database: RunDatabase): Promise<string> {
  if (kind === "chunks" || kind === "child_chunks")
    return `(FROM ${table} SEMI JOIN ${documents.table} USING (dataset_id, document_id))`;
  const later =
    replacedKinds.has(kind) && (await load(database, kind, `run_id > ${sqlText(database.manifest.run_id)}`));
  return later ? `(FROM ${table} ANTI JOIN ${later.table} USING (${namesWith(kind, "document").join(", ")}))` : table;
}

/** Checks the run id in rows of documents that no later run has read. */
async function checkRunIds(database: RunDatabase, found: Tables): Promise<void> {
  const { store, manifest, path } = database;
  const run = sqlText(manifest.run_id);
  for (const kind of ["chunks", "child_chunks"] as const) {
    if (!found.has(kind) || (kind === "child_chunks" && !asksForChildren(manifest))) continue;
    const others = `FROM dump.${kind} t WHERE run_id IS DISTINCT FROM ${run} AND ${lastReadBy(run)}`;
    const [row] = await query(database, `SELECT count(*) AS count ${others}`);
    const count = Number(row?.count);
    if (count === 0) continue;
    const rows = `${countOf(count, "row")} of ${kind} ${count === 1 ? "has" : "have"}`;
    store.findings.add(basename(path), "run_id", `${rows} another run_id than the document`);
  }
}
