import {
  type ChildChunk,
  type Chunk,
  type Dataset,
  type Document,
  type Knowledge,
  type ListQuery,
  type MetadataField,
  notFound,
  type Slice,
  type StatusEntry,
  type StatusQuery,
} from "./knowledge.js";
import type { DocumentDetails } from "./store/new-rows.js";

/** The plain tree that a knowledge in memory is made from: datasets, their documents and batches, chunks, child chunks. */
export interface StoredDataset {
  readonly row: Dataset;
  readonly documents: readonly StoredDocument[];
  readonly batches: readonly Batch[];
}

export interface StoredDocument {
  readonly row: Document;
  /** The facts that the list of documents does not tell, where they are known. */
  readonly details?: DocumentDetails;
  readonly chunks: readonly StoredChunk[];
  /** Whether chunks embed their children, as those of paragraph parents do; by default, if one of them does. */
  readonly embedsChildren?: boolean;
}

/** `children` is what the child list answers; what the chunk embeds is `row.child_chunks`, and the two may differ. */
export interface StoredChunk {
  readonly row: Chunk;
  readonly children: readonly ChildChunk[];
}

/** The documents that were created in one go. `entries` is called at every read, so that a batch can move. */
export interface Batch {
  readonly id: string;
  entries(): readonly StatusEntry[];
}

/**
 * The datasets and documents that are there at the moment, found by ids in any case. A document that did not change since it was last
 * asked for is the same object. Every method throws `notFound` for an id that is not there.
 */
export interface Present {
  datasets(): readonly Dataset[];
  dataset(datasetId: string): Dataset;
  /** Newest first. */
  documents(datasetId: string): readonly StoredDocument[];
  readIn(datasetId: string, documentId: string): StoredDocument;
  statusEntries(datasetId: string, batchId: string): readonly StatusEntry[];
}

interface IndexedDocument extends Pick<StoredDocument, "row" | "details"> {
  readonly chunks: readonly Chunk[];
  readonly children: ReadonlyMap<string, readonly ChildChunk[]>;
}

/**
 * A knowledge in memory. The chunks of a document are sorted and indexed by id when it is first asked for, and again after it changed,
 * so that no request searches; only a keyword or a status filter looks at the rows of one list.
 */
export function indexKnowledge(present: Present): Knowledge {
  const indexed = new WeakMap<StoredDocument, IndexedDocument>();

  const documentOf = (datasetId: string, id: string): IndexedDocument => {
    const document = present.readIn(datasetId, id);
    const index = indexed.get(document) ?? indexDocument(document);
    indexed.set(document, index);
    return index;
  };

  return {
    metadataFields(datasetId) {
      present.dataset(datasetId);
      return builtInFields;
    },
    chunks(datasetId, documentId, query) {
      const { row, chunks } = documentOf(datasetId, documentId);
      return { doc_form: row.doc_form, ...slice(chunks.filter(isAskedFor(query)), query) };
    },
    childChunks(datasetId, documentId, chunkId, query) {
      const children = documentOf(datasetId, documentId).children.get(chunkId.toLowerCase());
      if (!children) throw notFound("Segment");
      return slice(
        withKeyword(children, ({ content }) => content, query),
        query,
      );
    },
    indexingStatus: (datasetId, batchId) => present.statusEntries(datasetId, batchId),
    datasets: (query) => slice(withKeyword(present.datasets().map(withBuiltInFields), nameOf, query), query),
    documents(datasetId, query) {
      const isWanted = statusFilter(query.statuses) ?? (() => true);
      const dataset = present.dataset(datasetId);
      const rows = present.documents(datasetId).map(({ row, details }) => withBuiltInValues(row, details, dataset));
      const documents = rows.filter((row) => isWanted(shownStatus(row)));
      return slice(withKeyword(documents, nameOf, query), query);
    },
    dataset: (id) => withBuiltInFields(present.dataset(id)),
    document(datasetId, id) {
      const { row, details, chunks } = documentOf(datasetId, id);
      const shown = withBuiltInValues(row, details, present.dataset(datasetId));
      const average_segment_length = Math.floor(Number(row.word_count ?? 0) / Math.max(1, chunks.length));
      return { ...shown, ...details, segment_count: chunks.length, average_segment_length };
    },
    datasetMetadata(datasetId) {
      const dataset = present.dataset(datasetId);
      const rows = present.documents(datasetId).map(({ row }) => row);
      const doc_metadata = countedFields(dataset, rows);
      return { doc_metadata, built_in_field_enabled: dataset.built_in_field_enabled ?? false };
    },
  };
}

function indexDocument({ row, details, chunks }: StoredDocument): IndexedDocument {
  return {
    row,
    ...(details && { details }),
    chunks: chunks.map((chunk) => chunk.row).sort(byPositionThenId),
    children: new Map(chunks.map((chunk) => [chunk.row.id, chunk.children.toSorted(byPositionThenId)])),
  };
}

interface Positioned {
  readonly position: number;
  readonly id: string;
}

function byPositionThenId(a: Positioned, b: Positioned): number {
  if (a.position !== b.position) return a.position - b.position;
  return a.id < b.id ? -1 : 1;
}

