import { describe, expect, it, test } from "vitest";
import { IdSet } from "../../src/crawl/id-set.js";
import { inFull } from "../rounds.js";
import { closeAfterEach } from "../servers/ask.js";
import type { ChunkRecord } from "../servers/json.js";
import { askedOf, type Batch, type Crawling, crawl, isChildPage, recordsOf, startCrawling } from "./crawling.js";

closeAfterEach();

/** The positions of the chunks whose child lists were requested, one entry per page. */
function listsAsked(crawling: Crawling): number[] {
  const asked = askedOf(crawling).flatMap((url) => /^\/([^/]+)\/child_chunks/.exec(url)?.[1] ?? []);
  return asked.map((id) => crawling.document.chunks.findIndex((chunk) => chunk.id === id)).sort((a, b) => a - b);
}

const planOf = (batches: readonly Batch[]) => batches.at(-1)?.howFar?.children.plan;
const childrenOf = (batches: readonly Batch[]) => JSON.stringify(recordsOf(batches).children);

/** Crawls a document with `all` and again with `auto`. */
async function crawlTwice(crawling: Crawling) {
  const all = await crawl(crawling);
  const pages = askedOf(crawling).length;
  crawling.server.reset();
  const auto = await crawl(crawling, { childChunks: "auto" });
  return { all, auto, pages, same: childrenOf(auto.batches) === childrenOf(all.batches) };
}

test("text without children: five lists, from the first chunk to the last", async () => {
  for (const docForm of ["text_model", "qa_model"]) {
    const crawling = await startCrawling({ chunks: 201, docForm });
    const { batches, problems } = await crawl(crawling, { childChunks: "auto" });
    expect(listsAsked(crawling)).toEqual([0, 50, 100, 150, 200]);
    expect(problems).toEqual([]);
    expect(recordsOf(batches).chunks).toHaveLength(201);
    expect(batches.at(-1)?.howFar?.children).toMatchObject({ chunks: 201, empty: 5 });
  }
});

test("text of an old server, which embeds no children: the same", async () => {
  const crawling = await startCrawling({ chunks: 12, variant: "old" }, { paging: "ignored" });
  await crawl(crawling, { childChunks: "auto" });
  expect(listsAsked(crawling)).toHaveLength(5);
});

test.runIf(inFull)("text with one child in the sample: every list, each of them once", async () => {
  const crawling = await startCrawling({ chunks: 201, childrenPerChunk: (at) => (at === 150 || at === 7 ? 130 : 0) });
  const { auto, same, pages } = await crawlTwice(crawling);
  expect(same).toBe(true);
  expect(askedOf(crawling)).toHaveLength(pages);
  expect(new Set(askedOf(crawling)).size).toBe(pages);
  expect(planOf(auto.batches)).toEqual({
    source: "lists",
    reason: "the child list of chunk 151 is not what the chunk embeds",
  });
});

test("text with a child chunk that neither the pages nor the sample show counts as text without child chunks", async () => {
  const crawling = await startCrawling({ chunks: 201, childrenPerChunk: (at) => (at === 7 ? 3 : 0) });
  const { same } = await crawlTwice(crawling);
  expect(same).toBe(false);
  expect(listsAsked(crawling)).toHaveLength(5);
});

