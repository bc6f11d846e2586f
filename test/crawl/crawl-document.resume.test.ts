import { describe, expect, it } from "vitest";
import { IdSet } from "../../src/crawl/id-set.js";
import { inFull } from "../rounds.js";
import { closeAfterEach } from "../servers/ask.js";
import { deleteChunks, swapChunks } from "../servers/edits.js";
import { askedOf, crawl, neededOf, recordsOf, startCrawling } from "./crawling.js";

closeAfterEach();

const childrenPerChunk = (index: number) => [0, 1, 100, 101, 250][index] ?? 0;

describe("a resumed crawl", () => {
  it.runIf(inFull)("reads the rest, requests nothing twice, and gets the same result from every position", async () => {
    const crawling = await startCrawling({ chunks: 120, childrenPerChunk }, { pageCap: 50 });
    const { batches } = await crawl(crawling);
    const all = askedOf(crawling);
    expect(all).toHaveLength(neededOf(crawling, 50).length);
    for (const [index, { howFar }] of batches.entries()) {
      if (!howFar || (index > 12 && index % 20 > 0)) continue;
      const read = batches.slice(0, index + 1);
      const ids = new IdSet(recordsOf(read).chunks.map(({ id }) => id));
      crawling.server.reset();
      const rest = await crawl(crawling, { from: { howFar, ids } });
      expect(rest.problems).toEqual([]);
      expect(rest.batches).toEqual(batches.slice(index + 1));
      const left = neededOf(crawling, 50).slice(howFar.chunks.pages);
      const lists = crawling.document.chunks.slice(0, howFar.children.chunks).map(({ id }) => id);
      expect(askedOf(crawling).sort()).toEqual(left.filter((url) => !lists.some((id) => url.includes(id))).sort());
    }
    const inTheMiddle = batches.filter(({ howFar }) => !howFar);
    const perList = inTheMiddle.map(({ chunkId }) => crawling.document.chunks.findIndex(({ id }) => id === chunkId));
    expect(perList).toEqual([2, 3, 3, 4, 4, 4, 4]); // every page but the last of the lists with 101 and 250 children
  });

  it("proves the whole list, including the part that was read before", async () => {
    const crawling = await startCrawling({ chunks: 250 }, {}, 1);
    const { batches } = await crawl(crawling, { childChunks: "none" });
    const [first] = batches;
    if (!first?.howFar) throw new Error("no page");
    const from = { howFar: first.howFar, ids: new IdSet(first.records.map(({ id }) => id)) };
    deleteChunks(crawling.document, 0, 10);
    const { problems } = await crawl(crawling, { childChunks: "none", from });
    expect(problems[0]).toBe("total of chunks went from 250 to 240 between two pages");
  });

  it("keeps the problems that an earlier crawl found", async () => {
    const crawling = await startCrawling({ chunks: 125, childrenPerChunk: (index) => (index < 3 ? 2 : 0) }, {}, 1);
    const { document, server } = crawling;
    const chunk = document.chunks[1];
    server.behaviour.onRequest = ({ path, query }) => {
      if (path.endsWith("/segments") && query.startsWith("page=2&")) swapChunks(document, 0, 120); // a row repeats
      if (path.includes(`/${chunk?.id}/`)) document.chunks.splice(1, 1); // deletes a chunk
    };
    const { batches, problems } = await crawl(crawling);
    expect(problems).toEqual([
      "1 of 25 ids on a page of chunks came before",
      "chunks: the service counts 125 and lists 124",
      `chunk ${chunk?.id} was deleted while the document was read`,
    ]);
    server.behaviour.onRequest = () => {};
    if (chunk) document.chunks.splice(1, 0, chunk); // the list is sound again, but the rows that were read before are not
    for (const [index, { howFar }] of batches.entries()) {
      if (!howFar || index === 0 || (index > 4 && index < batches.length - 2)) continue;
      const ids = new IdSet(recordsOf(batches.slice(0, index + 1)).chunks.map(({ id }) => id));
      const rest = await crawl(crawling, { from: { howFar: JSON.parse(JSON.stringify(howFar)), ids } });
      expect(rest.problems).toContain(problems[0]);
      if (howFar.children.chunks > 1) expect(rest.problems).toEqual(expect.arrayContaining([...problems]));
    }
  });
});
