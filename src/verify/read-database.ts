import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText } from "../duckdb/sql-text.js";
import { StopError } from "../errors.js";
import type { Kind } from "../rows/columns.js";
import { documentKey } from "../rows/document-row.js";
import type { RowSource } from "./readers/row-source.js";
import { tableRows, unreadable } from "./readers/sql-rows.js";

type Rows = readonly Readonly<Record<string, unknown>>[];

/** The database of a job as far as it has to do with one run. It is opened to be read only. */
export interface RunDatabase {
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
export interface TimeSpan {
  readonly first: string;
  readonly last: string;
}

export interface SoughtRun {
  /** The name that findings shall have. */
  readonly name: string;
  readonly runId: string;
  /** False: the run asked for no child chunks, and the database keeps those that earlier runs read. */
  readonly withChildren: boolean;
  /** When the run took its readings of the indexing status; undefined when it took none that can be read. */
  readonly readings: TimeSpan | undefined;
}

/** Opens a database. UnreadableError when it is none; StopError when it is in use. */
export async function readDatabase(
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
export function isReplaced(kind: Kind): boolean {
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
