import { get } from "node:http";
import { describe, expect, it } from "vitest";
import { inFull } from "../rounds.js";
import { ask, closeAfterEach, idsOf, type ServedDocument, serveDocument } from "./ask.js";
import { type Fault, firstOf, firstTimes, randomTransientFaults } from "./faults.js";
import type { JsonObject } from "./json.js";
import { type RateLimit, RateWindow } from "./rate-limit.js";

closeAfterEach();

function startFaulty(fault: Fault): Promise<ServedDocument> {
  return serveDocument({ chunks: 30 }, { faults: firstTimes(1, fault, "/segments"), resign: false });
}

/** Reads the bytes of a body until it ends, breaks, or has `most` bytes. `error`: why it broke, if it did. */
function bytesOf(
  { server, list }: ServedDocument,
  most: number,
): Promise<{ bytes: Buffer; headers: object; error?: string }> {
  return new Promise((resolve, reject) => {
    const request = get(list, { headers: { authorization: `Bearer ${server.key}` } }, (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      const done = (error?: string) =>
        resolve({ bytes: Buffer.concat(parts), headers: response.headers, ...(error !== undefined && { error }) });
      response.on("data", (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length >= most) request.destroy();
      });
      response.on("end", () => done());
      response.on("error", (error) => done(error.message));
    });
    request.on("error", reject);
  });
}

describe("faults of answers", () => {
  it("status: any code, with a JSON, HTML or empty body and headers", async () => {
    const headers = { "retry-after": "7" };
    const json = await startFaulty({ kind: "status", status: 429, headers, code: "slow_down", message: "Slow." });
    const first = await ask(json.server, json.list);
    expect([first.headers.get("retry-after"), first.json]).toEqual([
      "7",
      { code: "slow_down", message: "Slow.", status: 429 },
    ]);
    expect((await ask(json.server, json.list)).status).toBe(200);
    expect(json.server.requests).toMatchObject([
      { status: 429, fault: "status" },
      { status: 200, fault: undefined },
    ]);
    const html = await startFaulty({ kind: "status", status: 522, body: "html" });
    expect((await bytesOf(html, 1e9)).bytes.toString()).toContain("<title>522");
    const empty = await startFaulty({ kind: "status", status: 503, body: "empty" });
    expect((await bytesOf(empty, 1e9)).bytes).toHaveLength(0);
  });

  it("ok-with-error-body and redirect", async () => {
    const wrong = await startFaulty({ kind: "ok-with-error-body" });
    expect(await ask(wrong.server, wrong.list)).toMatchObject({ status: 200, json: { status: 500 } });
    const away = await startFaulty({ kind: "redirect", location: "http://other.example/v1", status: 308 });
    const { status, headers } = await ask(away.server, away.list);
    expect([status, headers.get("location")]).toEqual([308, "http://other.example/v1"]);
  });

  it("empty-page and repeated-page keep the envelope", async () => {
    const empty = await startFaulty({ kind: "empty-page" });
    expect((await ask(empty.server, empty.list)).json).toMatchObject({ data: [], total: 30, page: 1 });
    const again = await startFaulty({ kind: "repeated-page" });
    const { json } = await ask(again.server, `${again.list}?page=2&limit=10`);
    expect([json.page, idsOf(json.data)]).toEqual([2, again.document.chunks.slice(0, 10).map(({ id }) => id)]);
  });

  it("missing-data, missing-total, missing-id", async () => {
    const read = async (kind: "missing-data" | "missing-total" | "missing-id") => {
      const { server, list } = await startFaulty({ kind });
      return (await ask(server, list)).json;
    };
    expect(Object.keys(await read("missing-data"))).toEqual(["doc_form", "total", "has_more", "limit", "page"]);
    expect(await read("missing-total")).not.toHaveProperty("total");
    const rows = (await read("missing-id")).data as JsonObject[];
    expect(rows.map((row) => "id" in row)).toEqual([false, ...Array(19).fill(true)]);
  });
});

