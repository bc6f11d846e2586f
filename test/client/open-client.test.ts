import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { DocumentRef } from "../../src/client/knowledge-api.js";
import { RequestCounts } from "../../src/client/request-counts.js";
import { GaveUpError, RetryError, SkipError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { closeAfterEach, serveDocument } from "../servers/ask.js";
import { type Fault, randomTransientFaults } from "../servers/faults.js";
import { openTestClient } from "./open-test-client.js";
import { everythingOf, rejection, testKey } from "./open-test-http.js";
import { json, serve } from "./serve.js";

closeAfterEach();

const document: DocumentRef = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
const page = { data: [], total: 0 };

describe("the limit of requests in flight", () => {
  it.runIf(inFull).each([1, 3, 16])(
    "%i, whatever fails and is read again, over all operations",
    async (concurrency) => {
      const behaviour = { faults: randomTransientFaults(concurrency, 0.3, 1), latency: () => Math.random() * 4 };
      const { server, dataset, document: held } = await serveDocument({ chunks: 60, childrenPerChunk: 1 }, behaviour);
      const progress = new RequestCounts();
      const client = openTestClient(server.url, { key: server.key, concurrency, retries: 6, progress });
      let most = 0;
      const timer = setInterval(() => {
        most = Math.max(most, progress.inFlight);
      }, 1);
      const ref = { ...document, datasetId: dataset.id, documentId: held.id };
      await Promise.all([
        ...held.chunks.map(({ id }) => client.childChunks(ref, id, 1)),
        ...[1, 2, 3, 4, 5].map((number) => client.chunks(ref, number)),
        client.metadataFields(dataset.id),
      ]);
      clearInterval(timer);
      expect(server.maxInFlight).toBeLessThanOrEqual(concurrency);
      expect(server.maxInFlight).toBeGreaterThan(concurrency / 2);
      expect(most).toBeLessThanOrEqual(concurrency);
      const faulty = server.requests.filter(({ fault }) => fault !== undefined);
      expect(faulty.length).toBeGreaterThan(5);
      expect(progress).toMatchObject({
        sent: server.requests.length,
        retried: faulty.length,
        throttled: server.requests.filter(({ status }) => status === 429).length,
        inFlight: 0,
      });
    },
  );

  it("a wait for a retry holds no slot", async () => {
    const { url, requests } = await serve((request, response) => {
      if (request.url?.includes("/built-in")) response.writeHead(500, { "retry-after": "60" }).end();
      else json(page)(request, response);
    });
    const client = openTestClient(url, { concurrency: 1, retries: 1 });
    const waiting = client.metadataFields("set");
    waiting.catch(() => {});
    await expect.poll(() => requests.length).toBe(1);
    for (let number = 1; number <= 5; number++)
      expect(await client.chunks(document, number)).toMatchObject({ total: 0 });
    const reason = new Error("enough");
    client.stop(reason);
    expect(await rejection(waiting)).toBe(reason);
  });

  it.runIf(inFull)("64 requests in flight or 64 waits raise no warning in Node", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on("warning", warn);
    const { url } = await serve((_, response) => void setTimeout(() => response.writeHead(500).end(), 20));
    const client = openTestClient(url, { concurrency: 64, retries: 1, signal: new AbortController().signal });
    await Promise.allSettled(Array.from({ length: 100 }, (_, index) => client.chunks(document, index + 1)));
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });
});

describe("the request counts", () => {
  it("counts bytes as they came, before decompression", async () => {
    const { server, dataset, document: held } = await serveDocument({ chunks: 100 }, { gzip: true });
    const progress = new RequestCounts();
    const client = openTestClient(server.url, { key: server.key, progress });
    const { rows } = await client.chunks({ ...document, datasetId: dataset.id, documentId: held.id }, 1);
    expect(progress.bytes).toBeGreaterThan(5_000);
    expect(progress.bytes).toBeLessThan(JSON.stringify(rows).length / 2);
  });

  it.each([0, 1, 2])("counts every refusal, the last one too (%i retries)", async (retries) => {
    const { url } = await serve((_, response) => response.writeHead(429, { "retry-after": "0" }).end());
    const progress = new RequestCounts();
    await rejection(openTestClient(url, { retries, progress }).chunks(document, 1));
    expect(progress).toMatchObject({
      sent: retries + 1,
      retried: retries,
      throttled: retries + 1,
      answered: retries + 1,
    });
  });
});

