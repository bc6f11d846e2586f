import { plainText } from "../../safe-text.js";
import { isMapping } from "../../schema.js";
import { isListed, type Listed } from "../check-answer.js";
import { childrenOf, chunkPath, chunksOf, type Place } from "../knowledge-api.js";
import { wordsOf } from "../refused-answer.js";
import { pathOf } from "../retry.js";
import type { LocalFile, ReadAnswer, WriteOutcome } from "./write-outcome.js";

type Method = "POST" | "PATCH" | "DELETE";

export interface SendHooks {
  /** Called right before a write is sent, after the wait for the pace. Rejects if this process must stop sending. */
  readonly beforeSend?: () => Promise<void>;
  /** Called for every answer, with the milliseconds that it took, without the wait for the pace. */
  readonly onAnswer?: (milliseconds: number) => void;
}

/** A write that is not sent yet, so that it can be recorded first. `T`: the service's answer when done. */
export interface PreparedWrite<T> {
  readonly method: Method;
  readonly path: string;
  /** SHA-256 of the body, in hex. For a file: of its name. */
  readonly sha256: string;
  /**
   * Sends the write. Rejects only if nothing was done: with the reason of the signal or of `beforeSend`, StopError for an
   * untrusted certificate, or SkipError for a file that cannot be read.
   */
  readonly send: (hooks?: SendHooks) => Promise<WriteOutcome<T>>;
}

/** Prepares a write from a body and a reader for its answer. */
export type Prepare = <T>(
  method: Method,
  path: string,
  body: { readonly json?: object } | { readonly file: LocalFile },
  read: ReadAnswer<T>,
) => PreparedWrite<T>;

/** The write operations. A 404 of the service counts as refused: the record to delete is already gone. */
export type WriteOperations = ReturnType<typeof writeOperations>;

export function writeOperations(prepare: Prepare) {
  const post = <T>(path: string, json: object, read: ReadAnswer<T>) => prepare("POST", path, { json }, read);
  const patch = <T>(path: string, json: object, read: ReadAnswer<T>) => prepare("PATCH", path, { json }, read);
  const remove = (path: string) => prepare("DELETE", path, {}, readDeleted);
  return {
    /** Adds one chunk after the last one. */
    addChunk: (place: Place, chunk: NewChunk) => post(chunksOf(place), { segments: [chunk] }, readRow),
    /** Adds chunks after the last one. Returns their rows in the same order. */
    addChunks: (place: Place, chunks: readonly NewChunk[]) =>
      post(chunksOf(place), { segments: chunks }, readRows(chunks.length)),
    updateChunk: (place: Place, chunkId: string, chunk: ChunkUpdate) =>
      post(chunkPath(place, chunkId), { segment: chunk }, readRow),
    deleteChunk: (place: Place, chunkId: string) => remove(chunkPath(place, chunkId)),
    addChild: (place: Place, chunkId: string, content: string) =>
      post(childrenOf(place, chunkId), { content }, readRow),
    updateChild: (place: Place, chunkId: string, childId: string, content: string) =>
      patch(childrenOf(place, chunkId) + pathOf`/${childId}`, { content }, readRow),
    deleteChild: (place: Place, chunkId: string, childId: string) =>
      remove(childrenOf(place, chunkId) + pathOf`/${childId}`),
    /** Creates a document from a text. The service indexes it after answering. */
    createByText: (datasetId: string, document: NewTextDocument) =>
      post(pathOf`/datasets/${datasetId}/document/create-by-text`, withoutNulls(document), readDocument),
    deleteDocument: (datasetId: string, documentId: string) =>
      remove(pathOf`/datasets/${datasetId}/documents/${documentId}`),
    setStatus: (
      datasetId: string,
      status: "enable" | "disable" | "archive" | "un_archive",
      document_ids: readonly string[],
    ) => patch(pathOf`/datasets/${datasetId}/documents/status/${status}`, { document_ids }, readNothing),
    setMetadata: (datasetId: string, document_id: string, metadata_list: readonly MetadataValue[]) => {
      const operation_data = [{ document_id, metadata_list }];
      return post(pathOf`/datasets/${datasetId}/documents/metadata`, { operation_data }, readNothing);
    },
    uploadFile: (file: LocalFile) => prepare("POST", "/datasets/pipeline/file-upload", { file }, readCreated),
    createDataset: (dataset: NewDataset) => post("/datasets", withoutNulls(dataset), readDataset),
    createMetadataField: (datasetId: string, field: { readonly type: string; readonly name: string }) =>
      post(pathOf`/datasets/${datasetId}/metadata`, field, readCreated),
    setBuiltInFields: (datasetId: string, status: "enable" | "disable") =>
      post(pathOf`/datasets/${datasetId}/metadata/built-in/${status}`, {}, readNothing),
    createTag: (name: string) => post("/datasets/tags", { name }, readCreated),
    bindTags: (target_id: string, tag_ids: readonly string[]) =>
      post("/datasets/tags/binding", { tag_ids, target_id }, readNothing),
  };
}

