import { rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { jsonText } from "../normalise/json-text.js";
import { type DuckDbOptions, sqlText, withDuckDb } from "./duckdb-open.js";
import { keepPrevious, withPrevious } from "./duckdb-previous.js";
import { selectFromJsonl } from "./duckdb-read.js";
import { addStatus } from "./duckdb-status.js";
import { createTables, tables } from "./duckdb-tables.js";
import { seal } from "./seal.js";
import type { JsonlFile, RunRow, Sink, Stage } from "./sink.js";

export interface DuckDbSinkOptions extends DuckDbOptions {
  /** The database of earlier runs, if there is one; it is read, never changed. */
  readonly previous: string | undefined;
  /** The database to make; put in place by the caller. */
  readonly target: string;
  /** Readings of the indexing status that `kbdump status` left waiting. */
  readonly waiting: readonly JsonlFile[];
}

/**
 * The database of the job, made anew beside the old one: what earlier runs know of documents that this run did not read,
 * what this run read, and the history of both. Somebody who has the old file open is not disturbed: it is copied first,
 * so that no lock on it is felt.
 */
export function duckDbSink(options: DuckDbSinkOptions): Sink {
  return {
    format: "duckdb",
    finish: async (stage) => {
      await rm(options.target, { force: true });
      await withPrevious(options.previous, options, async (previous) =>
        withDuckDb(options.target, options, async (connection) => {
          await createTables(connection);
          await readDocuments(connection, stage);
          if (previous) await keepPrevious(connection, previous, stage.run.run_id);
          await addRun(connection, stage, options.waiting);
          await connection.run("CHECKPOINT");
        }),
      );
      await seal(options.target);
      return [];
    },
  };
}

/**
 * read_now: the documents that this run read well, whose older rows make way; a failed document keeps its rows. listed_now:
 * what the service listed, if it was asked.
 */
async function readDocuments(connection: DuckDBConnection, { jsonl }: Stage): Promise<void> {
  const select = selectFromJsonl("documents", jsonl.documents);
  await connection.run(
    `CREATE TEMP TABLE read_now AS SELECT * FROM (${select}) WHERE status IS DISTINCT FROM 'failed'`,
  );
  const listed = jsonl.document_info ? `(${selectFromJsonl("document_info", jsonl.document_info)})` : "document_info";
  await connection.run(`CREATE TEMP TABLE listed_now AS FROM ${listed}`);
}

async function addRun(connection: DuckDBConnection, stage: Stage, waiting: readonly JsonlFile[]): Promise<void> {
  const id = sqlText(stage.run.run_id);
  for (const kind of ["chunks", "child_chunks"] as const) {
    const select = selectFromJsonl(kind, stage.jsonl[kind]);
    const { rowsChanged } = await connection.run(`INSERT INTO ${kind} SELECT *, ${id} FROM (${select})`);
    if (rowsChanged !== stage.rows(kind)) throw new Error(`${kind} has ${rowsChanged} rows for ${stage.rows(kind)}`);
  }
  await connection.run(`INSERT INTO documents SELECT *, ${id} FROM read_now`);
  if (stage.jsonl.document_info) await connection.run(`INSERT INTO document_info SELECT *, ${id} FROM listed_now`);
  const fields = selectFromJsonl("metadata_fields", stage.jsonl.metadata_fields);
  await connection.run(`DELETE FROM metadata_fields WHERE dataset_id IN (SELECT dataset_id FROM (${fields}))`);
  await connection.run(`INSERT INTO metadata_fields SELECT *, ${id} FROM (${fields})`);
  for (const file of [...waiting, stage.jsonl.indexing_status]) await addStatus(connection, file);
  await addDocumentChanges(connection, stage);
  await addRunRow(connection, stage.run);
}

/** The names of documents that are gone are those of their last rows. */
async function addDocumentChanges(connection: DuckDBConnection, { run, documentChanges = [] }: Stage): Promise<void> {
  if (documentChanges.length === 0) return;
  const types = sqlText('[{"change": "VARCHAR", "dataset_id": "VARCHAR", "document_id": "VARCHAR"}]');
  const statement = await connection.prepare(`INSERT INTO document_changes
    SELECT ${sqlText(run.run_id)}, change, dataset_id, document_id, name
    FROM (SELECT unnest(from_json($1::JSON, ${types}), recursive := true)) LEFT JOIN document_info USING (dataset_id, document_id)`);
  statement.bindVarchar(1, jsonText(documentChanges));
  await statement.run();
}

async function addRunRow(connection: DuckDBConnection, run: RunRow): Promise<void> {
  const types = tables.runs?.columns.map(({ name, type }) => `"${name}": '${type}'`).join(", ");
  const statement = await connection.prepare(
    `INSERT INTO runs SELECT unnest(from_json($1::JSON, ${sqlText(`{${types}}`.replaceAll("'", '"'))}))`,
  );
  statement.bindVarchar(1, jsonText(run));
  await statement.run();
}