describe("parents that embed their children", () => {
  const childrenPerChunk = (at: number) => (at === 33 ? 250 : at % 3);

  it("are used unchanged if the sample agrees, and read from the lists if they embed none", async () => {
    const crawling = await startCrawling({ chunks: 150, docForm: "hierarchical_model", childrenPerChunk });
    const { auto, same } = await crawlTwice(crawling);
    expect(same).toBe(true);
    const empty = crawling.document.chunks.flatMap((_, at) => (childrenPerChunk(at) === 0 ? [at] : []));
    const sample = [1, 33, 33, 33, 38, 76, 113]; // the positions of the sampled chunks; the one at 33 has a list of three pages
    expect(listsAsked(crawling)).toEqual([...sample, ...empty].sort((a, b) => a - b));
    expect(planOf(auto.batches)).toEqual({
      source: "embedded",
      reason: "101 of 150 chunks embed children, and 5 lists asked for as a sample: the same",
    });
  });

  const rows = (chunk: ChunkRecord) => (Array.isArray(chunk.child_chunks) ? chunk.child_chunks : []);

  it.runIf(inFull).each<[string, (chunk: ChunkRecord, at: number) => unknown]>([
    ["cut short to twenty", (chunk) => rows(chunk).slice(0, 20)],
    ["without a field", (chunk) => rows(chunk).map((row) => ({ ...Object(row), word_count: undefined }))],
    ["with a field more", (chunk) => rows(chunk).map((row) => ({ ...Object(row), score: 0 }))],
    ["with an id twice", (chunk, at) => (at === 40 ? [...rows(chunk), ...rows(chunk)] : rows(chunk))],
    ["of another kind", (chunk, at) => (at === 140 ? { first: rows(chunk)[0] } : rows(chunk))],
    ["as strings", () => ["one", "two"]],
  ])("%s: every list is asked, once", async (_, change) => {
    const crawling = await startCrawling({ chunks: 150, docForm: "hierarchical_model", childrenPerChunk });
    for (const [at, chunk] of crawling.document.chunks.entries()) {
      Object.assign(chunk, JSON.parse(JSON.stringify({ child_chunks: change(chunk, at) })));
    }
    const { auto, same, pages } = await crawlTwice(crawling);
    expect(same).toBe(true);
    expect(planOf(auto.batches)?.source).toBe("lists");
    expect(askedOf(crawling)).toHaveLength(pages);
    expect(new Set(askedOf(crawling)).size).toBe(pages);
  });

  it("in another order than their lists: are taken as they are", async () => {
    const crawling = await startCrawling({ chunks: 150, docForm: "hierarchical_model", childrenPerChunk });
    for (const chunk of crawling.document.chunks) chunk.child_chunks = rows(chunk).toReversed();
    const { batches, problems } = await crawl(crawling, { childChunks: "auto" });
    expect(problems).toEqual([]);
    expect(planOf(batches)?.source).toBe("embedded");
    const [, , second] = crawling.document.chunks;
    const taken = recordsOf(batches).children.filter(({ segment_id }) => segment_id === second?.id);
    expect(taken).toEqual(second ? rows(second) : []);
  });

  it("none of which do: every list is asked", async () => {
    const options = { chunks: 30, docForm: "hierarchical_model", childrenPerChunk: 2 };
    for (const more of [{ embedChildren: false }, { variant: "old" as const }]) {
      const crawling = await startCrawling({ ...options, ...more });
      expect((await crawlTwice(crawling)).same).toBe(true);
      expect(listsAsked(crawling)).toHaveLength(30);
    }
  });
});

test.each([
  ["on its tenth page: the list is read, and its first ten pages are not asked for again", 999, 13, "lists"],
  ["behind its tenth page: the sample does not reach it", 1_000, 10, "embedded"],
])("a long list that differs %s", async (_, at, requests, source) => {
  const crawling = await startCrawling({ chunks: 1, docForm: "hierarchical_model", childrenPerChunk: 1_300 });
  const [chunk] = crawling.document.chunks;
  const rows = Array.isArray(chunk?.child_chunks) ? chunk.child_chunks : [];
  if (chunk) chunk.child_chunks = rows.with(at, { ...Object(rows[at]), content: "another" });
  const { batches } = await crawl(crawling, { childChunks: "auto" });
  expect(planOf(batches)?.source).toBe(source);
  const pages = askedOf(crawling).flatMap((url) => /child_chunks\?page=(\d+)/.exec(url)?.[1] ?? []);
  const expected = Array.from({ length: requests }, (_value, index) => index + 1);
  expect(pages.map(Number).sort((a, b) => a - b)).toEqual(expected);
});