/** The row that a write created or changed, from the service's answer. */
export interface WrittenRow {
  readonly id: string;
  /** The status of a chunk, such as completed or error. Null for a child chunk. */
  readonly status: string | null;
  readonly enabled: boolean;
  /** The service's explanation why it could not index the chunk; empty if none. */
  readonly error: string;
}

/** Reads the single row of an answer. An added chunk comes in a list, any other row does not. */
const readRow: ReadAnswer<WrittenRow> = (body, key) => {
  const { data } = isMapping(body) ? body : {};
  const [row, ...others]: readonly unknown[] = Array.isArray(data) ? data : [data];
  return isListed(row) && others.length === 0 ? writtenRow(row, key) : undefined;
};

/** Reads `count` rows, in the order sent. */
function readRows(count: number): ReadAnswer<readonly WrittenRow[]> {
  return (body, key) => {
    const { data } = isMapping(body) ? body : {};
    const isWhole = Array.isArray(data) && data.length === count && data.every(isListed);
    return isWhole ? data.map((row) => writtenRow(row, key)) : undefined;
  };
}

function writtenRow({ id, status, enabled, error }: Listed, key: string): WrittenRow {
  return {
    id,
    status: typeof status === "string" ? status : null,
    enabled: enabled !== false,
    error: plainText(wordsOf(error), key),
  };
}

const readCreated = (body: unknown) => (isListed(body) ? { id: body.id } : undefined);

const readDataset = (body: unknown) =>
  isListed(body) && isText(body.name) ? { id: body.id, name: body.name } : undefined;

/** Reads the id of a document, and the batch to query for its indexing status. */
const readDocument = (body: unknown) => {
  const { document, batch } = isMapping(body) ? body : {};
  return isListed(document) && isText(batch) ? { id: document.id, batch } : undefined;
};

/** For writes whose answer has no useful content: accepts any JSON object, such as `{"result": "success"}`. */
const readNothing = (body: unknown) => (isMapping(body) ? null : undefined);

/** Accepts any success of a DELETE: release 1.12.1 answers 200 with the body `204`, later ones 204 without a body. */
const readDeleted = () => null;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** A chunk to add. */
export interface NewChunk {
  readonly content: string;
  readonly answer?: string;
  readonly keywords?: readonly string[];
}

/** A complete chunk, because the service clears most missing fields. */
export interface ChunkUpdate extends NewChunk {
  readonly enabled?: boolean;
  readonly attachment_ids: readonly string[];
}

/** Indexing settings of a dataset or document. The service chooses missing values and those that are null. */
interface Indexing {
  readonly indexing_technique?: string | null;
  readonly embedding_model?: string | null;
  readonly embedding_model_provider?: string | null;
  readonly retrieval_model?: object | null;
}

/** A dataset to create. Names must have 1 to 40 characters and be unique. */
interface NewDataset extends Indexing {
  readonly name: string;
  readonly description?: string;
  readonly permission?: string;
  readonly summary_index_setting?: object | null;
}

/** A document to create from a text, which the service cleans and splits into chunks. */
interface NewTextDocument extends Indexing {
  readonly name: string;
  readonly text: string;
  readonly doc_form: string;
  readonly doc_language?: string | null;
  readonly process_rule: object;
}

function withoutNulls(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** A value to set in the metadata of a document, with the id and name of its field. */
interface MetadataValue {
  readonly id: string;
  readonly name: string;
  readonly value: string | number | null;
}
