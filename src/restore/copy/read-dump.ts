import pLimit from "p-limit";
import {
  attachmentIds,
  type ChunkWithChildren,
  childFromJson,
  chunkFromJson,
  type DocumentId,
  groupRows,
  membersOf,
  textIn,
} from "../../compare/document-rows.js";
import { checkExactFiles, loadDocumentIds, ofDocument, rowJson } from "../../compare/load-document-rows.js";
import { type DocumentDetails, type DumpDetails, readDetails } from "../../compare/proof/settings.js";
import { type Connection, withSpill } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow, streamTexts } from "../../duckdb/read-rows.js";
import { loadRows } from "../../dump/load.js";
import type { Manifest } from "../../dump/manifest.js";
import { attachmentFiles, type Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/row.js";
import type { TargetService } from "../target.js";
import type { AttachmentPlan } from "./copy-plan.js";

/** The counts of a document without rows. */
const noCounts = {
  /** Chunks to copy, and how many of them are disabled or have a summary. */
  ...{ chunks: 0, disabled: 0, summaries: 0 },
  /** Chunks that the service refuses. */
  lost_chunks: 0,
  /** Child chunks to copy, those that the service refuses, and those of chunks that are not copied. */
  ...{ children: 0, lost_children: 0, orphans: 0 },
  /** Code points of the chunks and child chunks to copy. */
  characters: 0,
};

export const noRows = {
  ...noCounts,
  /** The attachments that can be bound, each once, in the order of the chunks. */
  attachments: [] as readonly AttachmentPlan[],
  /** Chunks with attachments that can be bound; chunks that lose some, and why. */
  ...{ attached: 0, losing: 0, reason: "" },
};

type DocumentRows = Readonly<typeof noRows>;

interface ReadingOptions extends Pick<TargetService, "memory" | "signal"> {
  /** Whether the target is the service of the dump, which has the attachments already, under the same ids. */
  readonly isSameService: boolean;
  /** Whether the target accepts file uploads. */
  readonly canUpload: boolean;
}

/**
 * Reads the settings in a dump, and counts the rows of each document, without texts of chunks. Throws StopError if a file differs
 * from its manifest.
 */
export async function readDump(dump: Dump, options: ReadingOptions) {
  return withSpill(":memory:", options, async (connection) => {
    const details = await readDetails(connection, dump, options);
    const documents = formedDocuments(dump.manifest, details);
    await loadQuestions(connection, documents);
    for (const [kind, file] of await checkExactFiles(dump, { signal: options.signal }))
      await loadRows(connection, dump, file, {
        name: kind,
        statement: (rows) =>
          `SELECT row_number() OVER () AS row, dataset_id, document_id, ${counted[kind]} FROM ${rows}`,
        counted: documents,
      });
    const counts = await countRows(connection);
    const attachments = await findAttachments(connection, dump, options);
    const withRows = documents.map((document): ReadDocument => {
      const key = documentKey(document);
      const rows = { ...noRows, ...counts.get(key), ...attachments.get(key) };
      return { ...document, details: details.documents.get(key), rows };
    });
    return { datasets: details.datasets, documents: withRows };
  });
}

/** A document of a dump with all that the plan needs. `details`: undefined if the run could not read them. */
export type ReadDocument = FormedDocument & {
  readonly details: DocumentDetails | undefined;
  readonly rows: DocumentRows;
};

/** A document of a dump. Its form, if unknown, is that of its dataset, otherwise text_model. */
type FormedDocument = Manifest["documents"][number] & { readonly doc_form: string };

export function formedDocuments(
  { documents: all }: Pick<Manifest, "documents">,
  { datasets, documents }: DumpDetails,
): readonly FormedDocument[] {
  return all.map((document) => {
    const known = document.doc_form ?? documents.get(documentKey(document))?.doc_form;
    return { ...document, doc_form: known ?? datasets.get(document.dataset_id)?.doc_form ?? "text_model" };
  });
}

/** SQL: whether a text is blank, by the definition of JavaScript's `trim`. */
const isBlank = (text: string) => `regexp_full_match(coalesce(${text}, ''), '[\\t-\\r \\x{FEFF}\\p{Z}]*')`;

/**
 * SQL: whether the service refuses a chunk: without content, or, in documents of the table `questions`, without an answer
 * (400 of POST segments). Plan, writes and proof all use this condition.
 */
const isRefused = `(${isBlank("content")} OR ${isBlank("answer")}
  AND (dataset_id, document_id) IN (SELECT (dataset_id, document_id) FROM questions))`;

/** Like `isRefused`, for a child chunk. */
const isRefusedChild = isBlank("content");

/** SQL: the columns that the counts need, without texts. Characters are code points. */
const counted = {
  chunks: `id, ${isRefused} AS refused, enabled IS NOT DISTINCT FROM false AS disabled, attachments,
    coalesce(summary, '') NOT IN ('', '{}', '[]') AS has_summary, length(content) + length(coalesce(answer, '')) AS characters`,
  child_chunks: `segment_id, ${isRefusedChild} AS refused, length(content) AS characters`,
};

/** Counts the rows of each document. A child chunk is copied only with its chunk. */
async function countRows(connection: Connection): Promise<ReadonlyMap<string, Partial<DocumentRows>>> {
  const parts = ["chunks", "lost_chunks", "children", "lost_children", "orphans"]; // each row counts in one
  const counts = parts.map((part) => `count(*) FILTER (part = '${part}') AS ${part}`);
  const found = await rowsOf(
    connection,
    `SELECT dataset_id, document_id, ${counts.join(", ")},
      count(*) FILTER (part = 'chunks' AND disabled) AS disabled,
      count(*) FILTER (part = 'chunks' AND has_summary) AS summaries,
      sum(characters) FILTER (part IN ('chunks', 'children')) AS characters
    FROM (SELECT *, if(refused, 'lost_chunks', 'chunks') AS part FROM chunks
      UNION ALL BY NAME
      SELECT k.*, CASE WHEN c.id IS NULL THEN 'orphans' WHEN k.refused THEN 'lost_children' ELSE 'children' END AS part
      FROM child_chunks k LEFT JOIN (FROM chunks WHERE NOT refused) c
        ON c.dataset_id = k.dataset_id AND c.document_id = k.document_id AND c.id = k.segment_id)
    GROUP BY ALL`,
  );
  const countsOf = (row: SqlRow) =>
    Object.fromEntries(Object.keys(noCounts).map((name) => [name, Number(row[name] ?? 0)]));
  return new Map(found.map((row) => [documentKey(row), countsOf(row)]));
}

/** Finds the attachments of the chunks to copy, by `documentKey`. */
async function findAttachments(
  connection: Connection,
  dump: Dump,
  { isSameService, canUpload }: ReadingOptions,
): Promise<ReadonlyMap<string, Pick<DocumentRows, "attachments" | "attached" | "losing" | "reason">>> {
  const files = attachmentFiles(dump);
  const planOf = (id: string): readonly AttachmentPlan[] => {
    const file = isSameService ? null : canUpload ? files.get(id) : undefined;
    return file === undefined ? [] : [{ id, file }];
  };
  const found = new Map<string, { attachments: Map<string, AttachmentPlan>; attached: number; losing: number }>();
  const json = "to_json({'dataset_id': dataset_id, 'document_id': document_id, 'attachments': attachments})::VARCHAR";
  const rows = "(FROM chunks WHERE NOT refused AND coalesce(attachments, '') NOT IN ('', '[]') ORDER BY row)";
  for await (const texts of streamTexts(connection, json, rows))
    for (const text of texts) {
      const row = membersOf(JSON.parse(text));
      const own = found.get(documentKey(row)) ?? { attachments: new Map(), attached: 0, losing: 0 };
      found.set(documentKey(row), own);
      const ids = attachmentIds(textIn(row.attachments));
      const plans = ids.flatMap(planOf);
      if (plans.length > 0) own.attached++;
      if (plans.length < ids.length) own.losing++;
      for (const plan of plans) own.attachments.set(plan.id, plan);
    }
  const reason = canUpload ? noFiles : noRoute;
  return new Map([...found].map(([key, own]) => [key, { ...own, attachments: [...own.attachments.values()], reason }]));
}

const noFiles = "The run does not have the files of attachments.";
const noRoute = "This release has no route that accepts files for chunks (POST /datasets/pipeline/file-upload).";

type Formed = DocumentId & Pick<FormedDocument, "doc_form">;

/** Makes the table `questions` of the qa_model documents. */
function loadQuestions(connection: Connection, documents: readonly Formed[]): Promise<void> {
  const questions = documents.filter(({ doc_form }) => doc_form === "qa_model");
  return loadDocumentIds(connection, "questions", questions);
}

/** Deletes all rows that cannot be copied from the `old` tables of `loadDocumentRows`. The children of a deleted chunk go too. */
export async function keepComing(connection: Connection, documents: readonly Formed[]): Promise<void> {
  await loadQuestions(connection, documents);
  await connection.run(`DELETE FROM old_chunks WHERE ${isRefused};
    DELETE FROM old_child_chunks WHERE ${isRefusedChild}
      OR row NOT IN (SELECT k.row FROM old_child_chunks k SEMI JOIN old_chunks c
        ON c.dataset_id = k.dataset_id AND c.document_id = k.document_id AND c.id = k.segment_id)`);
}

/** Reads the chunks of a document with their child chunks, in order. Several documents may be read at once. */
export type ReadChunks = (document: DocumentId) => AsyncIterable<ChunkWithChildren>;

/** Returns a function that reads chunks from the same tables as `keepComing`, with `chunksAtOnce` per document in memory. */
export async function chunkReader(connection: Connection, signal: AbortSignal): Promise<ReadChunks> {
  const chunkRows = await findRowRanges(connection, "old_chunks");
  const childRows = await findRowRanges(connection, "old_child_chunks");
  const oneByOne = pLimit(1); // a connection runs one statement at a time
  const read = async <T>(kind: "chunks" | "child_chunks", from: string, fromJson: (text: string) => T) => {
    const found = await oneByOne(() => connection.runAndReadAll(`SELECT ${rowJson(kind)} ${from} ORDER BY row`));
    return found.getRowsJson().map(([text]) => fromJson(String(text)));
  };
  return async function* (document) {
    const [first, last] = chunkRows.get(documentKey(document)) ?? noRange;
    const range = (childRows.get(documentKey(document)) ?? noRange).join(" AND ");
    const below = `FROM old_child_chunks WHERE row BETWEEN ${range} AND ${ofDocument(document)}`;
    for (let row = first; row <= last; row += chunksAtOnce) {
      signal.throwIfAborted();
      const end = Math.min(last, row + chunksAtOnce - 1);
      const page = `FROM old_chunks WHERE row BETWEEN ${row} AND ${end} AND ${ofDocument(document)}`;
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
