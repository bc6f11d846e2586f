import { describe, expect, it } from "vitest";
import { IdSet } from "../../src/crawl/id-set.js";
import { closeAfterEach } from "../servers/ask.js";
import type { RequestRecord } from "../servers/behaviour.js";
import { deleteChunks } from "../servers/edits.js";
import { askedOf, crawl, isPage, recordsOf, startCrawling } from "./crawling.js";

closeAfterEach();

describe("a page that can only be read in halves", () => {
  const breaks = (page: number) => (request: RequestRecord) =>
    isPage(page)(request) && request.query.endsWith("limit=100")
      ? ({ kind: "status", status: 504 } as const)
      : undefined;

  it.each([
    [{}, 2, ["?page=3&limit=50", "?page=4&limit=50"]],
    [{ pageCap: 50 }, 3, ["?page=5&limit=25", "?page=6&limit=25"]], // page 3 of a service that caps pages at 50, not 100
  ])("is read whole where pages are as %j says", async (behaviour, broken, halves) => {
    const crawling = await startCrawling({ chunks: 450 }, { ...behaviour, faults: breaks(broken) });
    const { batches, problems } = await crawl(crawling, { childChunks: "none" });
    expect(problems).toEqual([]);
    expect(recordsOf(batches).chunks).toEqual(crawling.document.chunks);
    expect(askedOf(crawling).filter((url) => !url.endsWith("limit=100"))).toEqual(halves);

    const [first] = batches;
    if (!first?.howFar) throw new Error("no page");
    const from = { howFar: first.howFar, ids: new IdSet(first.records.map(({ id }) => id)) };
    const rest = await crawl(crawling, { childChunks: "none", from });
    expect(rest.batches).toEqual(batches.slice(1));
  });

  it("and moves between its halves is reported: it is read again like any other that moves, not given up", async () => {
    const crawling = await startCrawling({ chunks: 300 }, { faults: breaks(1) }, 1);
    const { document, server } = crawling;
    server.behaviour.onRequest = ({ query }) => {
      if (query === "page=2&limit=50") deleteChunks(document, 0, 1);
    };
    const { batches, problems } = await crawl(crawling, { childChunks: "none" });
    expect(problems).toEqual(["total of chunks went from 300 to 299 between two halves of page 1"]);
    expect(recordsOf(batches).chunks).toHaveLength(299); // as many as the service counts: one of them is deleted, and another is missing
  });
});
