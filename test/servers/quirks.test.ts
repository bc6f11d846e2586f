import { describe, expect, it } from "vitest";
import { ask, closeAfterEach, idsOf, serveDocument } from "./ask.js";
import { addChunks, deleteChunks, swapChunks } from "./edits.js";

closeAfterEach();

describe("paging", () => {
  it.each([
    ["honest", [true, true, false]],
    ["rows-equal-limit", [true, true, true]],
    ["always-false", [false, false, false]],
    ["always-true", [true, true, true]],
    ["absent", [undefined, undefined, undefined]],
  ] as const)("has_more %s", async (hasMore, expected) => {
    const { server, list } = await serveDocument({ chunks: 30 }, { hasMore });
    const got = [];
    for (const page of [1, 2, 3]) got.push((await ask(server, `${list}?page=${page}&limit=10`)).json.has_more);
    expect(got).toEqual(expected);
  });

  it("caps a page at pageCap, computes its offset from that, and echoes the requested limit", async () => {
    const { server, list, document } = await serveDocument(
      { chunks: 130 },
      { pageCap: 50, hasMore: "rows-equal-limit" },
    );
    const { json } = await ask(server, `${list}?page=2&limit=100`);
    expect(idsOf(json.data)).toEqual(document.chunks.slice(50, 100).map(({ id }) => id));
    expect(json).toMatchObject({ limit: 100, page: 2, total: 130, has_more: false });
    const children = await ask(server, `${list}/${document.chunks[0]?.id}/child_chunks?limit=500`);
    expect(children.json).toMatchObject({ limit: 500, total_pages: 0 });
  });

  it("ignored: every page has all rows, without has_more, limit and page", async () => {
    const { server, list, document } = await serveDocument({ chunks: 130, childrenPerChunk: 3 }, { paging: "ignored" });
    const { json } = await ask(server, `${list}?page=2&limit=100`);
    expect(Object.keys(json)).toEqual(["data", "doc_form", "total"]);
    expect(json.data).toHaveLength(130);
    const children = await ask(server, `${list}/${document.chunks[0]?.id}/child_chunks?page=2&limit=1`);
    expect(Object.keys(children.json)).toEqual(["data", "total"]);
    expect(children.json.data).toHaveLength(3);
  });

  it("same-page: always the rows of page 1", async () => {
    const { server, list, document } = await serveDocument({ chunks: 30 }, { paging: "same-page" });
    const { json } = await ask(server, `${list}?page=3&limit=10`);
    expect(idsOf(json.data)).toEqual(document.chunks.slice(0, 10).map(({ id }) => id));
    expect(json.page).toBe(3);
  });

  it("shuffles only rows with equal positions, and in the same way after a reset", async () => {
    const { server, list, document } = await serveDocument({ chunks: 100 }, { ties: "shuffled" });
    const read = async () => (await ask(server, `${list}?limit=100`)).json.data as { id: string; position: number }[];
    const first = await read();
    const orders = [first, await read(), await read(), await read()];
    expect(new Set(orders.map((rows) => idsOf(rows).join())).size).toBeGreaterThan(1);
    for (const rows of orders) {
      expect(rows.map(({ position }) => position)).toEqual(document.chunks.map(({ position }) => position));
      expect(idsOf(rows).sort()).toEqual(document.chunks.map(({ id }) => id).sort());
    }
    server.reset();
    expect(idsOf(await read())).toEqual(idsOf(first));
  });
});

describe("transport", () => {
  it.each([
    [true, "gzip"],
    ["deflate", "deflate"],
    ["br", "br"],
  ] as const)("gzip: %s compresses what is accepted", async (gzip, encoding) => {
    const { server, list, document } = await serveDocument({ chunks: 40 }, { gzip, resign: false });
    const headers = { authorization: `Bearer ${server.key}` };
    const accepted = { ...headers, "accept-encoding": "gzip, deflate, br" };
    const accepting = await ask(server, `${list}?limit=100`, { headers: accepted });
    expect(accepting.headers.get("content-encoding")).toBe(encoding);
    expect(accepting.json.data).toEqual(document.chunks);
    const identity = { ...headers, "accept-encoding": "identity" };
    expect((await ask(server, list, { headers: identity })).headers.get("content-encoding")).toBeNull();
  });

  it("chunked: no content-length, and the same body", async () => {
    const { server, list, document } = await serveDocument({ chunks: 100 }, { chunked: true, resign: false });
    const { headers, json } = await ask(server, `${list}?limit=100`);
    expect([headers.get("content-length"), headers.get("transfer-encoding")]).toEqual([null, "chunked"]);
    expect(json.data).toEqual(document.chunks);
  });

  it("waits for the latency, either a number or a function of the request", async () => {
    const { server, list } = await serveDocument({ chunks: 1 }, { latency: 80 });
    const timed = async (url: string) => {
      const start = performance.now();
      await ask(server, url);
      return performance.now() - start;
    };
    expect(await timed(list)).toBeGreaterThanOrEqual(79);
    server.behaviour.latency = ({ query }) => (query === "page=2" ? 120 : 0);
    expect(await timed(`${list}?page=2`)).toBeGreaterThanOrEqual(119);
  });

  it("caches the bodies of chunk pages if configured", async () => {
    const { server, list, document } = await serveDocument({ chunks: 3 }, { cacheBodies: true, gzip: true });
    await ask(server, list);
    deleteChunks(document, 0, 1);
    expect((await ask(server, list)).json.total).toBe(3);
    expect((await ask(server, list, { headers: {} })).status).toBe(401);
    server.reset();
    expect((await ask(server, list)).json.total).toBe(2);
  });
});

