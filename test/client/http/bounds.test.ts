import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { jobFileNames } from "../../../src/client/failed-request.js";
import { RetryError } from "../../../src/errors.js";
import { inFull } from "../../rounds.js";
import { firstTimes } from "../../servers/faults.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { Store } from "../../servers/store.js";
import { openTestHttp, rejection } from "../open-test-http.js";
import { serve } from "../serve.js";

/** Measures how much the memory of this process grows while the work runs, including the test server. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 2);
  await work();
  clearInterval(timer);
  return Math.max(most, process.memoryUsage.rss()) - before;
}

describe("the bound of a body", () => {
  it.each([
    ["plain", false, 1_000],
    ["gzip", true, 1_000],
  ])("%s: a body of just the bound passes, one byte more does not", async (_, compressed, maxBody) => {
    const { url } = await serve((request, response) => {
      const bytes = Buffer.alloc(request.url === "/v1/fits" ? maxBody : maxBody + 1, " ");
      response.writeHead(200, compressed ? { "content-encoding": "gzip" } : {});
      response.end(compressed ? gzipSync(bytes) : bytes);
    });
    const { get } = openTestHttp(url, { maxBody });
    expect((await get("/fits")).body).toHaveLength(maxBody);
    const error = await rejection(get("/more"));
    expect(error).toBeInstanceOf(RetryError);
    expect(error.message).toBe(`GET ${url}/more: the body is longer than 0.001 MB, the limit set by service.max_body`);
    const { get: getUnset } = openTestHttp(url, { maxBody, names: { ...jobFileNames, maxBody: null } });
    const { message } = await rejection(getUnset("/more"));
    expect(message).toBe(`GET ${url}/more: the body is longer than 0.001 MB`);
    expect(error).toMatchObject({ status: 200 }); // the error has the status of the answer, so the service was reached
  });

  it("an endless body is cut off near the bound, and its connection closed", async () => {
    const server = await startRealisticServer(new Store(), { faults: firstTimes(99, { kind: "endless-body" }) });
    try {
      const { get, received } = openTestHttp(server.url, { connections: 1 });
      const grown = await growth(async () => {
        for (let time = 0; time < 5; time++) {
          const error = await rejection(get("/datasets"));
          expect(error.message).toContain("the body is longer than 1 MB");
        }
      });
      expect(received()).toBeGreaterThan(5_000_000);
      expect(received()).toBeLessThan(6_000_000);
      expect(grown).toBeLessThan(60_000_000);
      server.behaviour.faults = () => undefined;
      expect((await get("/datasets")).status).toBe(401);
    } finally {
      await server.close();
    }
  });

  it.runIf(inFull)("a body that arrives byte by byte needs about as much memory as any other", async () => {
    const { url } = await serve(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(1_000_000)}0\r\n\r\n`);
    });
    const { get } = openTestHttp(url);
    const grown = await growth(async () => expect((await get()).body).toHaveLength(1_000_000));
    expect(grown).toBeLessThan(60_000_000);
  });

  it.runIf(inFull)("a bomb is not unpacked beyond the bound", async () => {
    const bomb = gzipSync(Buffer.alloc(150_000_000, " "), { level: 2 });
    const { url } = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    const { get } = openTestHttp(url);
    const grown = await growth(async () => {
      const error = await rejection(get());
      expect(error).toBeInstanceOf(RetryError);
      expect(error.message).toContain("the body is longer than 1 MB");
    });
    expect(grown).toBeLessThan(60_000_000);
  });
});

describe("the time of a request", () => {
  it.runIf(inFull)("ends one that still waits for its connection, and does not send it afterwards", async () => {
    const arrived = Promise.withResolvers<void>();
    const { url, requests } = await serve((request, response) => {
      if (request.url === "/v1/slow") {
        arrived.resolve();
        setTimeout(() => response.end("{}"), 300);
      } else response.end("{}");
    });
    const patient = openTestHttp(url, { connections: 1 });
    await patient.get("/warm");
    const { get } = openTestHttp(url, { connections: 1, timeout: 0.1 });
    const both = Promise.allSettled([get("/slow"), get("/second")]);
    await arrived.promise;
    for (const start = performance.now(); performance.now() - start < 150; ); // blocks the event loop: both timeouts are due at once
    const [first, second] = await both;
    expect([first.status, second.status]).toEqual(["rejected", "rejected"]);
    await patient.get("/slow"); // longer than the first one takes
    expect(requests.map((request) => request.url)).not.toContain("/v1/second");
  });

  it.runIf(inFull).each(["hang", "drip"] as const)(
    "%s: ends when its time is up, however the bytes come",
    async (kind) => {
      const server = await startRealisticServer(new Store(), { faults: () => ({ kind, everyMs: 20 }) });
      try {
        const start = performance.now();
        const error = await rejection(openTestHttp(server.url, { timeout: 0.3 }).get("/datasets"));
        const took = performance.now() - start;
        expect(error).toBeInstanceOf(RetryError);
        expect(error.message).toBe(`GET ${server.url}/datasets: no complete answer within 0.3 s`);
        expect(took).toBeGreaterThan(290);
        expect(took).toBeLessThan(3_000);
      } finally {
        await server.close();
      }
    },
  );

  it("any number of seconds will do", async () => {
    const { url } = await serve((_, response) => response.end("{}"));
    for (const timeout of [16.1, 1 / 3, 3600]) {
      expect((await openTestHttp(url, { timeout }).get()).status).toBe(200);
    }
  });

  it("an answer leaves no timer, which would keep the process alive", async () => {
    const { url } = await serve((_, response) => response.end("{}"));
    const { get } = openTestHttp(url, { timeout: 60 });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    await get();
    const before = timers();
    for (let time = 0; time < 20; time++) await get();
    expect(timers() - before).toBeLessThan(10);
  });
});

describe("the signal", () => {
  it("ends requests under way at once, with its reason", async () => {
    const controller = new AbortController();
    const { url, requests } = await serve((request, response) => {
      if (request.url === "/v1/body") response.write("{");
    });
    const { get } = openTestHttp(url, { signal: controller.signal });
    const errors = Promise.all([rejection(get("/head")), rejection(get("/body"))]);
    await expect.poll(() => requests.length).toBe(2);
    const reason = new Error("enough");
    const start = performance.now();
    controller.abort(reason);
    expect(await errors).toEqual([reason, reason]);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it("lets nothing be sent afterwards", async () => {
    const { url, requests } = await serve((_, response) => response.end("{}"));
    const reason = new Error("enough");
    const { get } = openTestHttp(url, { signal: AbortSignal.abort(reason) });
    expect(await rejection(get())).toBe(reason);
    expect(requests).toHaveLength(0);
  });
});
