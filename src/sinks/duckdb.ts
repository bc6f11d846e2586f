import { constants, copyFile, rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type DuckDbOptions, sqlText, withDuckDb } from "./duckdb-open.js";
import { selectFromJsonl } from "./duckdb-read.js";
import { addStatus } from "./duckdb-status.js";
import { createTables, tables } from "./duckdb-tables.js";
import { flush } from "./flush.js";
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
      await withCopy(options.previous, `${options.target}.previous`, (previous) =>
        withDuckDb(options.target, options, async (connection) => {
          await createTables(connection);
          await readDocuments(connection, stage);
          if (previous) await keepPrevious(connection, previous);
          await addRun(connection, stage, options.waiting);
          await connection.run("DROP TABLE read_now");
          await connection.run("CHECKPOINT");
        }),
      );
      await flush(options.target);
      return [];
    },
  };
}

/** Runs `work` with a copy of a database that others may have open, and removes the copy. */
async function withCopy(path: string | undefined, copy: string, work: (copy?: string) => Promise<void>): Promise<void> {
  if (path === undefined) return work();
  await copyFile(path, copy, constants.COPYFILE_FICLONE);
  try {
    await work(copy);
  } finally {
    await rm(copy, { force: true });
  }
}

/** read_now: the documents that this run read well, whose older rows make way; a failed document keeps its rows. */
async function readDocuments(connection: DuckDBConnection, stage: Stage): Promise<void> {
  const select = selectFromJsonl("documents", stage.jsonl.documents);
  await connection.run(`CREATE TABLE read_now AS SELECT * FROM (${select}) WHERE status <> 'failed'`);
}

const ofDocument = "NOT EXISTS (FROM read_now n WHERE n.dataset_id = p.dataset_id AND n.document_id = p.document_id)";

async function keepPrevious(connection: DuckDBConnection, previous: string): Promise<void> {
  await connection.run(`ATTACH ${sqlText(previous)} AS previous (READ_ONLY)`);
  const found = await connection.runAndReadAll("SELECT table_name FROM duckdb_tables() WHERE database_name = 'previous'");
  const known = new Set(found.getRowsJson().map(([name]) => name));
  for (const name of Object.keys(tables).filter((table) => known.has(table))) {
    const kept = ["chunks", "child_chunks", "documents"].includes(name) ? `WHERE ${ofDocument}` : "";
    await connection.run(`INSERT INTO ${name} BY NAME SELECT * FROM previous.${name} p ${kept}`);
  }
  await connection.run("DETACH previous");
}

async function addRun(connection: DuckDBConnection, stage: Stage, waiting: readonly JsonlFile[]): Promise<void> {
  const id = sqlText(stage.run.run_id);
  for (const kind of ["chunks", "child_chunks"] as const) {
    await connection.run(`INSERT INTO ${kind} SELECT *, ${id} FROM (${selectFromJsonl(kind, stage.jsonl[kind])})`);
  }
  await connection.run(`INSERT INTO documents SELECT *, ${id} FROM read_now`);
  const fields = selectFromJsonl("metadata_fields", stage.jsonl.metadata_fields);
  await connection.run(`DELETE FROM metadata_fields WHERE dataset_id IN (SELECT dataset_id FROM (${fields}))`);
  await connection.run(`INSERT INTO metadata_fields SELECT *, ${id} FROM (${fields})`);
  for (const file of [...waiting, stage.jsonl.indexing_status]) await addStatus(connection, file);
  await addRunRow(connection, stage.run);
}

async function addRunRow(connection: DuckDBConnection, run: RunRow): Promise<void> {
  const types = tables.runs?.columns.map(({ name, type }) => `"${name}": '${type}'`).join(", ");
  const statement = await connection.prepare(`INSERT INTO runs SELECT unnest(from_json($1::JSON, ${sqlText(`{${types}}`.replaceAll("'", '"'))}))`);
  statement.bindVarchar(1, JSON.stringify(run));
  await statement.run();
}
