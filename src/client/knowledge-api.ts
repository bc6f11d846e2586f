import { GaveUpError, SkipError } from "../errors.js";
import {
  checkAnswer,
  checkData,
  checkDatedPage,
  checkFields,
  checkListed,
  checkPage,
  checkRecord,
  checkRecords,
  checkTagList,
  checkTags,
} from "./check-answer.js";
import type { MessageFacts } from "./failed-request.js";
import { type Answer, pathOf, type Request, type Send, targetOf } from "./retry.js";

/** Rows requested per page: the most that the service allows. */
export const pageSize = 100;

/** A document at the service. */
export interface Place {
  readonly datasetId: string;
  readonly documentId: string;
}

/** A document of the job, with the filter for its chunks. */
export interface DocumentRef extends Place {
  readonly status: readonly string[];
  readonly keyword: string | undefined;
}

/** The read operations. They check every answer, and reject with SkipError or StopError on failure. */
export type KnowledgeApi = ReturnType<typeof knowledgeApi>;

/** Runs `read`, which sends a request and checks its answer, with retries. `retries`: how many, if fewer than usual. */
export type Attempt = <T>(read: () => Promise<T>, retries?: number) => Promise<T>;

/** Runs work on a received body of this size, and yields to the event loop between large ones. */
export type Scheduler = <T>(bytes: number, work: () => T) => Promise<T>;

/**
 * Builds the operations on top of `send`. `attempt` retries the whole cycle of sending, parsing and checking. Remembers pages
 * that were too large: reading one again fails at once, so that the caller reads it in smaller pages.
 */
export function knowledgeApi(send: Send, attempt: Attempt, turn: Scheduler, facts: MessageFacts) {
  const tooLarge = new Map<string, GaveUpError>();
  const read = async <T>(
    path: string,
    query: Request["query"],
    check: (body: unknown, url: string, answer: Answer) => T,
    retries?: number,
  ): Promise<T> => {
    const request = { path, query };
    // Skips building the target while no page was too large, because this runs for every child list.
    const known = tooLarge.size > 0 ? tooLarge.get(targetOf(request)) : undefined;
    if (known) throw known;
    try {
      return await attempt(async () => {
        const answer = await send(request);
        return turn(answer.body.length, () => check(checkAnswer(answer, facts), answer.url, answer));
      }, retries);
    } catch (error) {
      const isTooLarge = error instanceof GaveUpError && error.last.trouble === "too large";
      if (isTooLarge && hasPieces(request)) tooLarge.set(targetOf(request), error);
      throw error;
    }
  };
  return {
    /** A page of the datasets that the key can see. `includeAll` includes those visible only to their owners. */
    datasets: (page: number, limit = pageSize, includeAll = true) =>
      read("/datasets", [...paging(page, limit), ...pairs("include_all", includeAll ? ["true"] : [])], checkPage),
    /** A page of the documents of a dataset, newest first. */
    documents: (datasetId: string, page: number, limit = pageSize) =>
      read(pathOf`/datasets/${datasetId}/documents`, paging(page, limit), checkPage),
    metadataFields: (datasetId: string) => read(pathOf`/datasets/${datasetId}/metadata/built-in`, [], checkFields),
    dataset: (datasetId: string, retries?: number) => read(pathOf`/datasets/${datasetId}`, [], checkListed, retries),
    /** The dataset's own metadata fields, as `doc_metadata`, and whether it shows the built-in ones. */
    datasetMetadata: (datasetId: string) => read(pathOf`/datasets/${datasetId}/metadata`, [], checkRecord),
    datasetTags: (datasetId: string) => read(pathOf`/datasets/${datasetId}/tags`, [], checkTags),
    /** The tags that datasets can have. */
    tags: () => read("/datasets/tags", [], checkTagList),
    /** A document with its source, process rule and metadata values. */
    document: (datasetId: string, documentId: string) =>
      read(pathOf`/datasets/${datasetId}/documents/${documentId}`, [["metadata", "all"]], checkListed),
    /** The original file of a document: name, size and a short-lived address. Dify has this route up to 1.8. */
    uploadFile: (datasetId: string, documentId: string) =>
      read(pathOf`/datasets/${datasetId}/documents/${documentId}/upload-file`, [], checkRecord),
    /** A short-lived download URL for the original, in `url`. Dify added this route in 1.13.1. */
    downloadLink: (datasetId: string, documentId: string) =>
      read(pathOf`/datasets/${datasetId}/documents/${documentId}/download`, [], checkRecord),
    /** Whether the service can upload files for chunks. A GET of this route fails with 405 if the route exists, and with 404 if not. */
    hasFileUpload: async () => {
      try {
        await read("/datasets/pipeline/file-upload", [], () => undefined);
        return true;
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        return error.status !== 404;
      }
    },
    chunks: (ref: DocumentRef, page: number, limit = pageSize, retries?: number) => {
      const filter = [
        ...pairs("status", ref.status),
        ...pairs("keyword", ref.keyword === undefined ? [] : [ref.keyword]),
      ];
      return read(chunksOf(ref), [...paging(page, limit), ...filter], checkDatedPage, retries);
    },
    /** One chunk. The service ignores the document in the path, so the caller must compare `document_id`. */
    chunk: (place: Place, chunkId: string) => read(chunkPath(place, chunkId), [], checkData),
    childChunks: (ref: DocumentRef, chunkId: string, page: number, limit = pageSize, retries?: number) =>
      read(childrenOf(ref, chunkId), paging(page, limit), checkPage, retries),
    indexingStatus: (datasetId: string, batch: string) =>
      read(pathOf`/datasets/${datasetId}/documents/${batch}/indexing-status`, [], checkRecords),
  };
}

export function chunksOf({ datasetId, documentId }: Place): string {
  return pathOf`/datasets/${datasetId}/documents/${documentId}/segments`;
}

export function chunkPath(place: Place, chunkId: string): string {
  return chunksOf(place) + pathOf`/${chunkId}`;
}

export function childrenOf(place: Place, chunkId: string): string {
  return `${chunkPath(place, chunkId)}/child_chunks`;
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

/** Query parameters that repeat one name, once for each value. */
function pairs(name: string, values: readonly string[]): Request["query"] {
  return values.map((value) => [name, value]);
}
