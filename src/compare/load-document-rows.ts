import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText } from "../duckdb/sql.js";
import { type CheckedRows, checkRows, loadRows, type ReadRowsOptions } from "../dump/load.js";
import type { Dump } from "../dump/open-dump.js";
import { UsageError } from "../errors.js";
import type { ReadProgress } from "../read-progress.js";
import { jsonText } from "../rows/exact-json.js";
import { documentKey } from "../rows/row.js";
import {
  type ChildRow,
  type ChunkRow,
  childFromJson,
  chunkFromJson,
  type DocumentId,
  type DocumentProvenance,
  type DocumentRows,
  membersOf,
  numberIn,
  textIn,
} from "./document-rows.js";

export interface LoadOptions {
  readonly signal: AbortSignal;
  /** Called with the bytes that are hashed. */
  readonly progress?: ReadProgress | undefined;
}

/** Reads the rows of one document; there are none of a document that the dump does not have. */
export type ReadDocumentRows = (document: DocumentId) => Promise<DocumentRows>;

type RowKind = "chunks" | "child_chunks";

/** The columns that a restore looks at. */
const loaded: Readonly<Record<RowKind, readonly string[]>> = {
  chunks: [
    ...["id", "document_id", "position", "content", "answer", "keywords", "enabled", "status"],
    ...["updated_by", "disabled_by", "created_at", "attachments", "summary"],
  ],
  child_chunks: ["document_id", "segment_id", "id", "position", "content", "type", "created_at"],
};

/**
 * Loads the rows of some documents of a dump, whatever its format, into the tables `<name>_chunks` and `<name>_child_chunks`. The
 * function that it gives reads one document at a time: no more than that is in the memory of Node. Texts are exactly those that
 * the service sent. UsageError when no file of the dump has them so, StopError when a file is not as its run wrote it, or a document has
 * other than as many rows as the manifest says.
 */
export async function loadDocumentRows(
  connection: Connection,
  name: string,
  dump: Dump,
  documents: readonly DocumentId[],
  options: LoadOptions,
): Promise<ReadDocumentRows> {
  await loadDocumentIds(connection, `${name}_documents`, documents);
  const forms = new Map(dump.manifest.documents.map((document) => [documentKey(document), document.doc_form]));
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
  await loadDetails(connection, `${name}_details`, dump, options, `${name}_documents`);
  const provenances = await readProvenances(connection, `${name}_details`);
  return async ({ dataset_id, document_id }) => {
    options.signal.throwIfAborted();
    const document = { dataset_id, document_id };
    const key = documentKey(document);
    const read = <T>(kind: RowKind, fromJson: (text: string) => T): Promise<readonly T[]> =>
      readRows(connection, `${name}_${kind}`, kind, document, places[kind].get(key), fromJson);
    const chunks: readonly ChunkRow[] = await read("chunks", chunkFromJson);
    const children: readonly ChildRow[] = await read("child_chunks", childFromJson);
    return {
      ...document,
      doc_form: forms.get(key) ?? null,
      ...(provenances.get(key) ?? noProvenance),
      chunks,
      children,
    };
  };
}

const noProvenance: DocumentProvenance = { source: null, indexed_at: null };

/** Makes a table of the details that tell how documents were made; it is empty where the dump has none. `documents`: a table of those wanted. */
export async function loadDetails(
  connection: Connection,
  table: string,
  dump: Dump,
  { signal }: LoadOptions,
  documents?: string,
): Promise<void> {
  const names = "dataset_id, document_id, data_source_info, process_rule, completed_at";
  await connection.run(`CREATE TABLE ${table} (dataset_id VARCHAR, document_id VARCHAR, data_source_info VARCHAR,
    process_rule VARCHAR, completed_at TIMESTAMPTZ)`);
  const [file] = dump.tablesOf(["document_details"], { guarded: true }) ?? [];
  if (!file) return;
  const rows = await checkRows(dump, file, { signal });
  const wanted = documents === undefined ? "" : `SEMI JOIN ${documents} USING (dataset_id, document_id)`;
  await connection.run(`INSERT INTO ${table} SELECT ${names} FROM ${rows.sql} ${wanted}`);
}

/** How the documents of a dump were made, by `documentKey`, from their details. */
async function readProvenances(
  connection: Connection,
  details: string,
): Promise<ReadonlyMap<string, DocumentProvenance>> {
  const found = await connection.runAndReadAll(
    `SELECT dataset_id, document_id,
      to_json({'info': data_source_info, 'rule': process_rule, 'time': epoch(completed_at)})::VARCHAR FROM ${details}`,
  );
  return new Map(
    found.getRowsJson().map(([dataset_id, document_id, json]) => {
      const { info, rule, time }: { info?: unknown; rule?: unknown; time?: unknown } = JSON.parse(String(json));
      const key = documentKey({ dataset_id: String(dataset_id), document_id: String(document_id) });
      return [key, { source: sourceFrom(parsed(info), parsed(rule)), indexed_at: numberIn(time) }];
    }),
  );
}

/** Without the id of the process rule, which is another one after each indexing. Null where the document has no file. */
function sourceFrom(info: unknown, rule: unknown): string | null {
  const { id } = membersOf(membersOf(info).upload_file);
  const { mode, rules } = membersOf(rule);
  if (typeof id !== "string" || id === "" || typeof mode !== "string") return null;
  return jsonText({ id, mode, rules: sorted(rules) });
}

/** The value of a column of JSON text. */
function parsed(value: unknown): unknown {
  return JSON.parse(textIn(value) ?? "null");
}

/** Members of objects in the order of their names, on every level. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** The first and the last row of each document, by `documentKey`. */
type RowRanges = ReadonlyMap<string, readonly [first: string, last: string]>;

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
        [String(first), String(last)],
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
  table: string,
  kind: RowKind,
  document: DocumentId,
  place: readonly [first: string, last: string] | undefined,
  fromJson: (text: string) => T,
): Promise<readonly T[]> {
  if (!place) return [];
  const members = loaded[kind].map(
    (column) => `'${column}': ${column === "created_at" ? "epoch(created_at)" : `"${column}"`}`,
  );
  const found = await connection.runAndReadAll(
    `SELECT to_json({${members.join(", ")}})::VARCHAR FROM ${table} WHERE row BETWEEN ${place.join(" AND ")} AND ${ofDocument(document)} ORDER BY row`,
  );
  return found.getRowsJson().map(([text]) => fromJson(String(text)));
}

/** SQL: that a row is of a document. */
export function ofDocument({ dataset_id, document_id }: DocumentId): string {
  return `dataset_id = ${sqlText(dataset_id)} AND document_id = ${sqlText(document_id)}`;
}

/** That something is of a document. */
export function isOf(document: DocumentId): (other: DocumentId) => boolean {
  return (other) => other.dataset_id === document.dataset_id && other.document_id === document.document_id;
}
