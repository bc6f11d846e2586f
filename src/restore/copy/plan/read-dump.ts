import type { DocumentId } from "../../../compare/document-rows.js";
import { checkExactFiles, type LoadOptions, loadDocumentIds } from "../../../compare/load-document-rows.js";
import { type Connection, withSpill } from "../../../duckdb/open-duckdb.js";
import { streamTexts } from "../../../duckdb/read-rows.js";
import { sqlText } from "../../../duckdb/sql.js";
import { checkRows, loadRows } from "../../../dump/load.js";
import type { Manifest } from "../../../dump/manifest.js";
import { attachmentFiles, type Dump } from "../../../dump/open-dump.js";
import { documentKey } from "../../../rows/row.js";
import type { CopySource } from "../copy-plan.js";
import {
  type DatasetDetails,
  type DocumentDetails,
  datasetFrom,
  datasetNames,
  documentFrom,
  documentNames,
  unknownDataset,
} from "./details.js";
import { countRows, type DocumentAttachments, formOf, type RowCounts, readAttachments } from "./plan-document.js";

/** Everything of a dump that a plan goes by; no texts of chunks. */
export interface DumpReading extends DumpDetails {
  /** By `documentKey`; none with `originals`. */
  readonly counts: ReadonlyMap<string, RowCounts>;
  /** By `documentKey`; none with `originals`. */
  readonly attachments: ReadonlyMap<string, DocumentAttachments>;
}

interface ReadingOptions {
  readonly from: CopySource;
  /** Whether the target is the service that the dump came from. */
  readonly isSameService: boolean;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/** Reads the settings in a dump, and counts its rows. StopError when a file is not as its run wrote it. */
export async function readDump(dump: Dump, options: ReadingOptions): Promise<DumpReading> {
  const { from, isSameService, memory, signal } = options;
  return withSpill(":memory:", { memory, signal }, async (connection) => {
    const details = await readDetails(connection, dump, { signal });
    if (from === "originals") return { ...details, counts: new Map(), attachments: new Map() };
    const qaDocuments = dump.manifest.documents.filter((document) => formIn(details, document) === "qa_model");
    await loadFacts(connection, dump, qaDocuments, { signal });
    const counts = await countRows(connection);
    const attachments = await readAttachments(connection, { isSameService, files: attachmentFiles(dump) });
    return { ...details, counts, attachments };
  });
}

/** The form of a document, by the settings in the dump. */
export function formIn({ datasets, documents }: DumpDetails, document: Manifest["documents"][number]): string {
  const dataset = datasets.get(document.dataset_id) ?? unknownDataset(document.dataset_id);
  return formOf({ document, details: documents.get(documentKey(document)), dataset });
}

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
  const tables = { chunks: ["chunk_facts", chunkFacts], child_chunks: ["child_facts", childFacts] } as const;
  for (const [kind, file] of await checkExactFiles(dump, { ...options, exact: false })) {
    const [name, statement] = tables[kind];
    await loadRows(connection, dump, file, { name, statement, counted: dump.manifest.documents });
  }
}

/** SQL: the facts of chunks. `attachments` and `has_summary` are empty where the service shows an empty value, whatever kind. */
const chunkFacts = (rows: string) => `
  SELECT
    row, dataset_id, document_id, id,
    NOT ${isBlank("content")} AND (qa.document_id IS NULL OR NOT ${isBlank("answer")}) AS comes,
    enabled IS NOT DISTINCT FROM false AS disabled,
    ${charactersOf("content")} + ${charactersOf("answer")} AS characters,
    nullif(attachments, '[]') AS attachments,
    coalesce(summary, '') NOT IN ('', '{}', '[]') AS has_summary
  FROM (SELECT row_number() OVER () AS row, * FROM ${rows}) AS chunk
  LEFT JOIN qa_documents AS qa USING (dataset_id, document_id)`;

/** SQL: the facts of child chunks; `is_orphan`: its chunk does not come. */
const childFacts = (rows: string) => `
  WITH lost AS (SELECT DISTINCT dataset_id, document_id, id AS segment_id FROM chunk_facts WHERE NOT comes)
  SELECT
    dataset_id, document_id,
    lost.segment_id IS NOT NULL AS is_orphan,
    NOT is_orphan AND NOT ${isBlank("content")} AS comes,
    ${charactersOf("content")} AS characters
  FROM ${rows} AS child
  LEFT JOIN lost USING (dataset_id, document_id, segment_id)`;

/** The settings of the datasets and documents of a run. */
export interface DumpDetails {
  /** By id, in the order of the run. */
  readonly datasets: ReadonlyMap<string, DatasetDetails>;
  /** By `documentKey`. */
  readonly documents: ReadonlyMap<string, DocumentDetails>;
}

/** Reads the files `datasets` and `document_details` of a dump that has them. StopError when one is not as its run wrote it. */
async function readDetails(connection: Connection, dump: Dump, options: LoadOptions): Promise<DumpDetails> {
  const [datasets, documents] = [new Map<string, DatasetDetails>(), new Map<string, DocumentDetails>()];
  for await (const row of rowsOf(connection, dump, "datasets", datasetNames, options)) {
    const dataset = datasetFrom(row);
    datasets.set(dataset.dataset_id, dataset);
  }
  for await (const row of rowsOf(connection, dump, "document_details", documentNames, options)) {
    const document = documentFrom(row);
    documents.set(documentKey(document), document);
  }
  return { datasets, documents };
}

async function* rowsOf(
  connection: Connection,
  dump: Dump,
  kind: "datasets" | "document_details",
  names: readonly string[],
  { signal }: LoadOptions,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const [file] = dump.tablesOf([kind]) ?? [];
  if (!file) return;
  const { sql } = await checkRows(dump, file, { signal });
  const row = `to_json({${names.map((name) => `'${name}': "${name}"`).join(", ")}})::VARCHAR`;
  try {
    for await (const texts of streamTexts(connection, row, sql)) for (const text of texts) yield JSON.parse(text);
  } catch (error) {
    throw dump.unreadable(file, error);
  }
}
