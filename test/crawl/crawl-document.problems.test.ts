import { describe, expect, it } from "vitest";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { SkipError } from "../../src/errors.js";
import { closeAfterEach } from "../servers/ask.js";
import type { RequestRecord } from "../servers/behaviour.js";
import { addChunks, deleteChunks, reindex, swapChunks } from "../servers/edits.js";
import type { Fault } from "../servers/faults.js";
import type { TestDocument } from "../servers/store.js";
import { crawl, isChildPage, isPage, recordsOf, startCrawling } from "./crawling.js";

closeAfterEach();

/** Requests for any page of a list except the first, with any page size. */
const isBehind =
  (list: string) =>
  ({ path, query }: RequestRecord) =>
    path.endsWith(list) && !query.startsWith("page=1&");

/** Crawls 300 chunks page by page; the document is edited just before page 3 is answered. */
async function crawlEdited(edit: (document: TestDocument) => unknown) {
  const crawling = await startCrawling({ chunks: 300 }, {}, 1);
  const before = crawling.document.chunks.map(({ id }) => id);
  crawling.server.behaviour.onRequest = (request) => {
    if (isPage(3)(request)) edit(crawling.document);
  };
  const { batches, problems } = await crawl(crawling, { childChunks: "none" });
  const ids = recordsOf(batches).chunks.map(({ id }) => id);
  return { before, ids, problems, document: crawling.document };
}

describe("a document that moves while it is read", () => {
  it.each<[string, (document: TestDocument) => unknown, string[]]>([
    [
      "rows deleted before",
      (document) => deleteChunks(document, 0, 50),
      ["total of chunks went from 300 to 250 between two pages"],
    ],
    [
      "rows deleted behind",
      (document) => deleteChunks(document, 250, 50),
      ["total of chunks went from 300 to 250 between two pages"],
    ],
    [
      "rows added before",
      (document) => addChunks(document, 30, { at: 0, seed: 7 }),
      [
        "total of chunks went from 300 to 330 between two pages",
        "30 of 100 ids on a page of chunks came before",
        "chunks: the service counts 330 and lists 270",
      ],
    ],
    [
      "rows added at the end",
      (document) => addChunks(document, 30, { seed: 7 }),
      ["total of chunks went from 300 to 330 between two pages", "chunks: the service counts 330 and lists 300"],
    ],
    [
      "rows swapped over the border of a page",
      (document) => swapChunks(document, 150, 250),
      ["1 of 100 ids on a page of chunks came before", "chunks: the service counts 300 and lists 299"],
    ],
    [
      "everything deleted",
      (document) => deleteChunks(document, 0, 300),
      ["chunks: the service counts 300 and lists 200"],
    ],
  ])("%s: told, and each id is given once", async (_, edit, expected) => {
    const { ids, problems } = await crawlEdited(edit);
    expect(problems).toEqual(expected);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is not seen by counts when as many rows are added as deleted, and when it is indexed again: the gap that sweeps close", async () => {
    const replaced = await crawlEdited((document) => {
      deleteChunks(document, 0, 10);
      addChunks(document, 10, { seed: 7 });
    });
    expect(replaced.problems).toEqual([]);
    expect(replaced.ids).not.toEqual(replaced.before);
    expect(replaced.ids).not.toEqual(replaced.document.chunks.map(({ id }) => id));

    const indexed = await crawlEdited((document) => reindex(document, 5));
    expect(indexed.problems).toEqual([]);
    expect(indexed.ids.slice(0, 200)).toEqual(indexed.before.slice(0, 200));
    expect(indexed.ids.slice(200)).toEqual(indexed.document.chunks.slice(200).map(({ id }) => id));
  });

  it("a chunk deleted before its child list is read is reported, the other children are read", async () => {
    const crawling = await startCrawling({ chunks: 5, childrenPerChunk: 2 }, {}, 1);
    const gone = crawling.document.chunks[2]?.id;
    crawling.server.behaviour.onRequest = ({ path }) => {
      if (path.includes(`/${gone}/`)) deleteChunks(crawling.document, 2, 1);
    };
    const { batches, problems } = await crawl(crawling);
    expect(problems).toEqual([`chunk ${gone} was deleted while the document was read`]);
    expect(recordsOf(batches).children).toHaveLength(8);
  });

  it("a chunk deleted between two pages of its child list is also reported, and does not end the crawl", async () => {
    const crawling = await startCrawling({ chunks: 2, childrenPerChunk: (index) => (index === 0 ? 250 : 1) }, {}, 1);
    const gone = crawling.document.chunks[0]?.id;
    crawling.server.behaviour.onRequest = (request) => {
      if (isChildPage(2)(request)) deleteChunks(crawling.document, 0, 1);
    };
    const { batches, problems } = await crawl(crawling);
    expect(problems).toEqual([`children of chunk ${gone}: the service counts 250 and lists 100`]);
    expect(recordsOf(batches).children).toHaveLength(101);
  });

  it("children added or deleted between two pages are reported", async () => {
    const crawling = await startCrawling({ chunks: 1, childrenPerChunk: 250 }, {}, 1);
    const [chunk] = crawling.document.chunks;
    crawling.server.behaviour.onRequest = (request) => {
      if (isChildPage(3)(request)) crawling.document.children.get(chunk?.id ?? "")?.splice(0, 5);
    };
    const { problems } = await crawl(crawling);
    expect(problems).toEqual([`total of children of chunk ${chunk?.id} went from 250 to 245 between two pages`]);
  });

  it("a problem that throws ends the crawl, and leaves nothing unhandled", async () => {
    const crawling = await startCrawling(
      { chunks: 500, childrenPerChunk: 1 },
      { faults: (request) => (isPage(2)(request) ? { kind: "repeated-page" } : undefined) },
    );
    const problem = (text: string) => {
      throw new RangeError(text);
    };
    await expect(crawl(crawling, { problem })).rejects.toThrow("100 of 100 ids on a page of chunks came before");
    expect(crawling.server.requests.every(({ path }) => path.endsWith("/segments"))).toBe(true);
  });
});