describe("unreadable rows and caches", () => {
  it("an unreadable row breaks every page that contains it", async () => {
    const bad = { status: 400, code: "invalid_param", message: "year 20000 is out of range" };
    const { server, list, document } = await serveDocument({ chunks: 10, childrenPerChunk: 3 });
    const [chunk] = document.chunks;
    const [, child] = document.children.get(chunk?.id ?? "") ?? [];
    server.behaviour.unrendered = new Map([document.chunks[7]?.id, child?.id].map((id) => [id ?? "", bad]));
    const statusOf = async (path: string) => (await ask(server, `${list}${path}`)).status;
    expect(await statusOf("?page=1&limit=7")).toBe(200);
    expect(await statusOf("?page=2&limit=7")).toBe(400);
    expect((await ask(server, `${list}?page=8&limit=1`)).json).toEqual(bad);
    expect(await statusOf(`/${chunk?.id}/child_chunks?page=1&limit=1`)).toBe(200);
    expect(await statusOf(`/${chunk?.id}/child_chunks?page=2&limit=1`)).toBe(400);
  });

  it("a cache repeats old answers, unless the request has no-cache", async () => {
    const { server, list, document } = await serveDocument({ chunks: 3 }, { cache: true });
    await ask(server, list);
    deleteChunks(document, 0, 1);
    expect((await ask(server, list)).json.total).toBe(3);
    const headers = { authorization: `Bearer ${server.key}`, "cache-control": "no-cache" };
    expect((await ask(server, list, { headers })).json.total).toBe(2);
  });
});

describe("the request log", () => {
  it("records each request, its time and count, and the answer", async () => {
    const { server, list } = await serveDocument({ chunks: 1 });
    const before = Date.now();
    await ask(server, `${list}?status=a&status=b%20c`);
    await ask(server, `${list}?status=a&status=b%20c`);
    const [first, second] = server.requests;
    expect(first).toMatchObject({ method: "GET", query: "status=a&status=b%20c", nth: 0, inFlight: 1, status: 200 });
    expect(first?.path).toBe(new URL(list).pathname);
    expect(first?.headers.authorization).toBe(`Bearer ${server.key}`);
    expect(first?.at).toBeGreaterThanOrEqual(before - 1);
    expect([second?.nth, server.requests.length]).toEqual([1, 2]);
    server.reset();
    expect([server.requests.length, server.maxInFlight]).toEqual([0, 0]);
  });

  it("counts requests in flight, except those that the client gave up", { retry: 5 }, async () => {
    const { server, list } = await serveDocument({ chunks: 1 }, { latency: 50 });
    await Promise.all([1, 2, 3, 4, 5].map((page) => ask(server, `${list}?page=${page}`)));
    expect(server.maxInFlight).toBe(5);
    server.reset();
    server.behaviour.faults = (_, nth) => (nth === 0 ? { kind: "hang" } : undefined);
    for (let page = 1; page <= 10; page++) {
      await expect(ask(server, `${list}?page=${page}`, { signal: AbortSignal.timeout(20) })).rejects.toThrow();
    }
    expect(server.requests.map(({ inFlight }) => inFlight)).toEqual(Array(10).fill(1));
  });
});

describe("edits while reading", () => {
  it("happen between two pages, in the same tick as the answer", async () => {
    const { server, list, document, store } = await serveDocument({ chunks: 30 });
    const before = document.chunks.map(({ id }) => id);
    server.behaviour.onRequest = (request, given) => {
      expect(given).toBe(store);
      if (request.query.includes("page=2")) deleteChunks(document, 0, 5);
      if (request.query.includes("page=3")) addChunks(document, 5, { at: 0, children: 2, seed: 9 });
    };
    const pages = [];
    for (const page of [1, 2, 3]) pages.push((await ask(server, `${list}?page=${page}&limit=10`)).json);
    expect(pages.map(({ total }) => total)).toEqual([30, 25, 30]);
    expect(pages.flatMap(({ data }) => idsOf(data))).toEqual([
      ...before.slice(0, 10),
      ...before.slice(15, 25),
      ...before.slice(20),
    ]);
    const added = document.chunks[0]?.id;
    expect((await ask(server, `${list}/${added}/child_chunks`)).json.total).toBe(2);
    swapChunks(document, 0, 1);
    expect(document.chunks[1]?.id).toBe(added);
  });

  it("answers 599 with the stack if a test's hook throws", async () => {
    const { server, list } = await serveDocument({ chunks: 1 });
    server.behaviour.onRequest = () => {
      throw new Error("mine");
    };
    const response = await fetch(list);
    expect(response.status).toBe(599);
    expect(await response.text()).toContain("mine");
  });
});