describe("faults of the bytes and the connection", () => {
  it("reset-before and reset-mid-body", async () => {
    const before = await startFaulty({ kind: "reset-before" });
    await expect(bytesOf(before, 1e9)).rejects.toThrow("ECONNRESET");
    expect(before.server.requests[0]?.status).toBe(0);
    for (const chunked of [false, true]) {
      const middle = await startFaulty({ kind: "reset-mid-body" });
      middle.server.behaviour.chunked = chunked;
      const { bytes, error } = await bytesOf(middle, 1e9);
      expect([bytes.length > 0, error]).toEqual([true, "aborted"]);
      expect((await ask(middle.server, middle.list)).json.total).toBe(30);
    }
  });

  it("truncated-json, invalid-json, not-utf8: status 200 and valid HTTP, but a broken body", async () => {
    const read = async (kind: "truncated-json" | "invalid-json" | "not-utf8") =>
      (await bytesOf(await startFaulty({ kind }), 1e9)).bytes;
    for (const kind of ["truncated-json", "invalid-json"] as const) {
      const text = (await read(kind)).toString();
      expect(text.startsWith('{"data":[{"id":')).toBe(true);
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    }
    const bytes = await read("not-utf8");
    expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toThrow(TypeError);
    expect(JSON.parse(new TextDecoder().decode(bytes)).total).toBe(30);
  });

  it("endless-body continues as long as the client reads", async () => {
    const { bytes } = await bytesOf(await startFaulty({ kind: "endless-body" }), 20e6);
    expect(bytes.length).toBeGreaterThanOrEqual(20e6);
  });

  it.runIf(inFull)("gzip-bomb is small on the wire and large when decompressed", async () => {
    const { bytes, headers } = await bytesOf(await startFaulty({ kind: "gzip-bomb", bytes: 32 * 2 ** 20 }), 1e9);
    expect(bytes.length).toBeLessThan(100_000);
    expect(headers).toMatchObject({ "content-encoding": "gzip" });
    const { server, list } = await startFaulty({ kind: "gzip-bomb", bytes: 32 * 2 ** 20 });
    expect((await ask(server, list)).json).toEqual({ data: [], total: 0 });
  });

  it("hang never answers; drip sends one byte at a time", async () => {
    const hang = await startFaulty({ kind: "hang" });
    const signal = AbortSignal.timeout(100);
    await expect(ask(hang.server, hang.list, { signal })).rejects.toThrow("timeout");
    const drip = await startFaulty({ kind: "drip", everyMs: 5 });
    const start = performance.now();
    const { bytes } = await bytesOf(drip, 20);
    expect([bytes.length, performance.now() - start > 90]).toEqual([20, true]);
  });
});

describe("rate limits", () => {
  it.each([
    ["429", 429, null],
    ["429-seconds", 429, "60"],
    ["429-date", 429, "date"],
    ["403-sentence", 403, null],
    ["503", 503, "60"],
  ] as const)("refuse with %s", async (answer, status, retryAfter) => {
    const { server, list } = await serveDocument({ chunks: 1 }, { rateLimit: { max: 2, window: 60_000, answer } });
    const got = [];
    for (let request = 0; request < 3; request++) got.push(await ask(server, list));
    expect(got.map((one) => one.status)).toEqual([200, 200, status]);
    const header = got[2]?.headers.get("retry-after") ?? null;
    if (retryAfter === "date") expect(Math.abs(Date.parse(header ?? "") - Date.now() - 60_000)).toBeLessThan(2_000);
    else expect(header).toBe(retryAfter);
    if (answer === "403-sentence") expect(got[2]?.json.message).toContain("knowledge base request rate limit");
    server.reset();
    expect((await ask(server, list)).status).toBe(200);
  });

  it("count refused requests in the sliding window, and report how long to wait", () => {
    const limit: RateLimit = { perSecond: 2, answer: "429" };
    const window = new RateWindow();
    const waits = [0, 100, 400, 1_050, 1_350].map((now) => window.arrive(limit, now));
    expect(waits).toEqual([0, 0, 700, 350, 700]);
    expect(window.arrive(limit, 2_350)).toBe(0);
  });
});

describe("random faults", () => {
  it("are reproducible by seed, occur at about the given rate, and at most upTo times in a row", () => {
    const request = {
      method: "GET",
      query: "page=1",
      headers: {},
      at: 0,
      nth: 0,
      inFlight: 1,
      status: 0,
      fault: undefined,
    };
    const series = (seed: number) =>
      Array.from({ length: 200 }, (_, url) =>
        Array.from({ length: 12 }, (_, nth) =>
          randomTransientFaults(seed, 0.5, 2)({ ...request, path: `/${url}` }, nth),
        ),
      );
    const all = series(1);
    expect(series(1)).toEqual(all);
    expect(series(2)).not.toEqual(all);
    const firsts = all.filter(([first]) => first).length;
    expect(Math.abs(firsts - 100)).toBeLessThan(30);
    expect(new Set(all.flat().map((fault) => JSON.stringify(fault))).size).toBe(9);
    const shapes = all.map((faults) => faults.map((fault) => (fault ? "x" : ".")).join(""));
    expect(shapes.some((shape) => shape.includes("xx"))).toBe(true);
    expect(shapes.some((shape) => shape.includes("xxx"))).toBe(false);
  });

  it("combine with rules for some URLs", async () => {
    const faults = firstOf(firstTimes(2, { kind: "empty-page" }, /page=2/), randomTransientFaults(1, 0, 1));
    const { server, list } = await serveDocument({ chunks: 30 }, { faults });
    const rows = async (page: number) => idsOf((await ask(server, `${list}?page=${page}&limit=10`)).json.data).length;
    expect([await rows(1), await rows(2), await rows(2), await rows(2)]).toEqual([10, 0, 0, 10]);
  });
});
