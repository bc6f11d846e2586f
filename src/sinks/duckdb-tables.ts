import type { DuckDBConnection } from "@duckdb/node-api";
import { type Column, columns, type Kind } from "../normalise/columns.js";
import { sqlText } from "./duckdb-open.js";
import { sqlTypes } from "./duckdb-read.js";

interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

interface Table {
  readonly about: string;
  readonly columns: readonly TableColumn[];
}

const runId: TableColumn = { name: "run_id", type: "VARCHAR", about: "the run that read this row" };

const sqlColumn = ({ name, type, about }: Column): TableColumn => ({ name, type: sqlTypes[type], about });
const state = (kind: Kind, about: string): Table => ({ about, columns: [...columns[kind].map(sqlColumn), runId] });
const column = (name: string, type: string, about: string): TableColumn => ({ name, type, about });

/** The tables of `<job>.duckdb`, by name. */
export const tables: Readonly<Record<string, Table>> = {
  chunks: state("chunks", "the newest good state of every chunk that the job ever read"),
  child_chunks: state("child_chunks", "the newest good state of every child chunk; segment_id is chunks.id"),
  documents: state("documents", "every document that was read, as of its newest good read"),
  metadata_fields: state("metadata_fields", "the built-in metadata fields of every dataset"),
  document_info: state(
    "document_info",
    "what the service lists of every document that it was asked for, as of the last time",
  ),
  indexing_status: {
    about: "every reading of the indexing status of the batches; grows with every run and every kbdump status",
    columns: columns.indexing_status.map(sqlColumn),
  },
  runs: {
    about: "a row per run",
    columns: [
      column("run_id", "VARCHAR", "UTC time that sorts; the name of the run folder"),
      column("status", "VARCHAR", "complete or partial"),
      column("started_at", "TIMESTAMP", "when the run began, UTC"),
      column("finished_at", "TIMESTAMP", "when everything was read, UTC"),
      column("base_url", "VARCHAR", "the service"),
      column("tool_version", "VARCHAR", "the kbdump that ran"),
      column("documents", "BIGINT", "documents of the run, failed ones included"),
      column("chunks", "BIGINT", "chunks read"),
      column("child_chunks", "BIGINT", "child chunks read"),
      column("requests_sent", "BIGINT", "requests, repeated ones included"),
      column("requests_retried", "BIGINT", "requests sent again"),
      column("warnings", "VARCHAR[]", "what was not as it should be"),
    ],
  },
  chunk_changes: {
    about: "a row per chunk that a run added, removed or changed, with what it was before; empty in this version",
    columns: [
      column("run_id", "VARCHAR", "the run that saw the change"),
      column("change", "VARCHAR", "added, removed or changed"),
      ...columns.chunks.map(sqlColumn),
    ],
  },
  document_changes: {
    about: "a row per document that a run found to be new, or not listed any more, compared with the run before",
    columns: [
      column("run_id", "VARCHAR", "the run that saw the change"),
      column("change", "VARCHAR", "new or vanished"),
      column("dataset_id", "VARCHAR", "the dataset (knowledge base)"),
      column("document_id", "VARCHAR", "the document; what was last read of a vanished one stays in the other tables"),
      column("name", "VARCHAR", "the name of the document, as it was listed last"),
    ],
  },
};

/** Makes the tables and columns that are not there yet, each with a comment. */
export async function createTables(connection: DuckDBConnection): Promise<void> {
  const statements = Object.entries(tables).flatMap(([name, table]) => [
    `CREATE TABLE IF NOT EXISTS ${name} (${table.columns.map((each) => `"${each.name}" ${each.type}`).join(", ")})`,
    `COMMENT ON TABLE ${name} IS ${sqlText(table.about)}`,
    ...table.columns.map((each) => `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS "${each.name}" ${each.type}`),
    ...table.columns.map((each) => `COMMENT ON COLUMN ${name}."${each.name}" IS ${sqlText(each.about)}`),
  ]);
  await connection.run(["BEGIN", ...statements, "COMMIT"].join(";\n"));
}
