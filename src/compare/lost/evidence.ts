import { attachJob, attachReason, type RunInDatabase } from "../../database/attach-job.js";
import { type Connection, lacksMemory, withSpill } from "../../duckdb/open-duckdb.js";
import { sqlText, utcTime } from "../../duckdb/sql.js";
import { loadRows } from "../../dump/load.js";
import { filteredDatasets } from "../../dump/manifest.js";
import type { Dump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import { documentKey } from "../../rows/row.js";
import { cutText, escapeControls } from "../../safe-text.js";
import { type DocumentId, inexactReason } from "../document-rows.js";
import { checkExactFiles, type LoadOptions, loadDetails, ofDocument } from "../load-document-rows.js";

/** A document that a restore looks at. */
export interface EditedDocument extends DocumentId {
  readonly doc_form: string | null;
  /** Whether the run read child chunks of it. */
  readonly has_children: boolean;
  /** Why it cannot be restored from this run, as a sentence; null if it can. */
  readonly refused: string | null;
}

export interface EvidenceOptions extends LoadOptions {
  /** The job's database; undefined where there is none. */
  readonly database: string | undefined;
  /** Ids of documents: these and no others. Empty: all with manual edits. */
  readonly documents: readonly string[];
  /** Ids of chunks and child chunks: their documents, too. */
  readonly chunks: readonly string[];
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
}

export interface EditedDocuments {
  /** In the order of the run. */
  readonly documents: readonly EditedDocument[];
  readonly warnings: readonly string[];
}

/**
 * Finds the documents of a run that people worked on, or that the owner named. UsageError when an id is not in the run, or the dump
 * as a whole is not fit for a restore; StopError when a file is not as its run wrote it.
 */
export async function findEditedDocuments(dump: Dump, options: EvidenceOptions): Promise<EditedDocuments> {
  checkFit(dump);
  return withSpill(":memory:", options, async (connection) => {
    await loadMarks(connection, dump, options);
    await loadDetails(connection, "details", dump, options);
    const { database } = options;
    const of = { run_id: dump.manifest.run_id, chunks: "chunks", children: "child_chunks" };
    await connection.run(emptyHistory);
    const warning =
      database === undefined ? undefined : await loadHistory(connection, { ...of, database }, options.signal);
    const named = await documentsOfChunks(connection, dump, options);
    const edited = options.documents.length > 0 ? [] : await readIds(connection, editedSql);
    const wanted = new Set([...edited, ...named].map(documentKey));
    const isWanted = (document: DocumentId) =>
      wanted.has(documentKey(document)) || options.documents.includes(document.document_id);
    const documents = dump.manifest.documents.filter(isWanted).map(editedDocument);
    return { documents, warnings: warning === undefined ? [] : [warning] };
  });
}

function editedDocument({
  dataset_id,
  document_id,
  doc_form,
  child_chunk_count,
  status,
  error,
}: Dump["manifest"]["documents"][number]): EditedDocument {
  const why = error === null ? "" : ` (${error})`;
  const refused = status === "complete" ? null : `The older run did not read all of it: it is ${status}${why}.`;
  return { dataset_id, document_id, doc_form, has_children: child_chunk_count > 0, refused };
}

/** Loads the evidence of manual edits, without any text. */
async function loadMarks(connection: Connection, dump: Dump, options: LoadOptions): Promise<void> {
  const marks = {
    chunks: "dataset_id, document_id, id, status, created_at, updated_by, disabled_by, enabled",
    child_chunks: "dataset_id, document_id, id, type",
  };
  for (const [kind, file] of await checkExactFiles(dump, { ...options, exact: false }))
    await loadRows(connection, dump, file, {
      name: kind,
      statement: (rows) => `SELECT ${marks[kind]} FROM ${rows}`,
      counted: dump.manifest.documents,
    });
}

/** SQL: the documents with manual edits. */
const editedSql = `
  SELECT dataset_id, document_id FROM chunks LEFT JOIN details USING (dataset_id, document_id)
    WHERE updated_by <> '' OR (disabled_by <> '' AND NOT enabled) OR created_at > completed_at
  UNION SELECT dataset_id, document_id FROM child_chunks WHERE type = 'customized'
  UNION SELECT dataset_id, document_id FROM edited_chunks
  UNION SELECT dataset_id, document_id FROM edited_children
  UNION SELECT dataset_id, document_id FROM added_chunks`;

/** The documents of the chunks that the owner named. UsageError naming every id that the run does not have. */
async function documentsOfChunks(
  connection: Connection,
  dump: Dump,
  { documents, chunks }: EvidenceOptions,
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

/** UsageError when a dump as a whole leaves out rows that a restore must see, or has them in no exact form. */
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

/** The run whose history is wanted, and tables of what it read. */
interface HistoryOf extends RunInDatabase {
  /** A table of its chunks: dataset_id, document_id, id, status, created_at. */
  readonly chunks: string;
  /** A table of its child chunks: dataset_id, document_id, id. */
  readonly children: string;
}

/** Columns of a chunk that a person can change and a request can write. */
const editedColumns = ["content", "answer", "keywords", "enabled"] as const;

/**
 * SQL: makes the tables of the history, empty. `edited_chunks`: the first values of the columns of a chunk that differed later
 * although the chunk kept its id, which only a person does; `had` names these columns. `edited_children`: the same of child chunks.
 * `added_chunks`: chunks that a person added.
 */
export const emptyHistory = `
  CREATE OR REPLACE TABLE edited_chunks (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR, had VARCHAR[],
    content VARCHAR, answer VARCHAR, keywords VARCHAR[], enabled BOOLEAN);
  CREATE OR REPLACE TABLE edited_children (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR, content VARCHAR);
  CREATE OR REPLACE TABLE added_chunks (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR)`;

/**
 * Fills the tables of `emptyHistory` from the changes that the job's database has up to the run. The database is opened read-only.
 * Whatever is wrong with it, it is a warning and no history: gives that warning as a sentence, undefined if all went well.
 */
export async function loadHistory(
  connection: Connection,
  of: HistoryOf,
  signal: AbortSignal,
): Promise<string | undefined> {
  await connection.run(emptyHistory);
  try {
    const reason = await attachJob(connection, of);
    if (reason !== undefined) return warningOf(of, reason);
    for (const sql of [editsSql("chunks", of), editsSql("children", of), addedSql(of)]) await connection.run(sql);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    await connection.run(emptyHistory);
    return warningOf(of, attachReason(error, of.database));
  } finally {
    await connection.run("DETACH DATABASE IF EXISTS job").catch(() => {});
  }
}

function warningOf({ database }: HistoryOf, reason: string): string {
  return `the history in ${database} was not used: ${reason}; an edit is then known by its author alone, and what it replaced is not known`;
}

/**
 * SQL: adds the first values of what changed although the id stayed. A run that finds the status of a chunk changed may have met
 * the indexing at work, or a failure of it: keywords and `enabled` can change by themselves then.
 */
function editsSql(kind: "chunks" | "children", of: HistoryOf): string {
  const names = kind === "chunks" ? editedColumns : (["content"] as const);
  const calm = kind === "chunks" ? "NOT list_contains(differs, 'status')" : "true";
  const condition = (name: string) =>
    `list_contains(differs, '${name}')${name === "content" || name === "answer" ? "" : ` AND ${calm}`}`;
  const values = names.map((name) => `arg_min_null(${name}, run_id) FILTER (${condition(name)}) AS ${name}`);
  const had = names.map((name) => `CASE WHEN bool_or(${condition(name)}) THEN '${name}' END`);
  const hadColumn = kind === "chunks" ? `list_filter([${had.join(", ")}], name -> name IS NOT NULL) AS had,` : "";
  const changes = kind === "chunks" ? "chunk_changes" : "child_chunk_changes";
  return `INSERT INTO edited_${kind} BY NAME
    SELECT dataset_id, document_id, id, ${hadColumn} ${values.join(", ")}
    FROM job.main.${changes} SEMI JOIN ${of[kind]} USING (dataset_id, document_id, id)
    WHERE run_id <= ${sqlText(of.run_id)} AND (${names.map(condition).join(" OR ")})
    GROUP BY ALL`;
}

/**
 * SQL: adds the chunks that came at a run at which other chunks of the document kept their ids, and that were created after the
 * run before it had begun: a chunk that a filter or an unfinished list had left out is older. A document that was being indexed
 * says nothing of who added its chunks.
 */
function addedSql({ run_id, chunks }: HistoryOf): string {
  const known = `FROM job.main.chunk_changes WHERE run_id <= ${sqlText(run_id)}`;
  const finished = "coalesce(status, 'completed') IN ('completed', 'error')";
  const document = (name: string) => `${name}.dataset_id = c.dataset_id AND ${name}.document_id = c.document_id`;
  return `INSERT INTO added_chunks
    WITH came AS (
      SELECT dataset_id, document_id, id, max(run_id) AS run_id FROM (
        SELECT dataset_id, document_id, id, run_id ${known} AND change = 'added'
        UNION ALL SELECT dataset_id, document_id, new_id, run_id ${known} AND new_id IS NOT NULL
      ) GROUP BY ALL
    ), held AS (
      SELECT c.dataset_id, c.document_id, c.id, c.created_at, coalesce(came.run_id, '') AS run_id, ${finished} AS finished
      FROM ${chunks} c LEFT JOIN came USING (dataset_id, document_id, id)
    ), oldest AS (
      SELECT dataset_id, document_id, min(run_id) AS run_id FROM held GROUP BY ALL HAVING bool_and(finished)
    ), runs_before AS (
      SELECT c.dataset_id, c.document_id, c.id, max(r.started_at) AS started_at
      FROM held c JOIN job.main.runs r ON r.run_id < c.run_id
      WHERE NOT EXISTS (FROM job.main.failed_reads f WHERE f.run_id = r.run_id AND ${document("f")})
      GROUP BY ALL
    )
    SELECT c.dataset_id, c.document_id, c.id
    FROM held c JOIN oldest o ON ${document("o")} AND c.run_id > o.run_id
    JOIN runs_before b ON ${document("b")} AND b.id = c.id AND ${utcTime("c.created_at")} >= date_trunc('second', ${utcTime("b.started_at")})
    WHERE NOT EXISTS (
      FROM job.main.chunk_changes u WHERE u.run_id = c.run_id AND ${document("u")}
        AND list_contains(u.differs, 'status') AND coalesce(u.status, 'completed') NOT IN ('completed', 'error')
    )`;
}

/** The values that a chunk had when a run first saw it under its id; only of what a person changed since. */
export interface FirstValues {
  readonly content?: string;
  readonly answer?: string | null;
  readonly keywords?: readonly string[] | null;
  readonly enabled?: boolean;
}

/** All that the job's database knows of the work of people on one document, up to a run. */
export interface DocumentHistory {
  /** By the id of the chunk at that run. */
  readonly chunks: ReadonlyMap<string, FirstValues>;
  /** The first contents of edited child chunks, by id. */
  readonly children: ReadonlyMap<string, string>;
  /** Ids of chunks that a person added. */
  readonly added: ReadonlySet<string>;
}

/** The history where there is none. */
export const noHistory: DocumentHistory = { chunks: new Map(), children: new Map(), added: new Set() };

/** Reads the history of one document from the tables that `loadHistory` made. */
export async function readDocumentHistory(connection: Connection, document: DocumentId): Promise<DocumentHistory> {
  const read = async (columns: string, table: string) => {
    const sql = `SELECT ${columns} FROM ${table} WHERE ${ofDocument(document)}`;
    return (await connection.runAndReadAll(sql)).getRowsJson().map((row) => row.map((cell) => textOf(cell)));
  };
  // Texts as JSON: the client takes a byte order mark off the start of a text.
  const values = "id, to_json(struct_pack(had, content, answer, keywords, enabled))::VARCHAR";
  const chunks = await read(values, "edited_chunks");
  const children = await read("id, to_json(coalesce(content, ''))::VARCHAR", "edited_children");
  const added = await read("id", "added_chunks");
  return {
    chunks: new Map(chunks.map(([id = "", json = ""]) => [id, firstValues(json)])),
    children: new Map(children.map(([id = "", json = ""]) => [id, textOf(JSON.parse(json))])),
    added: new Set(added.map(([id = ""]) => id)),
  };
}

function firstValues(json: string): FirstValues {
  const row: { readonly [name: string]: unknown } = JSON.parse(json);
  const had: readonly unknown[] = Array.isArray(row.had) ? row.had : [];
  const { content, answer, keywords, enabled } = row;
  return {
    ...(had.includes("content") ? { content: textOf(content) } : {}),
    ...(had.includes("answer") ? { answer: typeof answer === "string" ? answer : null } : {}),
    ...(had.includes("keywords") ? { keywords: Array.isArray(keywords) ? keywords.filter(isText) : null } : {}),
    ...(had.includes("enabled") ? { enabled: enabled !== false } : {}),
  };
}

const isText = (value: unknown) => typeof value === "string";
const textOf = (value: unknown) => (isText(value) ? value : "");
