import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlText } from "../duckdb/sql.js";
import { type CheckedRows, checkRows, loadList, loadRows, type ReadRowsOptions } from "../dump/load.js";
import { filteredDatasets } from "../dump/manifest.js";
import type { Dump } from "../dump/open-dump.js";
import { UsageError } from "../errors.js";
import type { ReadProgress } from "../read-progress.js";
import { documentKey } from "../rows/row.js";
import { type DocumentId, inexactReason } from "./document-rows.js";

export interface LoadOptions {
  readonly signal: AbortSignal;
  /** Updated while the files are hashed. */
  readonly progress?: ReadProgress | undefined;
}

type RowKind = "chunks" | "child_chunks";

/** The columns that a restore needs. */
const loaded: Readonly<Record<RowKind, readonly string[]>> = {
  chunks: [
    ...["id", "document_id", "position", "content", "answer", "keywords", "enabled", "status"],
    ...["created_by", "updated_by", "disabled_by", "created_at", "updated_at", "disabled_at", "attachments", "summary"],
  ],
  child_chunks: ["document_id", "segment_id", "id", "position", "content", "type", "created_at", "updated_at"],
};

/**
 * Loads the rows of some documents of a dump, in any format, into the tables `<name>_chunks` and `<name>_child_chunks`; `row` is
 * their order. Texts are exactly those that the service sent. Throws UsageError if no file of the dump has exact texts; StopError
 * if a file differs from its manifest, or a document has more or fewer rows than the manifest says.
 */
export async function loadDocumentRows(
  connection: Connection,
  name: string,
  dump: Dump,
  documents: readonly DocumentId[],
  options: LoadOptions,
): Promise<void> {
  await loadDocumentIds(connection, `${name}_documents`, documents);
  for (const [kind, file] of await checkExactFiles(dump, options)) {
    const names = ["dataset_id", ...loaded[kind]].join(", ");
    await loadRows(connection, dump, file, {
      name: `${name}_${kind}`,
      statement: (rows) => `FROM (SELECT row_number() OVER () AS row, ${names} FROM ${rows})
        SEMI JOIN ${name}_documents USING (dataset_id, document_id)`,
      counted: documents,
    });
  }
}

/** Throws UsageError if a dump leaves out rows that a restore needs, or has no exact texts. */
export function checkFit(dump: Dump): void {
  const { options } = dump.manifest;
  const filtered = filteredDatasets(options);
  const reasons = [
    filtered.length > 0 &&
      `its run left out chunks: the job has a filter (status, keyword) for dataset ${filtered.join(", ")}`,
    options.child_chunks === "none" && "its run read no child chunks (child_chunks: none)",
    !dump.tablesOf(["chunks", "child_chunks"]) && inexactReason(dump),
  ].filter((reason) => typeof reason === "string");
  if (reasons.length === 0) return;
  const problems = reasons.map((message) => ({ path: "", message }));
  throw new UsageError(`${dump.folder} cannot be used for a restore:`, problems);
}

/** The files of chunks and child chunks with the exact texts of the service, after checking their bytes. */
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

/** Makes a table with the ids of these documents. */
export async function loadDocumentIds(
  connection: Connection,
  table: string,
  documents: readonly DocumentId[],
): Promise<void> {
  const ids = [...new Map(documents.map((document) => [documentKey(document), document])).values()];
  const rows = ids.map(({ dataset_id, document_id }) => ({ dataset_id, document_id }));
  await loadList(connection, table, rows, { dataset_id: "VARCHAR", document_id: "VARCHAR" });
}

/**
 * SQL: a row as JSON text, for `chunkFromJson` and `childFromJson`. JSON, because the client strips a byte order mark from the start of a
 * text, and a content may begin with one.
 */
export function rowJson(kind: RowKind): string {
  const members = loaded[kind].map((name) => `'${name}': ${name.endsWith("_at") ? `epoch(${name})` : `"${name}"`}`);
  return `to_json({${members.join(", ")}})::VARCHAR`;
}

/** SQL: the columns that a restore needs. */
export function rowColumns(kind: RowKind): string {
  return ["dataset_id", ...loaded[kind]].join(", ");
}

/** SQL: whether a row belongs to a document. */
export function ofDocument({ dataset_id, document_id }: DocumentId, table?: string): string {
  const of = table === undefined ? "" : `${table}.`;
  return `${of}dataset_id = ${sqlText(dataset_id)} AND ${of}document_id = ${sqlText(document_id)}`;
}
