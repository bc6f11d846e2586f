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

interface ChunkSlice extends Slice<Listed> {
  /** Null where it is not known. */
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

/** Links in `sign_content` and `attachments` are kept unsigned here, and signed again for every answer. */
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

/** The answers to refused requests; the codes are those of the service that this one stands in for. */

type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 500;

/** Thrown wherever a request cannot be answered with 200; the routes turn it into `{code, message, status}`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: RefusalStatus;
  readonly code: string;
  /** The methods that may be used, where another was. */
  readonly allow: string | undefined;

  constructor(status: RefusalStatus, code: string, message: string, allow?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.allow = allow;
  }
}

/** Thrown where an older service has no such path at all: 404 with an HTML page, whose title the message is. It is plain text without markup. */
export class UnknownPath extends Error {
  override readonly name = "UnknownPath";
}

type Missing = "Dataset" | "Document" | "Documents" | "Segment" | "Child chunk" | "Tag" | "Metadata" | "File";

/** 404 for an id that is unknown or malformed; the service does not tell the two apart. */
export function notFound(what: Missing, why = ""): Refusal {
  return new Refusal(404, "not_found", `${what} not found.${why && ` ${why}`}`);
}

/** 400 for a request that cannot be done as it is: a parameter, or a rule of the service that it breaks. */
export function invalidParam(message: string): Refusal {
  return new Refusal(400, "invalid_param", message);
}

/** 401 for a missing, malformed or wrong key; which of the three is not said. */
export function unauthorized(): Refusal {
  return new Refusal(401, "unauthorized", "Access token is invalid");
}

/** 405 for every method but those that may be used. */
export function methodNotAllowed(allowed: readonly string[]): Refusal {
  const allow = [...new Set(allowed)].join(", ");
  return new Refusal(405, "method_not_allowed", "The method is not allowed for the requested URL.", allow);
}

/** 404 for a document that takes no chunks as long as it is not indexed, or is disabled. */
export function notReady(state: "not completed" | "disabled"): Refusal {
  return new Refusal(404, "not_found", `Document is ${state}.`);
}

/** 400 for a document that is being indexed. */
export function beingIndexed(): Refusal {
  return new Refusal(400, "document_indexing", "Cannot operate document during indexing.");
}
