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

/** Rows asked for on every page: the most that the service gives. */
export const pageSize = 100;

/** A document of the job, with the filter of its chunks. */
export interface DocumentRef {
  readonly datasetId: string;
  readonly documentId: string;
  readonly status: readonly string[];
  readonly keyword: string | undefined;
}

/**
 * The read operations. Every answer is checked; what cannot be read rejects with SkipError or StopError. `retries`: tries
 * after the first, where fewer than usual will do.
 */
export interface KnowledgeApi {
  /** A page of the datasets that the key can see; `includeAll` asks for those that their owners alone see, too. */
  readonly datasets: (page: number, limit?: number, includeAll?: boolean) => Promise<ListPage>;
  /** A page of the documents of a dataset, newest first. */
  readonly documents: (datasetId: string, page: number, limit?: number) => Promise<ListPage>;
  /** The name of a dataset, asked for once; null if the service does not report it, for whatever reason. */
  readonly datasetName: (datasetId: string) => Promise<string | null>;
  /** The built-in metadata fields of a dataset. */
  readonly metadataFields: (datasetId: string) => Promise<readonly RawRecord[]>;
  /** The settings of a dataset. */
  readonly dataset: (datasetId: string) => Promise<Listed>;
  /** The metadata fields of a dataset's own, as `doc_metadata`, and whether it shows the built-in ones. */
  readonly datasetMetadata: (datasetId: string) => Promise<RawRecord>;
  readonly datasetTags: (datasetId: string) => Promise<readonly RawRecord[]>;
  /** The tags that can be bound to datasets. */
  readonly tags: () => Promise<readonly Listed[]>;
  /** A document with its source, its process rule and the values of its metadata. */
  readonly document: (datasetId: string, documentId: string) => Promise<Listed>;
  /** The original file of a document: its name, size and short-lived address. Dify has this route until 1.8. */
  readonly uploadFile: (datasetId: string, documentId: string) => Promise<RawRecord>;
  /** The short-lived address of that file, as `url`. Dify has this route from 1.13.1 on. */
  readonly downloadLink: (datasetId: string, documentId: string) => Promise<RawRecord>;
  readonly chunks: (document: DocumentRef, page: number, limit?: number, retries?: number) => Promise<ListPage>;
  /** One chunk. The service gives any chunk that it knows: the caller compares its `document_id`. */
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

/** Runs one page's read, from sending to the checked answer, perhaps more than once; `retries` as usual or fewer. */
export type Attempt = <T>(read: () => Promise<T>, retries?: number) => Promise<T>;

/** Runs the work on one body of so many bytes that is in; lets the event loop breathe between two large ones. */
export type Scheduler = <T>(bytes: number, work: () => T) => Promise<T>;

/**
 * The operations over `send`; `attempt` wraps the whole unit of send, read, parse and check. A page of rows that was too large
 * is not fetched a second time, as by a second sweep: it fails at once, and its pieces can be read.
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
    // The target is put together only where there is something to look up: child lists are many.
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
        if (error instanceof RetryError || error instanceof SkipError) return null; // a name is worth no wait
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

/** A path, then its query. */
function get(literals: TemplateStringsArray, ...variables: readonly string[]): (...query: Request["query"]) => Request {
  return (...query) => ({ path: pathOf(literals, ...variables), query });
}
