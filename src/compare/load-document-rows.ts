import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText } from "../duckdb/sql.js";
import { type CheckedRows, checkRows, loadRows, type ReadRowsOptions } from "../dump/load.js";
import type { Dump } from "../dump/open-dump.js";
import { UsageError } from "../errors.js";
import type { ReadProgress } from "../read-progress.js";
import { jsonText } from "../rows/exact-json.js";
import { documentKey } from "../rows/row.js";
import { type ChunkWithChildren, childFromJson, chunkFromJson, type DocumentId, groupRows } from "./document-rows.js";

export interface LoadOptions {
  readonly signal: AbortSignal;
  /** Called with the bytes that are hashed. */
  readonly progress?: ReadProgress | undefined;
}

/** Reads the chunks of a document with their child chunks, in order: `chunksAtOnce` of them are in memory. */
export type ReadChunks = (document: DocumentId) => AsyncIterable<ChunkWithChildren>;

type RowKind = "chunks" | "child_chunks";

/** The columns that a restore looks at. */
const loaded: Readonly<Record<RowKind, readonly string[]>> = {
  chunks: [
    ...["id", "document_id", "position", "content", "answer", "keywords", "enabled", "status"],
    ...["created_by", "updated_by", "disabled_by", "created_at", "updated_at", "disabled_at", "attachments", "summary"],
  ],
  child_chunks: ["document_id", "segment_id", "id", "position", "content", "type", "created_at", "updated_at"],
};

/**
 * Loads the rows of some documents of a dump, whatever its format, into the tables `<name>_chunks` and `<name>_child_chunks`.
 * Several documents may be read at once. Texts are exactly those that the service sent. UsageError when no file of the dump has them so, StopError when a file is not as its run wrote it, or a document has
 * other than as many rows as the manifest says.
 */
export async function loadDocumentRows(
  connection: Connection,
  name: string,
  dump: Dump,
  documents: readonly DocumentId[],
  options: LoadOptions,
): Promise<ReadChunks> {
  await loadDocumentIds(connection, `${name}_documents`, documents);
  const places: Record<RowKind, RowRanges> = { chunks: new Map(), child_chunks: new Map() };
  for (const [kind, file] of await checkExactFiles(dump, options)) {
    const names = ["dataset_id", ...loaded[kind]].join(", ");
    await loadRows(connection, dump, file, {
      name: `${name}_${kind}`,
      statement: (rows) => `FROM (SELECT row_number() OVER () AS row, ${names} FROM ${rows})
        SEMI JOIN ${name}_documents USING (dataset_id, document_id)`,
      counted: documents,
    });
    places[kind] = await findRowRanges(connection, `${name}_${kind}`);
  }
  const inTurn = oneAtATime();
  return async function* (document) {
    const [first, last] = places.chunks.get(documentKey(document)) ?? [1, 0];
    const children = places.child_chunks.get(documentKey(document)) ?? [1, 0];
    const below = `FROM ${name}_child_chunks WHERE row BETWEEN ${children.join(" AND ")} AND ${ofDocument(document)}`;
    for (let row = first; row <= last; row += chunksAtOnce) {
      options.signal.throwIfAborted();
      const page = `FROM ${name}_chunks WHERE row BETWEEN ${row} AND ${Math.min(last, row + chunksAtOnce - 1)} AND ${ofDocument(document)}`;
      const chunks = await inTurn(() => readRows(connection, "chunks", page, chunkFromJson));
      const rows = await inTurn(() =>
        readRows(connection, "child_chunks", `${below} AND segment_id IN (SELECT id ${page})`, childFromJson),
      );
      const childrenOf = groupRows(rows, ({ segment_id }) => segment_id);
      for (const chunk of chunks) yield { ...chunk, children: childrenOf.get(chunk.id) ?? [] };
    }
  };
}

const chunksAtOnce = 500;

/** Gives a function that does one piece of work after the other, in the order of the calls: a connection runs one statement at a time. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = before.then(work);
    before = done.catch(() => {});
    return done;
  };
}

/** The first and the last row of each document, by `documentKey`. */
type RowRanges = ReadonlyMap<string, readonly [first: number, last: number]>;

/** Finds the place of each document in a table: DuckDB goes through those rows alone, and not through all for each document. */
async function findRowRanges(connection: Connection, table: string): Promise<RowRanges> {
  const found = await connection.runAndReadAll(
    `SELECT dataset_id, document_id, min(row)::VARCHAR, max(row)::VARCHAR FROM ${table} GROUP BY ALL`,
  );
  return new Map(
    found
      .getRowsJson()
      .map(([dataset_id, document_id, first, last]) => [
        documentKey({ dataset_id, document_id }),
        [Number(first), Number(last)],
      ]),
  );
}

/** The files of chunks and child chunks that have the texts as the service sent them, their bytes checked. */
export async function checkExactFiles(
  dump: Dump,
  options: LoadOptions & Pick<ReadRowsOptions, "exact">,
): Promise<readonly (readonly [RowKind, CheckedRows])[]> {
  const [chunks, children] = dump.tablesOf(["chunks", "child_chunks"]) ?? [];
  if (!chunks || !children) throw new UsageError(`${dump.folder} has no files with the exact texts of chunks`, []);
  return [
    ["chunks", await checkRows(dump, chunks, options)],
    ["child_chunks", await checkRows(dump, children, options)],
  ];
}

/** Makes a table of documents. */
export async function loadDocumentIds(
  connection: Connection,
  table: string,
  documents: readonly DocumentId[],
): Promise<void> {
  const ids = documents.map(({ dataset_id, document_id }) => ({ dataset_id, document_id }));
  const types = sqlText('[{"dataset_id": "VARCHAR", "document_id": "VARCHAR"}]');
  const statement = await connection.prepare(
    `CREATE TABLE ${table} AS SELECT DISTINCT * FROM (SELECT unnest(from_json($1::JSON, ${types}), recursive := true))`,
  );
  statement.bindVarchar(1, jsonText(ids));
  await statement.run();
}

/** Reads rows as JSON texts: the client takes a byte order mark off the start of a text, which a content may begin with. */
async function readRows<T>(
  connection: Connection,
  kind: RowKind,
  from: string,
  fromJson: (text: string) => T,
): Promise<readonly T[]> {
  const found = await connection.runAndReadAll(`SELECT ${rowJson(kind)} ${from} ORDER BY row`);
  return found.getRowsJson().map(([text]) => fromJson(String(text)));
}

/** SQL: a row as JSON text, for `chunkFromJson` and `childFromJson`. */
export function rowJson(kind: RowKind, table?: string): string {
  const of = table === undefined ? "" : `${table}.`;
  const members = loaded[kind].map(
    (name) => `'${name}': ${name.endsWith("_at") ? `epoch(${of}${name})` : `${of}"${name}"`}`,
  );
  return `to_json({${members.join(", ")}})::VARCHAR`;
}

/** SQL: the columns of a row that a restore looks at. */
export function rowColumns(kind: RowKind): string {
  return ["dataset_id", ...loaded[kind]].join(", ");
}

/** SQL: that a row is of a document. */
export function ofDocument({ dataset_id, document_id }: DocumentId, table?: string): string {
  const of = table === undefined ? "" : `${table}.`;
  return `${of}dataset_id = ${sqlText(dataset_id)} AND ${of}document_id = ${sqlText(document_id)}`;
}

/** That something is of a document. */
export function isOf(document: DocumentId): (other: DocumentId) => boolean {
  return (other) => other.dataset_id === document.dataset_id && other.document_id === document.document_id;
}