/** The built-in metadata fields, the same for every dataset. */
export const builtInFields: readonly MetadataField[] = [
  { name: "document_name", type: "string" },
  { name: "uploader", type: "string" },
  { name: "upload_date", type: "time" },
  { name: "last_update_date", type: "time" },
  { name: "source", type: "string" },
];

/** A metadata field that a dataset was given. */
export interface OwnField {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** The metadata fields that a dataset was given. */
export function ownFields({ doc_metadata }: Dataset): readonly OwnField[] {
  return Array.isArray(doc_metadata) ? doc_metadata : [];
}

/** The same, each with the number of documents that have a value in it. */
function countedFields(dataset: Dataset, documents: readonly Document[]) {
  const used = documents.flatMap(({ doc_metadata }): readonly OwnField[] =>
    Array.isArray(doc_metadata) ? doc_metadata : [],
  );
  return ownFields(dataset).map((field) => ({ ...field, count: used.filter(({ id }) => id === field.id).length }));
}

/** The id that the service gives to each built-in field, in place of one of its own. */
const builtIn = "built-in";

/** The dataset as it is answered: behind its own metadata fields are the built-in ones, if it has enabled them. */
function withBuiltInFields(dataset: Dataset): Dataset {
  const { doc_metadata, built_in_field_enabled } = dataset;
  if (built_in_field_enabled !== true || !Array.isArray(doc_metadata)) return dataset;
  return { ...dataset, doc_metadata: [...doc_metadata, ...builtInFields.map((field) => ({ id: builtIn, ...field }))] };
}

/**
 * The row of a document as it is answered: behind its own metadata values are the built-in ones, if its dataset has enabled them or if
 * there are own ones. Times are texts, as in the service.
 */
function withBuiltInValues(
  row: Document,
  details: Pick<DocumentDetails, "updated_at"> | undefined,
  { built_in_field_enabled, author_name = null }: Dataset,
): Document {
  const { doc_metadata, created_at } = row;
  if (!Array.isArray(doc_metadata) || (built_in_field_enabled !== true && doc_metadata.length === 0)) return row;
  const values = [
    row.name,
    author_name,
    timeText(created_at),
    timeText(details?.updated_at ?? created_at),
    "file_upload",
  ];
  const shown = builtInFields.map((field, index) => ({ id: builtIn, ...field, value: values[index] }));
  return { ...row, doc_metadata: [...doc_metadata, ...shown] };
}

/** Seconds with a fraction, as Python writes them. */
function timeText(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}.0` : String(seconds);
}

/** One page of rows. */
function slice<Row>(rows: readonly Row[], { page, limit }: ListQuery): Slice<Row> {
  return { rows: rows.slice((page - 1) * limit, page * limit), total: rows.length };
}

/** Whether a chunk has the status and the keyword of a query. */
function isAskedFor({ statuses, keyword }: StatusQuery): (chunk: Chunk) => boolean {
  const wanted = new Set(statuses);
  const part = keyword.toLowerCase();
  return ({ status, content }) =>
    (wanted.size === 0 || wanted.has(status)) && (part === "" || content.toLowerCase().includes(part));
}

/** The rows whose text has the keyword of a query, in any case. */
function withKeyword<Row>(rows: readonly Row[], textOf: (row: Row) => string, { keyword }: ListQuery): readonly Row[] {
  const part = keyword.toLowerCase();
  return part === "" ? rows : rows.filter((row) => textOf(row).toLowerCase().includes(part));
}

/** The text that datasets and documents are searched by. */
function nameOf({ name }: Dataset | Document): string {
  return name;
}

/** Other words that the service takes for a status in the filter of the list of documents. */
const aliases: Readonly<Record<string, string>> = { active: "available", enabled: "available" };

const known: ReadonlySet<string> = new Set([
  "queuing",
  "indexing",
  "paused",
  "error",
  "available",
  "disabled",
  "archived",
]);

/**
 * Whether a document of this status is asked for. Case does not matter, and a status that the service does not know is no
 * filter, as there. A document without a known status is in no filtered list.
 */
export function statusFilter(statuses: readonly string[]): ((status: string | null) => boolean) | undefined {
  const named = statuses.map((status) => status.toLowerCase()).map((status) => aliases[status] ?? status);
  const wanted = new Set(named.filter((status) => known.has(status)));
  return wanted.size === 0 ? undefined : (status) => status !== null && wanted.has(status);
}

/** The status that a document shows; older services leave it to the reader. Null where it is not known. */
export function shownStatus(listed: Readonly<Record<string, unknown>>): string | null {
  const { display_status, indexing_status, enabled, archived } = listed;
  if (typeof display_status === "string") return display_status.toLowerCase();
  switch (indexing_status) {
    case "waiting":
      return "queuing";
    case "paused":
    case "error":
      return indexing_status;
    case "parsing":
    case "cleaning":
    case "splitting":
    case "indexing":
      return "indexing";
    case "completed":
      if (archived === true) return "archived";
      if (archived !== false || typeof enabled !== "boolean") return null;
      return enabled ? "available" : "disabled";
    default:
      return null;
  }
}
