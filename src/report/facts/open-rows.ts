import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf } from "../../duckdb/rows-of.js";
import { sqlText } from "../../duckdb/sql-text.js";
import { sqlTypes, utcTime } from "../../duckdb/sql-types.js";
import { unguardedRows } from "../../dump/formats/csv/sql.js";
import type { DumpTable } from "../../dump/manifest/tables.js";
import type { Dump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import type { ReadTally } from "../../read-tally.js";
import { columns, type Kind } from "../../rows/columns.js";
import { sqlTime } from "./sql-cells.js";

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Updated while files are read. */
  readonly tally: ReadTally;
}

interface RowsOptions extends ReadOptions {
  /** Why the database is not attached; null where it is. */
  readonly reason: string | null;
  /** The kinds that are wanted. */
  readonly kinds: readonly Kind[];
}

/** Makes a table of a statement about the rows of a kind, of which a dump may have none. StopError if its file is not as listed. */
export type MakeTable = (table: string, kind: Kind, statement: (rows: string) => string) => Promise<void>;

/**
 * Opens the rows of a dump, in the best of its formats. Those of a run that wrote DuckDB alone are in the database of its job, which is
 * attached as `job` unless there is a reason why not. UsageError where that has them no more.
 */
export async function openRows(
  connection: Connection,
  dump: Dump,
  { reason, kinds, ...options }: RowsOptions,
): Promise<MakeTable> {
  const hasFiles = dump.tablesOf(["chunks"], { guarded: true }) !== undefined;
  if (!hasFiles) await checkNewest(connection, dump, reason);
  const files = kinds.flatMap((kind) => dump.tablesOf([kind], { guarded: true }) ?? []);
  options.tally.expected += files.reduce((sum, { bytes }) => sum + bytes, 0);
  return async (table, kind, statement) => {
    const [file] = dump.tablesOf([kind], { guarded: true }) ?? [];
    const rows = file ? await fileRows(dump, file, options) : hasFiles ? noRows(kind) : databaseRows(dump, kind);
    await connection.run(`CREATE TABLE ${table} AS ${statement(rows)}`).catch((error: unknown) => {
      throw file ? dump.unreadable(file, error) : error;
    });
  };
}

/** SQL: the rows of a table, whose bytes are checked first. */
async function fileRows(dump: Dump, table: DumpTable, { signal, tally }: ReadOptions): Promise<string> {
  tally.step = `reading ${table.path}`;
  const checked = await dump.check(table, (bytes) => {
    signal.throwIfAborted();
    tally.done += bytes;
  });
  // Exact fractions are not shown: reading them takes two to three times as long.
  const select = await dump.select({ ...checked, longNumbers: false }, "VARCHAR");
  const isGuarded = checked.format === "csv" && dump.manifest.options.output.csv_safe;
  return isGuarded ? unguardedRows(checked.kind, select) : `(${select})`;
}

/** SQL: the columns of a kind, and no row. */
function noRows(kind: Kind): string {
  const cells = columns[kind].map(({ name, type }) => `NULL::${sqlTypes[type]} AS "${name}"`);
  return `(SELECT ${cells.join(", ")} WHERE false)`;
}

/** SQL: the rows that the database has of a run. */
function databaseRows({ manifest: { run_id, started_at, finished_at } }: Dump, kind: Kind): string {
  const isOfRun =
    kind === "indexing_status"
      ? `${utcTime("captured_at")} BETWEEN ${sqlTime(started_at)} AND ${sqlTime(finished_at)}`
      : `run_id = ${sqlText(run_id)}`;
  return `(FROM job.main.${kind} WHERE ${isOfRun})`;
}

/** A later run replaces rows in the database. */
async function checkNewest(connection: Connection, { folder, manifest }: Dump, reason: string | null): Promise<void> {
  const newest =
    reason === null ? (await rowsOf(connection, "SELECT max(run_id) AS run_id FROM job.main.runs"))[0] : {};
  if (newest?.run_id === manifest.run_id) return;
  const why = reason ?? `That has a newer run, ${newest?.run_id}, in its place: report on that one.`;
  const wrote = `its run wrote ${manifest.options.output.formats.join(", ")} alone, whose rows are in the database of the job`;
  const message = `${wrote}. ${why} Runs with jsonl or parquet in output.formats keep their rows`;
  throw new UsageError("The rows of the run are not there:", [{ path: folder, message }]);
}
