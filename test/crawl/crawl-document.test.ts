import { describe, expect, it } from "vitest";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { inFull, rounds } from "../rounds.js";
import { closeAfterEach } from "../servers/ask.js";
import { askedOf, type Crawling, crawl, neededOf, recordsOf, startCrawling } from "./crawling.js";

closeAfterEach();

const childCounts = [0, 1, 100, 101, 250];
const childrenPerChunk = (index: number) => childCounts[index % childCounts.length] ?? 0;

/** Expects every row that the server has, with all fields and in order. */
async function expectAll(crawling: Crawling): Promise<void> {
  const { document } = crawling;
  const { batches, problems } = await crawl(crawling);
  const { chunks, children } = recordsOf(batches);
  expect(problems).toEqual([]);
  expect(chunks).toEqual(document.chunks);
  expect(children).toEqual(document.chunks.flatMap(({ id }) => document.children.get(id) ?? []));
}

describe("everything, with the fewest requests", () => {
  it.each([0, 1, 101, 99, 100, 200, 300, 301].slice(0, rounds(3, 8)))("%i chunks", async (chunks) => {
    for (const behaviour of [{}, { pageCap: 50 }, { paging: "ignored" }] as const) {
      for (const hasMore of ["honest", "rows-equal-limit", "always-false", "always-true", "absent"] as const) {
        const crawling = await startCrawling({ chunks }, { ...behaviour, hasMore });
        const { batches, problems } = await crawl(crawling, { childChunks: "none" });
        expect(problems).toEqual([]);
        expect(recordsOf(batches).chunks).toEqual(crawling.document.chunks);
        const size = "paging" in behaviour ? 1_000 : "pageCap" in behaviour ? 50 : 100;
        expect(askedOf(crawling)).toEqual(
          neededOf({ ...crawling, document: { ...crawling.document, children: new Map() } }, size).slice(
            0,
            Math.max(1, Math.ceil(chunks / size)),
          ),
        );
      }
    }
  });

  it.runIf(inFull).each([
    ["pages of 100", {}, 100],
    ["pages of 50", { pageCap: 50 }, 50],
    ["no paging", { paging: "ignored" }, 1_000],
    ["has_more that lies", { hasMore: "rows-equal-limit" }, 100],
  ] as const)("chunks with 0, 1, 100, 101 and 250 children, %s", async (_, behaviour, size) => {
    const crawling = await startCrawling({ chunks: 15, childrenPerChunk }, behaviour);
    await expectAll(crawling);
    expect(askedOf(crawling).sort()).toEqual(neededOf(crawling, size).sort());
  });

  it.runIf(inFull)("of an old server, with nulls and without fields, in a shuffled network", async () => {
    const latency = () => Math.random() * 10;
    await expectAll(
      await startCrawling({ chunks: 250, childrenPerChunk: 1, variant: "old" }, { latency, chunked: true, gzip: true }),
    );
  });

  it("reads no child list if none is requested", async () => {
    const crawling = await startCrawling({ chunks: 3, childrenPerChunk: 2 });
    const { batches } = await crawl(crawling, { childChunks: "none" });
    expect(batches.map(({ kind }) => kind)).toEqual(["chunks"]);
    expect(crawling.server.requests).toHaveLength(1);
  });
});

describe("batches", () => {
  it("come chunks first, page by page, then the children chunk by chunk, each with its parent", async () => {
    const crawling = await startCrawling({
      chunks: 105,
      childrenPerChunk: (index) => (index === 1 ? 150 : 0),
      docForm: "qa_model",
    });
    const { batches } = await crawl(crawling);
    const [first, second] = crawling.document.chunks;
    const shape = batches.map(({ kind, records, chunkId }) => [kind, records.length, chunkId]);
    expect(shape.slice(0, 5)).toEqual([
      ["chunks", 100, undefined],
      ["chunks", 5, undefined],
      ["child_chunks", 0, first?.id],
      ["child_chunks", 100, second?.id],
      ["child_chunks", 50, second?.id],
    ]);
    expect(batches).toHaveLength(2 + 105 + 1);
    expect(batches[0]?.howFar?.chunks).toMatchObject({ docForm: "qa_model", pages: 1, rows: 100, total: 105 });
    expect(batches.at(-1)?.howFar?.children).toMatchObject({ chunks: 105, rows: 150, empty: 104, isSplit: true });
  });

  it("of an empty document are one, without records", async () => {
    const { batches } = await crawl(await startCrawling({ chunks: 0 }));
    expect(batches.map(({ kind, records }) => [kind, records.length])).toEqual([["chunks", 0]]);
  });

  it.runIf(inFull)("are the same whatever the concurrency, the look-ahead and the latency", async () => {
    const all = [];
    for (const [concurrency, permits] of [
      [1, 0],
      [1, 1],
      [3, 2],
      [16, 0],
      [16, 64],
    ] as const) {
      const behaviour = { latency: () => Math.random() * 3 };
      const crawling = await startCrawling(
        { chunks: 105, childrenPerChunk: (index) => (index % 40 === 7 ? 130 : index % 2) },
        behaviour,
        concurrency,
      );
      const { batches, problems } = await crawl(crawling, { prefetch: new Prefetch(permits) });
      expect(problems).toEqual([]);
      expect(crawling.server.maxInFlight).toBeLessThanOrEqual(concurrency);
      all.push(batches);
    }
    for (const batches of all) expect(batches).toEqual(all[0]);
  });
});
