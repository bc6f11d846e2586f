import {
  type ChunkWithChildren,
  childFromJson,
  chunkFromJson,
  type DocumentId,
  groupRows,
} from "../../compare/document-rows.js";
import { loadDocumentIds, ofDocument, rowJson } from "../../compare/load-document-rows.js";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf } from "../../duckdb/read-rows.js";
import { documentKey } from "../../rows/row.js";

/** A document of a dump with its form. */
export interface FormedDocument extends DocumentId {
  readonly form: string;
}

/** SQL: whether a text is blank, by the definition of JavaScript's `trim`. */
const isBlank = (text: string) => `regexp_full_match(coalesce(${text}, ''), '[\\t-\\r \\x{FEFF}\\p{Z}]*')`;

/**
 * SQL: whether the service refuses a chunk: without content, or, in documents of the table `questions`, without an answer
 * (400 of POST segments). Plan, writes and proof all use this condition.
 */
export const isRefused = `(${isBlank("content")} OR ${isBlank("answer")}
  AND (dataset_id, document_id) IN (SELECT (dataset_id, document_id) FROM questions))`;

/** Like `isRefused`, for a child chunk. */
export const isRefusedChild = isBlank("content");

/** Makes the table `questions` of the qa_model documents. */
export function loadQuestions(connection: Connection, documents: readonly FormedDocument[]): Promise<void> {
  const questions = documents.filter(({ form }) => form === "qa_model");
  return loadDocumentIds(connection, "questions", questions);
}

/** Drops rows that cannot be copied from the tables of `loadDocumentRows`. A child chunk is copied only with its chunk. */
export async function keepComing(
  connection: Connection,
  name: string,
  documents: readonly FormedDocument[],
): Promise<void> {
  await loadQuestions(connection, documents);
  await connection.run(`DELETE FROM ${name}_chunks WHERE ${isRefused};
    DELETE FROM ${name}_child_chunks WHERE ${isRefusedChild}
      OR row NOT IN (SELECT k.row FROM ${name}_child_chunks k SEMI JOIN ${name}_chunks c
        ON c.dataset_id = k.dataset_id AND c.document_id = k.document_id AND c.id = k.segment_id)`);
}

/** Reads the chunks of a document with their child chunks, in order. Several documents may be read at once. */
export type ReadChunks = (document: DocumentId) => AsyncIterable<ChunkWithChildren>;

/** Returns a function that reads chunks from the tables of `loadDocumentRows`, with `chunksAtOnce` per document in memory. */
export async function chunkReader(connection: Connection, name: string, signal: AbortSignal): Promise<ReadChunks> {
  const chunkRows = await findRowRanges(connection, `${name}_chunks`);
  const childRows = await findRowRanges(connection, `${name}_child_chunks`);
  const inTurn = oneAtATime();
  const read = async <T>(kind: "chunks" | "child_chunks", from: string, fromJson: (text: string) => T) => {
    const found = await inTurn(() => connection.runAndReadAll(`SELECT ${rowJson(kind)} ${from} ORDER BY row`));
    return found.getRowsJson().map(([text]) => fromJson(String(text)));
  };
  return async function* (document) {
    const [first, last] = chunkRows.get(documentKey(document)) ?? noRange;
    const range = (childRows.get(documentKey(document)) ?? noRange).join(" AND ");
    const below = `FROM ${name}_child_chunks WHERE row BETWEEN ${range} AND ${ofDocument(document)}`;
    for (let row = first; row <= last; row += chunksAtOnce) {
      signal.throwIfAborted();
      const end = Math.min(last, row + chunksAtOnce - 1);
      const page = `FROM ${name}_chunks WHERE row BETWEEN ${row} AND ${end} AND ${ofDocument(document)}`;
      const chunks = await read("chunks", page, chunkFromJson);
      const children = await read("child_chunks", `${below} AND segment_id IN (SELECT id ${page})`, childFromJson);
      const childrenOf = groupRows(children, ({ segment_id }) => segment_id);
      for (const chunk of chunks) yield { ...chunk, children: childrenOf.get(chunk.id) ?? [] };
    }
  };
}

const chunksAtOnce = 500;

/** The first and last row of a document; `noRange` if it has no rows. */
type RowRange = readonly [first: number, last: number];
const noRange: RowRange = [1, 0];

/** Finds each document's rows in a table, by `documentKey`, so that DuckDB scans only those rows. */
async function findRowRanges(connection: Connection, table: string): Promise<ReadonlyMap<string, RowRange>> {
  const sql = `SELECT dataset_id, document_id, min(row) AS first, max(row) AS last FROM ${table} GROUP BY ALL`;
  const found = await rowsOf(connection, sql);
  return new Map(found.map((row) => [documentKey(row), [Number(row.first), Number(row.last)]]));
}

/** Returns a function that runs work one at a time, because a connection runs one statement at a time. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = before.then(work);
    before = done.catch(() => {});
    return done;
  };
}
