import { onTestFinished } from "vitest";
import type { Listed } from "../../src/client/check-answer.js";
import type { DocumentRef } from "../../src/client/knowledge-api.js";
import { type Client, openClient } from "../../src/client/open-client.js";
import { type CrawlOptions, DocumentCrawl } from "../../src/crawl/crawl-document.js";
import { embeddedChildren, type KeptChildren } from "../../src/crawl/embedded-children.js";
import type { HowFar } from "../../src/crawl/how-far.js";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { type ServedDocument, serveDocument } from "../servers/ask.js";
import type { Behaviour, RequestRecord } from "../servers/behaviour.js";
import type { DocumentOptions } from "../servers/store.js";

export interface Crawling extends ServedDocument {
  readonly client: Client;
  readonly ref: DocumentRef;
}

/** A realistic server with one document, and a client for it without retries. */
export async function startCrawling(
  options: DocumentOptions,
  behaviour: Behaviour = {},
  concurrency = 8,
): Promise<Crawling> {
  const served = await serveDocument(options, { resign: false, ...behaviour });
  const { server, dataset, document } = served;
  const client = openClient({ baseUrl: server.url, key: server.key, concurrency, retries: 0, timeout: 5 });
  onTestFinished(client.close);
  return {
    ...served,
    client,
    ref: { datasetId: dataset.id, documentId: document.id, status: [], keyword: undefined },
  };
}

/** A batch of records, and the progress after it. The progress is undefined while a child list is read, and after an incomplete one. */
export interface Batch {
  readonly kind: "chunks" | "child_chunks";
  readonly records: readonly Listed[];
  readonly chunkId: string | undefined;
  readonly howFar: HowFar | undefined;
}

export interface Crawled {
  readonly batches: readonly Batch[];
  readonly problems: readonly string[];
}

/** Crawls the whole document, or resumes after the `read` batches; collects problems instead of stopping. */
export async function crawl(
  { client, ref }: Crawling,
  { read = [], ...options }: Partial<CrawlOptions> & { read?: readonly Batch[] } = {},
): Promise<Crawled> {
  const batches: Batch[] = [];
  const problems: string[] = [];
  const problem = (text: string) => void problems.push(text);
  const prefetch = new Prefetch(32);
  const embedded = () => keptOf(recordsOf([...read, ...batches]).chunks);
  const all = { childChunks: "all", embedded, keepSignatures: true, prefetch, problem, fromTheEnd: false } as const;
  const crawling = new DocumentCrawl(client, ref, { ...all, ...options });
  for await (const records of crawling.chunks())
    batches.push({ kind: "chunks", records, chunkId: undefined, howFar: crawling.howFar });
  const decided = crawling.howFar?.children.plan;
  await crawling.decideSource();
  const { howFar } = crawling;
  if (howFar?.children.plan !== decided)
    batches.push({ kind: "child_chunks", records: [], chunkId: undefined, howFar });
  for await (const { chunkId, rows, isWhole } of crawling.children())
    batches.push({ kind: "child_chunks", records: rows, chunkId, howFar: isWhole ? crawling.howFar : undefined });
  return { batches, problems };
}

/** Yields the embedded children of each chunk. */
export async function* keptOf(chunks: Batch["records"]): AsyncGenerator<KeptChildren> {
  for (const [index, chunk] of chunks.entries()) {
    const children = embeddedChildren(chunk) ?? [];
    if (children.length > 0) yield { index, children };
  }
}

/** Every record, in order, chunks and children apart. */
export function recordsOf(batches: readonly Batch[]) {
  const recordsOfKind = (kind: Batch["kind"]) =>
    batches.filter((batch) => batch.kind === kind).flatMap(({ records }) => records);
  return { chunks: recordsOfKind("chunks"), children: recordsOfKind("child_chunks") };
}

/**
 * Returns the requested URLs without the path of the document's chunk list: `?page=…&limit=…`,
 * `/<chunk>/child_chunks?page=…`.
 */
export function askedOf({ server, list }: ServedDocument): string[] {
  const base = new URL(list).pathname;
  return server.requests.map(({ path, query }) => `${path}?${query}`.replace(base, ""));
}

/** Returns the URLs that a full read requests: every page of this size, for the chunks and for the children of every chunk. */
export function neededOf({ document }: ServedDocument, size: number): string[] {
  const pages = (rows: number) =>
    Array.from({ length: Math.max(1, Math.ceil(rows / size)) }, (_, index) => `?page=${index + 1}&limit=100`);
  const children = document.chunks.flatMap(({ id }) =>
    pages(document.children.get(id)?.length ?? 0).map((page) => `/${id}/child_chunks${page}`),
  );
  return [...pages(document.chunks.length), ...children];
}

/** Whether a request is for this page of the chunks. */
export const isPage = (page: number) => (request: RequestRecord) =>
  request.path.endsWith("/segments") && request.query.startsWith(`page=${page}&`);

/** Whether a request is for this page of any child list. */
export const isChildPage = (page: number) => (request: RequestRecord) =>
  request.path.endsWith("/child_chunks") && request.query.startsWith(`page=${page}&`);