describe("retries", () => {
  it("that end without an answer leave nothing that waits for one", async () => {
    const { url } = await serve((request, response) =>
      request.url?.includes("/built-in") ? request.socket.destroy() : json(page)(request, response),
    );
    const progress = new RequestCounts();
    const client = openTestClient(url, { progress });
    await client.chunks(document, 1);
    await rejection(client.metadataFields("set"));
    expect(progress).toMatchObject({ sent: 2, answered: 1, inFlight: 0, silentSince: undefined });
  });

  it("are as many as asked, then the page is given up with the last reason", async () => {
    const reported: [string, number][] = [];
    const { url, requests } = await serve((_, response) =>
      response
        .writeHead(requests.length < 3 ? 500 : 502, { "content-type": "application/json", "retry-after": "0" })
        .end(`{"code":"busy","message":"Try number ${requests.length}."}`),
    );
    const onRetry = (reason: string, wait: number) => void reported.push([reason, wait]);
    const error = await rejection(openTestClient(url, { retries: 2, onRetry }).chunks(document, 1));
    const asked = `GET ${url}/datasets/set/documents/doc/segments?page=1&limit=100`;
    expect(error).toBeInstanceOf(GaveUpError);
    expect(error.message).toBe(`${asked}: 502 busy Try number 3. (3 tries)`);
    expect(error).toMatchObject({ status: 502, code: "busy" });
    expect(error.cause).toBeInstanceOf(RetryError);
    expect(requests).toHaveLength(3);
    expect(reported.map(([reason]) => reason)).toEqual([
      `${asked}: 500 busy Try number 1.`,
      `${asked}: 500 busy Try number 2.`,
    ]);
    for (const [, wait] of reported) expect(wait).toBeLessThanOrEqual(250);
  });

  const sentence = "Sorry, you have reached the knowledge base request rate limit of your subscription.";
  const transient: readonly Fault[] = [
    { kind: "reset-before" },
    { kind: "reset-mid-body" },
    { kind: "truncated-json" },
    { kind: "invalid-json" },
    { kind: "not-utf8" },
    { kind: "ok-with-error-body" },
    { kind: "missing-data" },
    { kind: "missing-total" },
    { kind: "missing-id" },
    { kind: "hang" },
    { kind: "drip" },
    { kind: "status", status: 408 },
    { kind: "status", status: 425 },
    { kind: "status", status: 429, body: "html", headers: { "retry-after": "0" } },
    { kind: "status", status: 503, body: "html" },
    { kind: "status", status: 524, body: "empty" },
    { kind: "status", status: 403, message: sentence },
  ];

  it("overcome everything that may pass, one kind on every page", async () => {
    const { server, dataset, document: held } = await serveDocument({ chunks: transient.length * 100 });
    const pageOf = (query: string) => Number(new URLSearchParams(query).get("page"));
    server.behaviour.resign = false;
    server.behaviour.faults = ({ query }, nth) => (nth === 0 ? transient[pageOf(query) - 1] : undefined);
    const options = { concurrency: 64, retries: 1, timeout: 3, maxBody: 1_000_000 };
    const client = openTestClient(server.url, { key: server.key, ...options });
    const ref = { ...document, datasetId: dataset.id, documentId: held.id };
    const pages = await Promise.all(transient.map((_, index) => client.chunks(ref, index + 1)));
    expect(pages.flatMap(({ rows }) => rows)).toEqual(held.chunks);
    for (const [index, { kind }] of transient.entries()) {
      const asked = server.requests.filter(({ query }) => pageOf(query) === index + 1);
      expect(asked.map(({ fault }) => fault)).toEqual([kind, undefined]);
    }
  });

  it.each<Fault>([{ kind: "endless-body" }, { kind: "gzip-bomb", bytes: 8_000_000 }])(
    "a body above the bound is fetched once: $kind",
    async (fault) => {
      const { server, dataset, document: held } = await serveDocument({ chunks: 3 }, { faults: () => fault });
      const client = openTestClient(server.url, { key: server.key, retries: 6, maxBody: 1_000_000 });
      const ref = { ...document, datasetId: dataset.id, documentId: held.id };
      const error = await rejection(client.chunks(ref, 1));
      expect(error).toBeInstanceOf(SkipError);
      expect(error.cause).toMatchObject({ trouble: "too large" });
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([400, 403, 404, 302])("%i is final", async (status) => {
    const { url, requests } = await serve((_, response) => response.writeHead(status, { location: "/y" }).end());
    expect(await rejection(openTestClient(url, { retries: 6 }).chunks(document, 1))).toMatchObject({ status });
    await sleep(50);
    expect(requests).toHaveLength(1);
  });
});

describe("the key", () => {
  it.runIf(inFull)("appears in no error and in no report of a retry", async () => {
    const echo = `{"code":"${testKey}","message":"Bearer ${testKey} or ${encodeURIComponent(testKey)}"`;
    const bodies = (status: number) => [echo, `${echo}}`, `<title>${status} ${testKey}</title>`];
    const answers = [200, 302, 400, 401, 403, 404, 429, 500, 503].flatMap((status) =>
      bodies(status).map((body) => ({ status, body })),
    );
    const reported: string[] = [];
    const readAll = answers.map(async ({ status, body }) => {
      const { url } = await serve((_, response) => response.writeHead(status, { location: `/${testKey}` }).end(body));
      const client = openTestClient(url, { retries: 1, onRetry: (reason) => void reported.push(reason) });
      const error = await rejection(client.chunks(document, 1));
      expect(everythingOf(error)).not.toContain("Test/Key");
      expect(everythingOf(error)).not.toContain("Test%2FKey");
    });
    await Promise.all(readAll);
    expect(reported.length).toBeGreaterThan(5);
    expect(reported.join()).not.toContain("Test/Key");
  });
});

it("every answer is shown, with its headers, whatever its status, and how long it took", async () => {
  const { server, dataset, document: held } = await serveDocument({ chunks: 3 }, { gzip: true });
  const seen: string[] = [];
  const client = openTestClient(server.url, {
    key: server.key,
    onAnswer: ({ path }, { status, headers, body }, milliseconds) => {
      expect(milliseconds).toBeGreaterThanOrEqual(0);
      expect(Date.parse(String(headers.date))).toBeGreaterThan(0);
      seen.push(`${path.split("/").at(-1)} ${status} ${headers["content-encoding"]} ${body.length > 0}`);
    },
  });
  await client.chunks({ ...document, datasetId: dataset.id, documentId: held.id }, 1);
  await expect(client.chunks({ ...document, datasetId: dataset.id }, 1)).rejects.toThrow(SkipError);
  expect(seen).toEqual(["segments 200 gzip true", "segments 404 gzip true"]);
});
