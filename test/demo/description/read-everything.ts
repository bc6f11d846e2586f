import type { operations } from "./violations.js";

/** An unchecked answer, as any client sees it. */
export interface Body {
  readonly data?: readonly { readonly id: string }[];
  readonly fields?: readonly object[];
  readonly has_more?: boolean;
  readonly total_pages?: number;
}

export interface Read {
  readonly operation: keyof typeof operations;
  readonly path: string;
  readonly body: Body;
}

type Get = (path: string) => Promise<string>;

/** The number of chunks per page whose child lists are read. */
const parents = 15;

/**
 * Reads everything in a service as a new client would: the datasets, their documents and metadata fields, the chunks,
 * and some child chunks; pages by `has_more` and `total_pages`. The batches are passed in, by dataset.
 */
export async function* readEverything(
  get: Get,
  batches: ReadonlyMap<string, readonly string[]> = new Map(),
): AsyncGenerator<Read> {
  for await (const datasets of pages(get, "datasets", "/datasets")) {
    yield datasets;
    for (const { id } of datasets.body.data ?? []) yield* readDataset(get, `/datasets/${id}`, batches.get(id) ?? []);
  }
}

async function* readDataset(get: Get, path: string, batches: readonly string[]): AsyncGenerator<Read> {
  yield read(get, "metadataFields", `${path}/metadata/built-in`);
  for (const batch of batches)
    yield read(get, "indexingStatus", `${path}/documents/${encodeURIComponent(batch)}/indexing-status`);
  for await (const documents of pages(get, "documents", `${path}/documents`)) {
    yield documents;
    for (const { id } of documents.body.data ?? []) yield* readDocument(get, `${path}/documents/${id}/segments`);
  }
}

async function* readDocument(get: Get, path: string): AsyncGenerator<Read> {
  for await (const chunks of pages(get, "chunks", path)) {
    yield chunks;
    for (const { id } of chunks.body.data?.slice(0, parents) ?? [])
      yield* pages(get, "childChunks", `${path}/${encodeURIComponent(id)}/child_chunks`);
  }
}

async function* pages(get: Get, operation: Read["operation"], path: string): AsyncGenerator<Read> {
  for (let page = 1, more = true; more; page++) {
    const answer = await read(get, operation, `${path}?page=${page}&limit=100`);
    yield answer;
    more = answer.body.has_more ?? page < Number(answer.body.total_pages);
  }
}

async function read(get: Get, operation: Read["operation"], path: string): Promise<Read> {
  return { operation, path, body: JSON.parse(await get(path)) };
}
