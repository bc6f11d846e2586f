import { rm } from "node:fs/promises";
import { type Connection, type DuckDbOptions, withDuckDb } from "../duckdb/open-duckdb.js";
import { sqlPath, sqlText } from "../duckdb/sql-text.js";
import { seal } from "../dump/files/seal.js";
import { joinedRows, type RowFiles, type StagedRows } from "../dump/formats/format.js";
import { selectRows } from "../dump/formats/jsonl/sql.js";
import type { Kind } from "../rows/columns.js";
import { jsonText } from "../rows/exact-json.js";
import { addStatus } from "./add-status.js";
import { type HistoryKind, historyKinds } from "./history.js";
import { attachPrevious, keepPrevious, withPrevious } from "./previous-database.js";
import { recordChanges } from "./record-changes.js";
import type { RunFacts, RunRow, RunRows } from "./run-rows.js";
import { sortDocuments } from "./sort-documents.js";
import { createTables, tables } from "./tables.js";
import { createViews } from "./views.js";

/** Rows that DuckDB holds in memory before it compresses them; its own measure is 122,880, the least is 2,048. */
const groupRows = 32_768;

export interface BuildOptions extends DuckDbOptions {
  /** The database of earlier runs, if there is one; it is read, never changed. */
  readonly previous: string | undefined;
  /** The database to make; put in place by the caller. */
  readonly target: string;
  /** Readings of the indexing status that `kbdump status` left waiting. */
  readonly waiting: readonly RowFiles[];
}

/** Makes the database from the joined JSONL of a run that is not published yet. */
export async function buildFromStaged(staged: StagedRows & RunFacts, options: BuildOptions): Promise<void> {
  const select: RunRows["select"] = (kind) => {
    const files = joinedRows(staged, kind);
    return files && selectRows(kind, files, "JSON");
  };
  await buildDatabase({ ...staged, select }, options);
}

/**
 * Makes the database of the job anew beside the old one: what earlier runs know of documents that this run did not read, what
 * this run read, and the history of both. Somebody who has the old file open is not disturbed: it is copied first, so that no
 * lock on it is felt. Rejects with the error of DuckDB where rows cannot be loaded.
 */
export async function buildDatabase(run: RunRows, options: BuildOptions): Promise<void> {
  await rm(options.target, { force: true });
  await withPrevious(options.previous, options, async (previous) =>
    withDuckDb(":memory:", options, async (connection) => {
      await connection.run(`ATTACH ${sqlPath(options.target)} AS built (ROW_GROUP_SIZE ${groupRows}); USE built`);
      await createTables(connection);
      if (previous) await attachPrevious(connection, previous);
      await sortDocuments(connection, run, previous !== undefined);
      if (previous) await keepPrevious(connection, run);
      await addRun(connection, run, options.waiting);
      if (previous) await recordChanges(connection, run);
      if (previous) await connection.run("DETACH previous");
      await createViews(connection);
      await connection.run("CHECKPOINT");
    }),
  );
  await seal(options.target);
}

async function addRun(connection: Connection, run: RunRows, waiting: readonly RowFiles[]): Promise<void> {
  const id = sqlText(run.run.run_id);
  for (const kind of historyKinds) await addRows(connection, kind, run);
  await connection.run(`INSERT INTO documents SELECT *, ${id} FROM read_now`);
  if (run.select("document_info")) await connection.run(`INSERT INTO document_info SELECT *, ${id} FROM listed_now`);
  await connection.run(`INSERT INTO failed_reads SELECT ${id}, * FROM failed_now`);
  await replaceRows(connection, "metadata_fields", ["dataset_id"], run);
  await replaceRows(connection, "datasets", ["dataset_id"], run);
  await replaceRows(connection, "document_details", ["dataset_id", "document_id"], run);
  for (const file of waiting) await addStatus(connection, selectRows("indexing_status", file, "JSON"));
  const readings = run.select("indexing_status");
  if (readings) await addStatus(connection, readings);
  await addDocumentChanges(connection, run);
  await addRunRow(connection, run.run);
}

/** Adds the rows of a kind in place of those that earlier runs read of the same dataset or document. */
async function replaceRows(
  connection: Connection,
  kind: Kind,
  ids: readonly string[],
  { select, run }: RunRows,
): Promise<void> {
  const rows = select(kind);
  if (!rows) return;
  const same = ids.map((id) => `t.${id} = n.${id}`).join(" AND ");
  await connection.run(
    `DELETE FROM ${kind} t USING (SELECT DISTINCT ${ids.join(", ")} FROM (${rows})) n WHERE ${same}`,
  );
  await connection.run(`INSERT INTO ${kind} SELECT *, ${sqlText(run.run_id)} FROM (${rows})`);
}

/** The names of documents that are gone are those of their last rows. */
async function addDocumentChanges(connection: Connection, { run, documentChanges = [] }: RunRows): Promise<void> {
  if (documentChanges.length === 0) return;
  const types = sqlText('[{"change": "VARCHAR", "dataset_id": "VARCHAR", "document_id": "VARCHAR"}]');
  const statement = await connection.prepare(`INSERT INTO document_changes
    SELECT ${sqlText(run.run_id)}, change, dataset_id, document_id, name
    FROM (SELECT unnest(from_json($1::JSON, ${types}), recursive := true)) LEFT JOIN document_info USING (dataset_id, document_id)`);
  statement.bindVarchar(1, jsonText(documentChanges));
  await statement.run();
}

/** The rows of a kind, all of them; those of documents that keep an earlier state are taken out again. */
async function addRows(connection: Connection, kind: HistoryKind, { select, rows, run }: RunRows): Promise<void> {
  const [source, id] = [select(kind), sqlText(run.run_id)];
  const rowsChanged = source
    ? (await connection.run(`INSERT INTO ${kind} SELECT *, ${id} FROM (${source})`)).rowsChanged
    : 0;
  if (rowsChanged !== rows(kind)) throw new Error(`${kind} has ${rowsChanged} rows for ${rows(kind)}`);
  await connection.run(`DELETE FROM ${kind} c USING passed_over p
    WHERE c.run_id = ${id} AND c.dataset_id = p.dataset_id AND c.document_id = p.document_id`);
}

async function addRunRow(connection: Connection, run: RunRow): Promise<void> {
  const types = tables.runs?.columns.map(({ name, type }) => `"${name}": '${type}'`).join(", ");
  const statement = await connection.prepare(
    `INSERT INTO runs SELECT unnest(from_json($1::JSON, ${sqlText(`{${types}}`.replaceAll("'", '"'))}))`,
  );
  statement.bindVarchar(1, jsonText(run));
  await statement.run();
}
