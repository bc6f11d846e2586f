import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText, sqlTypes } from "../duckdb/sql.js";
import type { StagedRows } from "../dump/formats/format.js";
import { type ChangeName, type Column, changeNames, columns, type Kind, namesWith } from "../rows/columns.js";

interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly about: string;
  readonly unit?: string | undefined;
  /** The compression of the column; absent: DuckDB chooses. */
  readonly compression?: string;
}

interface Table {
  readonly about: string;
  readonly columns: readonly TableColumn[];
}

const runId: TableColumn = { name: "run_id", type: "VARCHAR", about: "the run that read this row" };

const sqlColumn = ({ name, type, about, unit }: Column): TableColumn => ({ name, type: sqlTypes[type], about, unit });
const state = (kind: Kind, about: string): Table => ({ about, columns: [...columns[kind].map(sqlColumn), runId] });
const column = (name: string, type: string, about: string, unit?: string): TableColumn => ({ name, type, about, unit });

const readRun = column("run_id", "VARCHAR", "the run that saw the change");

/**
 * A column of a table of changes, with a fixed compression for texts. By default, DuckDB chooses the compression by a sample of rows.
 * Few rows have texts here, so it may leave them uncompressed.
 */
const compressed = (each: Column): TableColumn =>
  each.long ? { ...sqlColumn(each), compression: "fsst" } : sqlColumn(each);

/** A table of changes. Besides its own columns, it has those of the kind, with the old values. */
const changes = (kind: HistoryKind, about: string): Table => ({
  about,
  columns: [
    readRun,
    column("change", "VARCHAR", `added, removed, ${histories[kind].changes.map(([name]) => name).join(", ")} or other`),
    column("differs", "VARCHAR[]", "columns that changed; null for an added or removed row"),
    column("lineage", "BIGINT", "a number that the row keeps through all of its changes, even if it gets a new id"),
    column("older_run_id", "VARCHAR", "the run that had read the document before"),
    column(
      "lost",
      "VARCHAR[]",
      "what was lost together with the id of the row: text, keywords, disabled; null if nothing; see the view lost_texts",
    ),
    column(
      "manual_edit",
      "VARCHAR",
      "for a lost row, what a person had done: edited, added, disabled, customized; null without evidence",
    ),
    ...histories[kind].ids.map((id) => column(`new_${id}`, "VARCHAR", `${id} after a re-index that replaced it`)),
    ...columns[kind].map(compressed),
  ],
});

export const histories: Readonly<Record<HistoryKind, History>> = {
  chunks: historyOf("chunks", "chunk_changes"),
  child_chunks: historyOf("child_chunks", "child_chunk_changes"),
};

/** The tables of `<job>.duckdb`, by name. */
export const tables: Readonly<Record<string, Table>> = {
  chunks: state("chunks", "the newest good state of every chunk that the job ever read"),
  child_chunks: state("child_chunks", "the newest good state of every child chunk; segment_id is chunks.id"),
  documents: state("documents", "every document that was read, as of its newest complete read"),
  metadata_fields: state("metadata_fields", "the built-in metadata fields of every dataset"),
  document_info: state("document_info", "what the service last listed for every document"),
  datasets: state("datasets", "the latest settings of every dataset, from runs with details"),
  document_details: state("document_details", "how every document was made, from the latest run that read its details"),
  indexing_status: {
    about: "every recorded indexing status of the batches; grows with every run and every kbdump status",
    columns: columns.indexing_status.map(sqlColumn),
  },
  runs: {
    about: "a row per run",
    columns: [
      column("run_id", "VARCHAR", "UTC time that sorts; the name of the run folder"),
      column("status", "VARCHAR", "complete or partial"),
      column("started_at", sqlTypes.time, "when the run began; for a resumed run, when its first process began", "UTC"),
      column(
        "finished_at",
        sqlTypes.time,
        "when everything was read; files are written and published after that",
        "UTC",
      ),
      column("base_url", "VARCHAR", "the service"),
      column("tool_version", "VARCHAR", "the version of kbdump"),
      column("documents", "BIGINT", "documents of the run, including failed ones"),
      column("chunks", "BIGINT", "chunks read"),
      column("child_chunks", "BIGINT", "child chunks read"),
      column("requests_sent", "BIGINT", "requests, including retries"),
      column("requests_retried", "BIGINT", "requests sent again"),
      column("warnings", "VARCHAR[]", "warnings of the run"),
      column(
        "changes",
        "BIGINT",
        "rows of this run in chunk_changes and child_chunk_changes; null: changes were not recorded",
      ),
    ],
  },
  chunk_changes: changes(
    "chunks",
    "a row per chunk that a run found added, removed or changed, with its values before: all of them if it was removed or its text changed, otherwise those that differ",
  ),
  child_chunk_changes: changes(
    "child_chunks",
    "a row per child chunk that a run found added, removed or changed, in the same form",
  ),
  failed_reads: {
    about: "a row per document that a run could not read completely; its earlier state is kept",
    columns: [column("run_id", "VARCHAR", "the run that could not read it"), ...columns.documents.map(sqlColumn)],
  },
  document_changes: {
    about: "a row per document that a run found new or no longer listed, compared with the previous run",
    columns: [
      column("run_id", "VARCHAR", "the run that saw the change"),
      column("change", "VARCHAR", "new or vanished"),
      column("dataset_id", "VARCHAR", "the dataset (knowledge base)"),
      column("document_id", "VARCHAR", "the document; the last state of a vanished one stays in the other tables"),
      column("name", "VARCHAR", "the name of the document, as last listed"),
    ],
  },
};

