import type { Connection } from "../../duckdb/open-duckdb.js";
import { utcTime } from "../../duckdb/sql-types.js";
import type { Dump } from "../../dump/open-dump.js";
import { columns } from "../../rows/columns.js";
import { loadDocuments } from "./load-documents.js";
import { type HistoryOptions, openHistory } from "./open-history.js";
import { type MakeTable, openRows, type ReadOptions } from "./open-rows.js";
import { contentSql, shortSql, sqlTime } from "./sql-cells.js";

export interface LoadOptions extends HistoryOptions, ReadOptions {
  /** False: no name, no error and no text is loaded. */
  readonly content: boolean;
}

/** The tables that were loaded, and what they lack. */
export interface LoadedTables {
  /** Whether the database of the job is attached as `job`. It may have later runs: they are left out by `run_id <=` the run. */
  readonly hasHistory: boolean;
  /** Why there is no history, as a sentence; null where there is one. */
  readonly reason: string | null;
}

/** The kinds of which a report asks something. */
const wanted = ["chunks", "child_chunks", "document_info", "document_details", "datasets", "indexing_status"] as const;

/** The characters of a content that are shown. */
const beginning = 160;

/** SQL: the content of a chunk has more than white space. Others have no hash. */
export const isNotBlank = "regexp_matches(content, '[^[:space:]]')";

/**
 * Loads what a report needs of a dump into tables: `chunks`, `child_chunks`, `documents`, `document_info`, `indexing_status`. Each file
 * is read once, and no content is kept as a whole. Times are TIMESTAMP in UTC; `row` and `nr` count from 0 in the order of the dump.
 * StopError if a file is not as its run wrote it; UsageError if the rows are nowhere.
 */
export async function loadTables(connection: Connection, dump: Dump, options: LoadOptions): Promise<LoadedTables> {
  const reason = await openHistory(connection, dump, options);
  const make = await openRows(connection, dump, { ...options, reason, kinds: wanted });
  await make("chunk_rows", "chunks", (rows) => chunksSql(rows, options.content));
  await make("child_chunk_rows", "child_chunks", (rows) => childrenSql(rows, options.content));
  for (const table of ["chunks", "child_chunks"])
    await connection.run(`CREATE VIEW ${table} AS SELECT rowid AS row, * FROM ${table.slice(0, -1)}_rows`);
  await loadDocuments(connection, make, dump, options.content);
  await loadReadings(connection, make, dump, { hasHistory: reason === null, content: options.content });
  return { hasHistory: reason === null, reason };
}

function chunksSql(rows: string, content: boolean): string {
  return `SELECT dataset_id, document_id, id, position, coalesce(word_count, length(content)) AS characters, tokens, hit_count,
    enabled, ${shortSql("status")}, error IS NOT NULL AS has_error, ${contentSql(content, "error")},
    ${utcTime("created_at")} AS created_at, ${changedAt} AS changed_at, ${utcTime("disabled_at")} AS disabled_at, disabled_by,
    CASE WHEN ${isNotBlank} THEN md5_number(content) END AS content_hash, md5_number(answer) AS answer_hash,
    ${beginningSql(content)} FROM ${rows}`;
}

function childrenSql(rows: string, content: boolean): string {
  return `SELECT dataset_id, document_id, segment_id, id, position, ${changedAt} AS changed_at,
    ${beginningSql(content)} FROM ${rows}`;
}

function beginningSql(content: boolean): string {
  return `${content ? `left(content, ${beginning})` : "NULL::VARCHAR"} AS beginning`;
}

/** SQL: the newer of the two times that are known. */
const changedAt = `greatest(${utcTime("created_at")}, ${utcTime("updated_at")})`;

/** Makes the table `indexing_status` of the readings of the run, and of earlier ones of the same documents that the history has. */
async function loadReadings(
  connection: Connection,
  make: MakeTable,
  { manifest }: Dump,
  { hasHistory, content }: Pick<LoadedTables, "hasHistory"> & Pick<LoadOptions, "content">,
): Promise<void> {
  const cells = columns.indexing_status.flatMap(({ name, type }) => {
    if (name === "extra") return [];
    if (name === "error") return [contentSql(content, name)];
    if (name === "indexing_status") return [shortSql(name)];
    return [type === "time" ? `${utcTime(name)} AS ${name}` : name];
  });
  await make("indexing_status", "indexing_status", (rows) => `SELECT ${cells.join(", ")} FROM ${rows}`);
  if (!hasHistory) return;
  const key = "dataset_id, batch, document_id";
  await connection.run(`INSERT INTO indexing_status
    FROM (SELECT ${cells.join(", ")} FROM job.main.indexing_status) SEMI JOIN indexing_status USING (${key})
      ANTI JOIN indexing_status USING (captured_at, ${key})
    WHERE captured_at <= ${sqlTime(manifest.finished_at)}`);
}
