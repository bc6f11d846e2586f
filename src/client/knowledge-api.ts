import { GaveUpError, RetryError, SkipError } from "../errors.js";
import type { RawRecord } from "../rows/row.js";
import {
  checkAnswer,
  checkData,
  checkDatedPage,
  checkFields,
  checkListed,
  checkName,
  checkPage,
  checkRecord,
  checkRecords,
  checkTagList,
  checkTags,
  type Listed,
  type ListPage,
} from "./check-answer.js";
import type { SettingNames } from "./failed-request.js";
import { type Answer, pathOf, type Request, type Send, targetOf } from "./send.js";

/** Rows requested per page: the most that the service allows. */
export const pageSize = 100;

/** A document of the job, with the filter for its chunks. */
export interface DocumentRef {
  readonly datasetId: string;
  readonly documentId: string;
  readonly status: readonly string[];
  readonly keyword: string | undefined;
}

/**
 * The read operations. Every answer is checked; what cannot be read rejects with SkipError or StopError. `retries`: set when fewer
 * retries than usual are enough.
 */
export interface KnowledgeApi {
  /** A page of the datasets that the key can see. `includeAll` includes those visible only to their owners. */
  readonly datasets: (page: number, limit?: number, includeAll?: boolean) => Promise<ListPage>;
  /** A page of the documents of a dataset, newest first. */
  readonly documents: (datasetId: string, page: number, limit?: number) => Promise<ListPage>;
  /** The name of a dataset, requested once; null if it cannot be read for any reason. */
  readonly datasetName: (datasetId: string) => Promise<string | null>;
  /** The built-in metadata fields of a dataset. */
  readonly metadataFields: (datasetId: string) => Promise<readonly RawRecord[]>;
  /** The settings of a dataset. */
  readonly dataset: (datasetId: string) => Promise<Listed>;
  /** The dataset's own metadata fields, as `doc_metadata`, and whether it shows the built-in ones. */
  readonly datasetMetadata: (datasetId: string) => Promise<RawRecord>;
  readonly datasetTags: (datasetId: string) => Promise<readonly RawRecord[]>;
  /** The tags that datasets can have. */
  readonly tags: () => Promise<readonly Listed[]>;
  /** A document with its source, process rule and metadata values. */
  readonly document: (datasetId: string, documentId: string) => Promise<Listed>;
  /** The original file of a document: name, size and a short-lived address. Dify has this route up to 1.8. */
  readonly uploadFile: (datasetId: string, documentId: string) => Promise<RawRecord>;
  /** The short-lived address of the original, as `url`. Dify has this route since 1.13.1. */
  readonly downloadLink: (datasetId: string, documentId: string) => Promise<RawRecord>;
  readonly chunks: (document: DocumentRef, page: number, limit?: number, retries?: number) => Promise<ListPage>;
  /** One chunk. The service ignores the document in the path, so the caller must compare `document_id`. */
  readonly chunk: (document: Pick<DocumentRef, "datasetId" | "documentId">, chunkId: string) => Promise<Listed>;
  readonly childChunks: (
    document: DocumentRef,
    chunkId: string,
    page: number,
    limit?: number,
    retries?: number,
  ) => Promise<ListPage>;
  readonly indexingStatus: (datasetId: string, batch: string) => Promise<readonly Listed[]>;
}

/** Reads one page, from sending to the checked answer, possibly more than once. `retries`: fewer than usual, if set. */
export type Attempt = <T>(read: () => Promise<T>, retries?: number) => Promise<T>;

/** Runs work on a received body of this size, and yields to the event loop between large ones. */
export type Scheduler = <T>(bytes: number, work: () => T) => Promise<T>;

/**
 * The operations on top of `send`. `attempt` wraps sending, receiving, parsing and checking. A page that was too large is not
 * requested again, for example by a second sweep: it fails at once, so that its pieces can be read.
 */
