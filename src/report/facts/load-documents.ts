import type { Connection } from "../../duckdb/open-duckdb.js";
import type { Dump } from "../../dump/open-dump.js";
import type { MakeTable } from "./open-rows.js";
import { contentSql, shortSql } from "./sql-cells.js";

/**
 * Makes the tables `documents`, of the manifest and with names, and `document_info`, of what the service lists. Without content, names
 * and errors are null.
 */
export async function loadDocuments(
  connection: Connection,
  make: MakeTable,
  dump: Dump,
  content: boolean,
): Promise<void> {
  const cell = (column: string, name: string) => contentSql(content, column, name);
  const states = ["indexing_status", "display_status"].map((name) => shortSql(name)).join(", ");
  await make(
    "listed",
    "document_info",
    (rows) => `SELECT dataset_id, document_id, ${states}, enabled, archived, ${cell("dataset_name", "dataset_name")},
      ${cell("name", "document_name")} FROM ${rows}`,
  );
  await make(
    "detailed",
    "document_details",
    (rows) => `SELECT dataset_id, document_id, ${cell("name", "document_name")} FROM ${rows}`,
  );
  await make("described", "datasets", (rows) => `SELECT dataset_id, ${cell("name", "dataset_name")} FROM ${rows}`);
  await connection.run(`CREATE VIEW document_info AS SELECT * EXCLUDE (dataset_name, document_name) FROM listed`);
  await appendDocuments(connection, dump);
  await connection.run(`CREATE TABLE documents AS
    SELECT m.* REPLACE (${cell("m.error", "error")}), coalesce(l.dataset_name, s.dataset_name) AS dataset_name, coalesce(l.document_name, d.document_name) AS document_name
    FROM read_documents m
    LEFT JOIN (${firstOf("listed", "dataset_id, document_id")}) l USING (dataset_id, document_id)
    LEFT JOIN (${firstOf("detailed", "dataset_id, document_id")}) d USING (dataset_id, document_id)
    LEFT JOIN (${firstOf("described", "dataset_id")}) s USING (dataset_id)
    ORDER BY m.nr`);
}

/** SQL: one row for each key. */
function firstOf(table: string, key: string): string {
  return `FROM ${table} QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY rowid) = 1`;
}

/** Makes the table `read_documents` of the documents of the manifest, in their order. */
async function appendDocuments(connection: Connection, { manifest }: Dump): Promise<void> {
  await connection.run(`CREATE TABLE read_documents (nr BIGINT, dataset_id VARCHAR, document_id VARCHAR, doc_form VARCHAR,
    status VARCHAR, total BIGINT, chunk_count BIGINT, child_chunk_count BIGINT, error VARCHAR)`);
  const appender = await connection.createAppender("read_documents");
  const append = {
    text: (value: string | null) => (value === null ? appender.appendNull() : appender.appendVarchar(value)),
    count: (value: number | null) => (value === null ? appender.appendNull() : appender.appendBigInt(BigInt(value))),
  };
  try {
    for (const [nr, row] of manifest.documents.entries()) {
      append.count(nr);
      for (const text of [row.dataset_id, row.document_id, row.doc_form, row.status]) append.text(text);
      for (const count of [row.total, row.chunk_count, row.child_chunk_count]) append.count(count);
      append.text(row.error);
      appender.endRow();
    }
  } finally {
    appender.closeSync();
  }
}
