import type { Connection } from "../../duckdb/open-duckdb.js";
import { withSpill } from "../../duckdb/with-spill.js";
import { checkRowCounts } from "../../dump/check-row-counts.js";
import type { Dump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { documentKey } from "../../rows/document-row.js";
import { cutText, escapeControls } from "../../safe-text.js";
import type { DocumentId } from "../document-rows.js";
import { checkExactFiles, type LoadOptions } from "../load-document-rows.js";
import { checkFit } from "./check-fit.js";
import { emptyHistory, loadHistory } from "./load-history.js";

/** A document that a restore looks at. */
export interface SignedDocument extends DocumentId {
  readonly doc_form: string | null;
  /** Whether the run read child chunks of it. */
  readonly has_children: boolean;
  /** Why it cannot be restored from this run, as a sentence; null if it can. */
  readonly refused: string | null;
}

export interface SignOptions extends LoadOptions {
  /** The job's database; undefined where there is none. */
  readonly database: string | undefined;
  /** Ids of documents: these and no others. Empty: all that have a sign of a hand. */
  readonly documents: readonly string[];
  /** Ids of chunks and child chunks: their documents, too. */
  readonly chunks: readonly string[];
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
}

export interface Signs {
  /** In the order of the run. */
  readonly documents: readonly SignedDocument[];
  readonly warnings: readonly string[];
}

/**
 * Finds the documents of a run that people worked on, or that the owner named. UsageError when an id is not in the run, or the dump
 * as a whole is not fit for a restore; StopError when a file is not as its run wrote it.
 */
export async function findSigns(dump: Dump, options: SignOptions): Promise<Signs> {
  checkFit(dump);
  return withSpill(":memory:", options, async (connection) => {
    await loadMarks(connection, dump, options);
    const { database } = options;
    const of = { run_id: dump.manifest.run_id, chunks: "chunks", children: "child_chunks" };
    await connection.run(emptyHistory);
    const warning =
      database === undefined ? undefined : await loadHistory(connection, { ...of, database }, options.signal);
    const named = await documentsOfChunks(connection, dump, options);
    const signed = options.documents.length > 0 ? [] : await readIds(connection, signedSql);
    const wanted = new Set([...signed, ...named].map(documentKey));
    const isWanted = (document: DocumentId) =>
      wanted.has(documentKey(document)) || options.documents.includes(document.document_id);
    const documents = dump.manifest.documents.filter(isWanted).map(signedDocument);
    return { documents, warnings: warning === undefined ? [] : [warning] };
  });
}

function signedDocument({
  dataset_id,
  document_id,
  doc_form,
  child_chunk_count,
  status,
  error,
}: Dump["manifest"]["documents"][number]): SignedDocument {
  const why = error === null ? "" : ` (${error})`;
  const refused = status === "complete" ? null : `The older run did not read all of it: it is ${status}${why}.`;
  return { dataset_id, document_id, doc_form, has_children: child_chunk_count > 0, refused };
}

/** Loads what tells of a hand, without any text. */
async function loadMarks(connection: Connection, dump: Dump, options: LoadOptions): Promise<void> {
  const marks = {
    chunks: "dataset_id, document_id, id, status, created_at, updated_by, disabled_by, enabled",
    child_chunks: "dataset_id, document_id, id, type",
  };
  for (const [kind, file] of await checkExactFiles(dump, options)) {
    const rows = await dump.select({ ...file, longNumbers: false }, "VARCHAR");
    await connection.run(`CREATE TABLE ${kind} AS SELECT ${marks[kind]} FROM (${rows})`).catch((error: unknown) => {
      throw dump.unreadable(file, error);
    });
    await checkRowCounts(connection, kind, dump, file);
  }
}

/** SQL: the documents with a sign of a hand, be it a guess. The time of the indexing is that of `latestIndexed`. */
const signedSql = `
  WITH indexed AS (
    SELECT dataset_id, document_id, epoch(min(created_at)) AS first, epoch(quantile_disc(created_at, 0.5)) AS middle
    FROM chunks GROUP BY ALL
  )
  SELECT dataset_id, document_id FROM chunks JOIN indexed USING (dataset_id, document_id)
    WHERE updated_by <> '' OR (disabled_by <> '' AND NOT enabled) OR epoch(created_at) > first + 3 * (middle - first) + 60
  UNION SELECT dataset_id, document_id FROM child_chunks WHERE type = 'customized'
  UNION SELECT dataset_id, document_id FROM hand_chunks
  UNION SELECT dataset_id, document_id FROM hand_children
  UNION SELECT dataset_id, document_id FROM added_chunks`;

/** The documents of the chunks that the owner named. UsageError naming every id that the run does not have. */
async function documentsOfChunks(
  connection: Connection,
  dump: Dump,
  { documents, chunks }: SignOptions,
): Promise<readonly DocumentId[]> {
  const found: DocumentId[] = [];
  const unknown = documents
    .filter((id) => !dump.manifest.documents.some(({ document_id }) => document_id === id))
    .map((id) => `document ${shown(id)}`);
  for (const id of chunks) {
    const statement = await connection.prepare(`SELECT dataset_id, document_id FROM chunks WHERE id = $1
      UNION SELECT dataset_id, document_id FROM child_chunks WHERE id = $1`);
    statement.bindVarchar(1, id);
    const ids = idsFrom((await statement.runAndReadAll()).getRowsJson());
    if (ids.length === 0) unknown.push(`chunk or child chunk ${shown(id)}`);
    found.push(...ids);
  }
  if (unknown.length === 0) return found;
  const problems = unknown.map((message) => ({ path: "", message }));
  throw new UsageError(`${dump.folder} does not have:`, problems);
}

const shown = (id: string) => cutText(escapeControls(id), 80);

async function readIds(connection: Connection, sql: string): Promise<readonly DocumentId[]> {
  return idsFrom((await connection.runAndReadAll(sql)).getRowsJson());
}

function idsFrom(rows: readonly (readonly unknown[])[]): readonly DocumentId[] {
  return rows.map(([dataset_id, document_id]) => ({
    dataset_id: String(dataset_id),
    document_id: String(document_id),
  }));
}