/** The comments on the named columns of a table, or on all columns. */
export function commentsOf(table: string, ...names: readonly string[]): Readonly<Record<string, string>> {
  const found = tables[table]?.columns ?? [];
  const wanted = found.filter(({ name }) => names.length === 0 || names.includes(name));
  return Object.fromEntries(wanted.map((each) => [each.name, commentOf(each)]));
}

/** The meaning of a column, with its unit. */
function commentOf({ about, unit }: TableColumn): string {
  return unit === undefined ? about : `${about} (${unit})`;
}

/** Creates the tables with comments. */
export async function createTables(connection: Connection): Promise<void> {
  const statements = Object.entries(tables).flatMap(([name, { about, columns }]) => [
    createTable(name, columns),
    `COMMENT ON TABLE ${name} IS ${sqlText(about)}`,
    ...columns.map((each) => `COMMENT ON COLUMN ${name}."${each.name}" IS ${sqlText(commentOf(each))}`),
  ]);
  await connection.run(["BEGIN", ...statements, "COMMIT"].join(";\n"));
}

/** The names of the tables of a database, also of those that a user created. */
export async function tablesIn(connection: Connection): Promise<readonly string[]> {
  const found = await connection.runAndReadAll("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'");
  return found.getRowsJson().map(([name]) => String(name));
}

/** SQL: creates a table if it does not exist. */
function createTable(name: string, columns: readonly TableColumn[]): string {
  return `CREATE TABLE IF NOT EXISTS ${name} (${columns.map(definition).join(", ")})`;
}

function definition({ name, type, compression }: TableColumn): string {
  return `"${name}" ${type}${compression ? ` USING COMPRESSION ${compression}` : ""}`;
}

export type HistoryKind = "chunks" | "child_chunks";

export const historyKinds: readonly HistoryKind[] = ["chunks", "child_chunks"];

/** How changes to the rows of a kind are stored. */
interface History {
  readonly table: string;
  /** Id columns that a re-index fills with new values. A change has the old values, and the current ones in `new_…`. */
  readonly ids: readonly string[];
  /** The columns to compare between runs. */
  readonly compared: readonly Column[];
  /** Names of changes. The first name with a differing column is used, otherwise `other`. */
  readonly changes: readonly (readonly [change: ChangeName, columns: readonly string[]])[];
}

/** The history of a kind, derived from the roles of its columns. */
function historyOf(kind: HistoryKind, table: string): History {
  const changed = (change: ChangeName) =>
    columns[kind].filter((each) => each.change === change).map(({ name }) => name);
  return {
    table,
    ids: namesWith(kind, "parent", "id"),
    compared: columns[kind].filter(({ role }) => role !== "document"),
    changes: changeNames.map((change) => [change, changed(change)] as const).filter(([, names]) => names.length > 0),
  };
}

/** SQL: the condition that two tables have the same row, by its ids. */
export function sameRow(kind: HistoryKind, left: string, right: string): string {
  const names = ["dataset_id", "document_id", ...histories[kind].ids];
  return names.map((name) => `${left}.${name} = ${right}.${name}`).join(" AND ");
}

/** The facts about a run that the database needs, besides its rows. */
export interface RunFacts {
  readonly run: RunRow;
  /** Whether the run read no child chunks, so that those of earlier runs remain. */
  readonly withoutChildren?: boolean;
  /** Documents that are new or gone; absent if the service was not asked for its documents. */
  readonly documentChanges?: readonly DocumentChange[] | undefined;
}

/** The rows of a run, selected by SQL from its staged files or from a published dump. */
export interface RunRows extends RunFacts, Pick<StagedRows, "rows"> {
  /** SQL that selects the rows of a kind, with the columns and types of its table; undefined if the run has none. */
  readonly select: (kind: Kind) => string | undefined;
}

/** A document that is new since an earlier run, or that the service no longer lists. */
export interface DocumentChange {
  readonly change: "new" | "vanished";
  readonly dataset_id: string;
  readonly document_id: string;
}

/** A run as a row of the table `runs`. Times are ISO strings. */
export interface RunRow {
  readonly run_id: string;
  readonly status: "complete" | "partial";
  readonly started_at: string;
  readonly finished_at: string;
  readonly base_url: string;
  readonly tool_version: string;
  readonly documents: number;
  readonly chunks: number;
  readonly child_chunks: number;
  readonly requests_sent: number;
  readonly requests_retried: number;
  readonly warnings: readonly string[];
}