export function knowledgeApi(
  send: Send,
  attempt: Attempt,
  turn: Scheduler,
  { key, names }: { readonly key: string; readonly names: SettingNames },
): KnowledgeApi {
  const tooLarge = new Map<string, GaveUpError>();
  const read = async <T>(
    request: Request,
    check: (body: unknown, url: string, answer: Answer) => T,
    retries?: number,
  ): Promise<T> => {
    // The target is built only if there is something to look up, because there are many child lists.
    const known = tooLarge.size > 0 ? tooLarge.get(targetOf(request)) : undefined;
    if (known) throw known;
    try {
      return await attempt(async () => {
        const answer = await send(request);
        return turn(answer.body.length, () => check(checkAnswer(answer, key, names), answer.url, answer));
      }, retries);
    } catch (error) {
      const isTooLarge = error instanceof GaveUpError && error.last.trouble === "too large";
      if (isTooLarge && hasPieces(request)) tooLarge.set(targetOf(request), error);
      throw error;
    }
  };
  return {
    datasets: (page, limit = pageSize, includeAll = true) =>
      read(
        get`/datasets`(...paging(page, limit), ...(includeAll ? [["include_all", "true"] as const] : [])),
        checkPage,
      ),
    documents: (datasetId, page, limit = pageSize) =>
      read(get`/datasets/${datasetId}/documents`(...paging(page, limit)), checkPage),
    datasetName: async (datasetId) => {
      try {
        const answer = await send(get`/datasets/${datasetId}`());
        return await turn(answer.body.length, () => checkName(checkAnswer(answer, key)));
      } catch (error) {
        if (error instanceof RetryError || error instanceof SkipError) return null; // not worth waiting for a name
        throw error;
      }
    },
    metadataFields: (datasetId) => read(get`/datasets/${datasetId}/metadata/built-in`(), checkFields),
    dataset: (datasetId) => read(get`/datasets/${datasetId}`(), checkListed),
    datasetMetadata: (datasetId) => read(get`/datasets/${datasetId}/metadata`(), checkRecord),
    datasetTags: (datasetId) => read(get`/datasets/${datasetId}/tags`(), checkTags),
    tags: () => read(get`/datasets/tags`(), checkTagList),
    document: (datasetId, documentId) =>
      read(get`/datasets/${datasetId}/documents/${documentId}`(["metadata", "all"]), checkListed),
    uploadFile: (datasetId, documentId) =>
      read(get`/datasets/${datasetId}/documents/${documentId}/upload-file`(), checkRecord),
    downloadLink: (datasetId, documentId) =>
      read(get`/datasets/${datasetId}/documents/${documentId}/download`(), checkRecord),
    chunks: ({ datasetId, documentId, status, keyword }, page, limit = pageSize, retries) =>
      read(
        get`/datasets/${datasetId}/documents/${documentId}/segments`(
          ...paging(page, limit),
          ...status.map((value) => ["status", value] as const),
          ...(keyword === undefined ? [] : [["keyword", keyword] as const]),
        ),
        checkDatedPage,
        retries,
      ),
    chunk: ({ datasetId, documentId }, chunkId) =>
      read(get`/datasets/${datasetId}/documents/${documentId}/segments/${chunkId}`(), checkData),
    childChunks: ({ datasetId, documentId }, chunkId, page, limit = pageSize, retries) =>
      read(
        get`/datasets/${datasetId}/documents/${documentId}/segments/${chunkId}/child_chunks`(...paging(page, limit)),
        checkPage,
        retries,
      ),
    indexingStatus: (datasetId, batch) =>
      read(get`/datasets/${datasetId}/documents/${batch}/indexing-status`(), checkRecords),
  };
}

function hasPieces({ query }: Request): boolean {
  return query.some(([name, value]) => name === "limit" && Number(value) > 1);
}

function paging(page: number, limit: number): Request["query"] {
  return [
    ["page", String(page)],
    ["limit", String(limit)],
  ];
}

/** Builds a path first, then its query. */
function get(literals: TemplateStringsArray, ...variables: readonly string[]): (...query: Request["query"]) => Request {
  return (...query) => ({ path: pathOf(literals, ...variables), query });
}