describe("a service that answers wrongly", () => {
  it.each<[string, Fault, number, string[]]>([
    ["an empty page in the middle", { kind: "empty-page" }, 100, ["chunks: the service counts 500 and lists 100"]],
    [
      "a page repeated",
      { kind: "repeated-page" },
      400,
      ["100 of 100 ids on a page of chunks came before", "chunks: the service counts 500 and lists 400"],
    ],
  ])("%s", async (_, fault, rows, expected) => {
    const crawling = await startCrawling(
      { chunks: 500 },
      { faults: (request) => (isPage(2)(request) ? fault : undefined) },
    );
    const { batches, problems } = await crawl(crawling, { childChunks: "none" });
    expect(problems).toEqual(expected);
    expect(recordsOf(batches).chunks).toHaveLength(rows);
  });

  it("a repeated first page is reported, and the crawl ends, whatever the total", async () => {
    const crawling = await startCrawling({ chunks: 5_000 }, { paging: "same-page" });
    const { batches, problems } = await crawl(crawling, { childChunks: "none", prefetch: new Prefetch(4) });
    expect(recordsOf(batches).chunks).toHaveLength(100);
    expect(problems.at(-1)).toBe("chunks: the service counts 5000 and lists 100");
    expect(crawling.server.requests.length).toBeLessThan(15);
  });

  it("a repeated page of child chunks is noticed too", async () => {
    const crawling = await startCrawling({ chunks: 1, childrenPerChunk: 5_000 }, { paging: "same-page" });
    const { batches, problems } = await crawl(crawling, { prefetch: new Prefetch(4) });
    expect(recordsOf(batches).children).toHaveLength(100);
    expect(problems.at(-1)).toContain("the service counts 5000 and lists 100");
    expect(crawling.server.requests.length).toBeLessThan(15);
  });

  it("positions that collide in another order on every page: rows missing are reported", async () => {
    const crawling = await startCrawling({ chunks: 1_000 }, { ties: "shuffled" }, 1);
    for (const chunk of crawling.document.chunks) chunk.position = 1;
    const { batches, problems } = await crawl(crawling, { childChunks: "none" });
    expect(recordsOf(batches).chunks.length).toBeLessThan(1_000);
    expect(problems.at(-1)).toBe(`chunks: the service counts 1000 and lists ${recordsOf(batches).chunks.length}`);
  });
});

describe("a document that cannot be read", () => {
  it.each<[string, Fault, (request: RequestRecord) => boolean, RegExp]>([
    [
      "is not there",
      { kind: "status", status: 404, code: "not_found", message: "Document not found." },
      isPage(1),
      /404 not_found/,
    ],
    ["is gone on page 3", { kind: "status", status: 404, code: "not_found" }, isPage(3), /page=3.*404 not_found/],
    [
      "has no model",
      { kind: "status", status: 400, code: "provider_not_initialize" },
      isPage(1),
      /400 provider_not_initialize/,
    ],
    [
      "has pages that break",
      { kind: "status", status: 500 },
      isBehind("/segments"),
      /more than 100 rows of chunks cannot be read.*500/,
    ],
    [
      "belongs to a server without child lists",
      { kind: "status", status: 404, body: "html" },
      isChildPage(1),
      /404 Error 404; an older service has no child lists: set child_chunks: none/,
    ],
    [
      "has child lists that are closed",
      { kind: "status", status: 403, code: "forbidden" },
      isChildPage(1),
      /403 forbidden/,
    ],
    [
      "has child pages that break",
      { kind: "status", status: 502, body: "html" },
      isBehind("/child_chunks"),
      /page=2.*502 Bad Gateway/,
    ],
  ])("%s", async (_, fault, where, message) => {
    const faults = (request: RequestRecord) => (where(request) ? fault : undefined);
    const crawling = await startCrawling(
      { chunks: 300, childrenPerChunk: (index) => (index === 150 ? 101 : 0) },
      { faults },
    );
    const crawled = crawl(crawling);
    await expect(crawled).rejects.toThrow(SkipError);
    await expect(crawled).rejects.toThrow(message);
  });
});
