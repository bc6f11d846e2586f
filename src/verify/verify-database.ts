import { lstat, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlTypes } from "../duckdb/sql-types.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import { UsageError } from "../errors.js";
import { allKinds, type Kind } from "../rows/columns.js";
import { checkRunRow, compareDatabase, type DatabaseShare, shareOf } from "./check-database.js";
import type { Findings } from "./findings.js";
import type { LoadedFile } from "./load-files.js";
import { readDatabase, type TimeSpan } from "./read-database.js";
import { UnreadableError } from "./readers/row-source.js";
import type { Loaded, RowStore } from "./row-store.js";
import type { CheckedDatabase } from "./verification.js";

/** The rows of a run as the database of its job has them. */
export interface VerifiedDatabase {
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
  findings: Findings,
): Promise<VerifiedDatabase | undefined> {
  const name = basename(path);
  try {
    const readings = await readingsIn(store, folder.get("indexing_status"));
    const withChildren = manifest.options.child_chunks !== "none";
    const database = await readDatabase(reader, path, { name, runId: manifest.run_id, withChildren, readings });
    checkRunRow(manifest, name, database, findings);
    const share = shareOf(manifest, name, database, findings);
    const rows = new Map<Kind, Loaded>();
    for (const kind of allKinds.filter((each) => manifest.counts[each] !== undefined)) {
      const loaded = await store.load(database.rows(kind), findings);
      if (loaded) rows.set(kind, loaded);
    }
    await compareDatabase(store, { manifest, share, database, folder, found: rows }, findings);
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
