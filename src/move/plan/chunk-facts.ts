import type { Connection } from "../../duckdb/open-duckdb.js";
import { sqlText } from "../../duckdb/sql-text.js";
import { checkRowCounts } from "../../dump/check-row-counts.js";
import type { Dump } from "../../dump/open-dump.js";
import type { DocumentId } from "../../restore/document-rows.js";
import { checkExactFiles, type LoadOptions, loadDocumentIds } from "../../restore/load-document-rows.js";

/** Every character that the trim() of JavaScript takes off, of which DuckDB's takes the space alone. */
const blanks = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => character.trim() === "",
);

/** SQL: whether a text has nothing but blanks; null has none, either. It agrees with `trim() === ""`. */
const isBlank = (text: string) => `ltrim(coalesce(${text}, ''), ${sqlText(blanks.join(""))}) = ''`;

/** SQL: characters of a text, as code points. */
const charactersOf = (text: string) => `length(coalesce(${text}, ''))`;

/**
 * Loads the facts of all chunks and child chunks of a dump, without any text, into the tables `chunk_facts` and `child_facts`. Whether
 * a row comes agrees with `canCome` and `childCanCome`; a child chunk comes with its chunk only. UsageError when no file of the dump has
 * the texts as the service sent them, StopError when a file is not as its run wrote it.
 */
export async function loadFacts(
  connection: Connection,
  dump: Dump,
  qaDocuments: readonly DocumentId[],
  options: LoadOptions,
): Promise<void> {
  await loadDocumentIds(connection, "qa_documents", qaDocuments);
  for (const [kind, file] of await checkExactFiles(dump, options)) {
    const rows = await dump.select({ ...file, longNumbers: false }, "VARCHAR"); // no number of them counts here
    await connection.run(kind === "chunks" ? chunkFacts(rows) : childFacts(rows)).catch((error: unknown) => {
      throw dump.unreadable(file, error);
    });
    await checkRowCounts(connection, kind === "chunks" ? "chunk_facts" : "child_facts", dump, file);
  }
}

/** SQL: the facts of chunks. `attachments` and `has_summary` are empty where the service shows an empty value, whatever kind. */
const chunkFacts = (rows: string) => `CREATE TABLE chunk_facts AS
  SELECT
    row, dataset_id, document_id, id,
    NOT ${isBlank("content")} AND (qa.document_id IS NULL OR NOT ${isBlank("answer")}) AS comes,
    enabled IS NOT DISTINCT FROM false AS disabled,
    ${charactersOf("content")} + ${charactersOf("answer")} AS characters,
    nullif(attachments, '[]') AS attachments,
    coalesce(summary, '') NOT IN ('', '{}', '[]') AS has_summary
  FROM (SELECT row_number() OVER () AS row, * FROM (${rows})) AS chunk
  LEFT JOIN qa_documents AS qa USING (dataset_id, document_id)`;

/** SQL: the facts of child chunks; `is_orphan`: its chunk does not come. */
const childFacts = (rows: string) => `CREATE TABLE child_facts AS
  WITH lost AS (SELECT DISTINCT dataset_id, document_id, id AS segment_id FROM chunk_facts WHERE NOT comes)
  SELECT
    dataset_id, document_id,
    lost.segment_id IS NOT NULL AS is_orphan,
    NOT is_orphan AND NOT ${isBlank("content")} AS comes,
    ${charactersOf("content")} AS characters
  FROM (${rows}) AS child
  LEFT JOIN lost USING (dataset_id, document_id, segment_id)`;
