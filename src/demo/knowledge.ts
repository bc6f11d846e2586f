/**
 * The source of all answers: one method per operation, so that data in memory, data that changes while it is served,
 * or a dump on disk can stand behind the same routes. Ids arrive as they stand in the path, percent-decoded. A method that
 * does not know an id throws (or rejects with) `notFound` of refusal.ts, whether it is well-formed or not.
 */

type Awaitable<T> = T | Promise<T>;

/** The page to answer (from 1), how many rows it holds (1 to 100), and the text to look for ("" for all rows). */
export interface ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly keyword: string;
}

/** `statuses` lists the statuses of chunks, or what documents show as theirs, to answer; empty for all of them. */
export interface StatusQuery extends ListQuery {
  readonly statuses: readonly string[];
}

/** One page of a list, and how many rows match over all its pages. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

export interface ChunkSlice extends Slice<Listed> {
  /** Null where nobody knows it. */
  readonly doc_form: string | null;
}

/** One object that is answered as it is. */
export type Details = Readonly<Record<string, unknown>>;

/** A row of any list. */
export interface Listed {
  readonly id: string;
  readonly [field: string]: unknown;
}

/**
 * The rows are answered as they are, fields in their order: what is null stays null, what is absent stays absent, and a
 * field that only the row knows is sent too. Named here is only what the service itself looks at.
 */
export interface Dataset {
  readonly id: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

export interface Document {
  readonly id: string;
  readonly name: string;
  readonly doc_form: string;
  readonly created_at: number;
  readonly [field: string]: unknown;
}

/** Links in `sign_content` and `attachments` are kept unsigned here, and signed anew whenever the chunk is answered. */
export interface Chunk {
  readonly id: string;
  readonly position: number;
  readonly content: string;
  readonly status: string;
  readonly sign_content?: string;
  readonly attachments?: readonly Attachment[];
  readonly [field: string]: unknown;
}

export interface Attachment {
  readonly source_url: string;
  readonly [field: string]: unknown;
}

export interface ChildChunk {
  readonly id: string;
  readonly position: number;
  readonly content: string;
  readonly [field: string]: unknown;
}

/** How far the indexing of one document is; `id` is the document's. Times are Unix seconds. */
export interface StatusEntry {
  readonly id: string;
  readonly indexing_status: string;
  readonly processing_started_at: number | null;
  readonly parsing_completed_at: number | null;
  readonly cleaning_completed_at: number | null;
  readonly splitting_completed_at: number | null;
  readonly completed_at: number | null;
  readonly paused_at: number | null;
  readonly error: unknown;
  readonly stopped_at: number | null;
  readonly completed_segments: number;
  readonly total_segments: number;
  readonly [field: string]: unknown;
}

/** `name` and `type` are texts; a service may send anything. */
export interface MetadataField {
  readonly name: unknown;
  readonly type: unknown;
}

export interface Knowledge {
  metadataFields(datasetId: string): Awaitable<readonly MetadataField[]>;
  chunks(datasetId: string, documentId: string, query: StatusQuery): Awaitable<ChunkSlice>;
  childChunks(datasetId: string, documentId: string, chunkId: string, query: ListQuery): Awaitable<Slice<Listed>>;
  /** One entry per document of the batch, in no particular order. */
  indexingStatus(datasetId: string, batchId: string): Awaitable<readonly Listed[]>;
  datasets(query: ListQuery): Awaitable<Slice<Listed>>;
  /** Newest first. */
  documents(datasetId: string, query: StatusQuery): Awaitable<Slice<Listed>>;
  /** The details of one dataset or document; of the metadata fields of a dataset, those that it was given. */
  dataset(id: string): Awaitable<Details>;
  document(datasetId: string, id: string): Awaitable<Details>;
  datasetMetadata(datasetId: string): Awaitable<Details>;
}
