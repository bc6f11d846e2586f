import { describe, expect, it } from "vitest";
import type { ListPage } from "../../src/client/check-answer.js";
import { readChildChunkPages, readChunkPages } from "../../src/crawl/read-list.js";
import { SkipError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { closeAfterEach } from "../servers/ask.js";
import { deleteChunks } from "../servers/edits.js";
import { askedOf, startCrawling } from "./crawling.js";

closeAfterEach();

async function all(pages: AsyncIterable<ListPage>): Promise<ListPage[]> {
  const got: ListPage[] = [];
  for await (const page of pages) got.push(page);
  return got;
}

describe("readChunkPages", () => {
  it.runIf(inFull)("yields every page as received, requested once, with or without prefetch", async () => {
    for (const ahead of [undefined, 0, 3]) {
      const { client, ref, document, server } = await startCrawling({ chunks: 301 }, { latency: 5 });
      const pages = await all(readChunkPages(client, ref, ahead));
      expect(pages.map(({ rows, total, docForm }) => [rows.length, total, docForm])).toEqual([
        [100, 301, "text_model"],
        [100, 301, "text_model"],
        [100, 301, "text_model"],
        [1, 301, "text_model"],
      ]);
      expect(pages.flatMap(({ rows }) => rows)).toEqual(document.chunks);
      expect(server.requests).toHaveLength(4);
      expect(server.maxInFlight).toBe(ahead === 0 ? 1 : 3);
    }
  });

  it("works with and without a filter", async () => {
    const crawling = await startCrawling({ chunks: 50 });
    const { client, ref, document } = crawling;
    const { datasetId, documentId } = ref;
    const chosen = document.chunks.filter(({ status }) => status === "error" || status === "indexing");
    expect((await all(readChunkPages(client, { datasetId, documentId })))[0]?.rows).toEqual(document.chunks);
    const filter = { datasetId, documentId, status: ["error", "indexing"], keyword: "" };
    expect((await all(readChunkPages(client, filter)))[0]?.rows).toEqual(chosen);
    expect(chosen.length).toBeGreaterThan(0);
    expect(askedOf(crawling)).toEqual(["?page=1&limit=100", "?page=1&limit=100&status=error&status=indexing&keyword="]);
  });

  it("throws if the list turns out to be incomplete, at the page that shows it", async () => {
    const { client, ref, document, server } = await startCrawling({ chunks: 500 });
    server.behaviour.onRequest = ({ query }) => {
      if (query.startsWith("page=3&")) deleteChunks(document, 0, 7);
    };
    const got: number[] = [];
    const read = async () => {
      for await (const { rows } of readChunkPages(client, ref, 0)) got.push(rows.length);
    };
    await expect(read()).rejects.toThrow(new SkipError("total of chunks went from 500 to 493 between two pages"));
    expect(got).toEqual([100, 100]);
  });

  it("throws at the end if rows are missing", async () => {
    const faults = ({ query }: { query: string }) =>
      query.startsWith("page=2&") ? ({ kind: "empty-page" } as const) : undefined;
    const { client, ref } = await startCrawling({ chunks: 200 }, { faults });
    await expect(all(readChunkPages(client, ref))).rejects.toThrow("chunks: the service counts 200 and lists 100");
  });

  it.runIf(inFull)("throws at once if the service repeats itself", async () => {
    const { client, ref, server } = await startCrawling({ chunks: 5_000 }, { paging: "same-page" });
    await expect(all(readChunkPages(client, ref))).rejects.toThrow("100 of 100 ids on a page of chunks came before");
    expect(server.requests.length).toBeLessThan(15);
  });

  it.runIf(inFull)("asks for nothing more when the reader has enough", async () => {
    const { client, ref, server } = await startCrawling({ chunks: 3_000 });
    for await (const { total } of readChunkPages(client, ref, 2)) if (total > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.requests).toHaveLength(1);
  });
});

describe("readChildChunkPages", () => {
  it("yields the pages of one chunk's children", async () => {
    const crawling = await startCrawling({ chunks: 3, childrenPerChunk: 250 });
    const { client, ref, document } = crawling;
    const id = document.chunks[1]?.id ?? "";
    const pages = await all(readChildChunkPages(client, ref, id));
    expect(pages.flatMap(({ rows }) => rows)).toEqual(document.children.get(id));
    expect(askedOf(crawling)).toEqual([1, 2, 3].map((page) => `/${id}/child_chunks?page=${page}&limit=100`));
  });

  it("throws SkipError for a chunk that does not exist", async () => {
    const { client, ref } = await startCrawling({ chunks: 1 });
    await expect(all(readChildChunkPages(client, ref, "gone"))).rejects.toThrow(SkipError);
  });
});