test("a document of an unknown form: every list is asked", async () => {
  const crawling = await startCrawling({ chunks: 30, docForm: "graph_model" });
  await crawl(crawling, { childChunks: "auto" });
  expect(listsAsked(crawling)).toHaveLength(30);
});

test("a sampled chunk that is deleted meanwhile is a problem, and says nothing about the others", async () => {
  const crawling = await startCrawling({ chunks: 20, childrenPerChunk: (at) => (at === 12 ? 1 : 0) });
  const [, , , , , gone] = crawling.document.chunks;
  crawling.server.behaviour.onRequest = ({ path }) => {
    const at = gone ? crawling.document.chunks.indexOf(gone) : -1;
    if (path.includes(`/${gone?.id}/`) && at >= 0) crawling.document.chunks.splice(at, 1);
  };
  const { batches, problems } = await crawl(crawling, { childChunks: "auto" });
  expect(problems).toEqual([`chunk ${gone?.id} was deleted while the document was read`]);
  expect(recordsOf(batches).children).toHaveLength(1);
  expect(planOf(batches)?.source).toBe("lists");
});

test("a chunk that is deleted between two pages of its sampled list is also a problem", async () => {
  const childrenPerChunk = (at: number) => (at === 7 ? 250 : 1);
  const crawling = await startCrawling({ chunks: 20, docForm: "hierarchical_model", childrenPerChunk }, {}, 1);
  crawling.server.behaviour.onRequest = (request) => {
    if (isChildPage(2)(request) && request.nth === 0) crawling.document.chunks.splice(7, 1);
  };
  const { batches, problems } = await crawl(crawling, { childChunks: "auto" });
  expect(problems).toEqual([expect.stringMatching(/^children of chunk \S+: the service counts 250 and lists 100$/)]);
  expect(planOf(batches)?.source).toBe("lists");
});

test.runIf(inFull).each([
  ["embedded", { docForm: "hierarchical_model" }],
  ["lists", { docForm: "hierarchical_model", embedChildren: false }],
  ["none", { childrenPerChunk: 0 }],
])("a resumed crawl comes to the same from every place: %s", async (source, options) => {
  const crawling = await startCrawling({ chunks: 120, childrenPerChunk: (at) => at % 4, ...options }, { pageCap: 50 });
  const { batches } = await crawl(crawling, { childChunks: "auto" });
  expect(planOf(batches)?.source).toBe(source);
  for (const [index, { howFar }] of batches.entries()) {
    if (!howFar || (index > 12 && index % 10 > 0)) continue;
    const read = batches.slice(0, index + 1);
    const chunks = recordsOf(read).chunks;
    const from = { howFar: JSON.parse(JSON.stringify(howFar)), ids: new IdSet(chunks.map(({ id }) => id)) };
    crawling.server.reset();
    const rest = await crawl(crawling, { childChunks: "auto", from, read });
    expect(rest.batches).toEqual(batches.slice(index + 1));
    if (howFar.children.plan) {
      expect(listsAsked(crawling).every((at) => at >= howFar.children.chunks)).toBe(true);
    }
  }
});

test("whatever the concurrency and the look-ahead, the rows come in the same order", async () => {
  const options = { chunks: 90, docForm: "hierarchical_model", childrenPerChunk: (at: number) => at % 3 };
  const latency = { latency: ({ nth, at }: { nth: number; at: number }) => ((at * 7 + nth) % 5) + 1 };
  const results: string[] = [];
  for (const concurrency of [1, 16]) {
    const crawling = await startCrawling(options, latency, concurrency);
    const { batches } = await crawl(crawling, { childChunks: "auto" });
    results.push(JSON.stringify(batches.map(({ chunkId, records }) => [chunkId, records.map(({ id }) => id)])));
  }
  expect(results[0]).toBe(results[1]);
});
