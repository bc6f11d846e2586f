import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { DocumentRef } from "../../src/client/knowledge-api.js";
import { type ClientOptions, openClient } from "../../src/client/open-client.js";
import { RequestCounts } from "../../src/client/request-counts.js";
import { SkipError, StopError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { openTestClient } from "./open-test-client.js";
import { rejection, testKey } from "./open-test-http.js";
import { deadUrl, json, serve } from "./serve.js";

const document: DocumentRef = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
const list = json({ data: [], total: 0 });

function pageOf(request: IncomingMessage): number {
  return Number(new URL(request.url ?? "", "http://a.example").searchParams.get("page"));
}

/** A client with pages 1 and 2 in flight, page 3 waiting for its retry, and pages 5 and 6 queued behind 4. */
async function busyClient(options: Partial<ClientOptions> = {}) {
  const { url, requests } = await serve((request, response) => {
    if (pageOf(request) === 3) response.writeHead(500, { "retry-after": "60" }).end();
    else if (pageOf(request) > 10) response.writeHead(401).end();
  });
  const progress = new RequestCounts();
  const client = openTestClient(url, { concurrency: 3, retries: 6, progress, ...options });
  const errors = Promise.all([1, 2, 3, 4, 5, 6].map((page) => rejection(client.chunks(document, page))));
  await expect.poll(() => requests.length).toBe(4);
  return { client, errors, requests, progress };
}

describe("everything under way, in the queue and in a wait ends at once, and nothing more is sent", () => {
  const reason = new Error("enough");

  it("at stop", async () => {
    const { client, errors, requests, progress } = await busyClient();
    client.stop(reason);
    expect(await errors).toEqual(Array(6).fill(reason));
    expect(await rejection(client.chunks(document, 7))).toBe(reason);
    expect(requests).toHaveLength(4);
    expect(progress).toMatchObject({ sent: 4, inFlight: 0 });
  });

  it("at the signal", async () => {
    const controller = new AbortController();
    const { client, errors, requests } = await busyClient({ signal: controller.signal });
    controller.abort(reason);
    expect(await errors).toEqual(Array(6).fill(reason));
    expect(await rejection(client.metadataFields("set"))).toBe(reason);
    expect(requests).toHaveLength(4);
  });

  it("at close", async () => {
    const { client, errors, requests } = await busyClient();
    await client.close();
    for (const error of await errors)
      expect(error).toMatchObject({ name: "StopError", message: "the client is closed" });
    expect(await rejection(client.metadataFields("set"))).toBeInstanceOf(StopError);
    expect(requests).toHaveLength(4);
  });

  it("at a 401, which is the reason of all", async () => {
    const { url, requests } = await serve((request, response) => {
      if (pageOf(request) > 10) response.writeHead(401).end();
      else if (pageOf(request) === 3) response.writeHead(500, { "retry-after": "60" }).end();
    });
    const progress = new RequestCounts();
    const client = openTestClient(url, { concurrency: 3, retries: 6, progress });
    const errors = Promise.all([1, 2, 3, 11, 12, 13].map((page) => rejection(client.chunks(document, page))));
    const [first, ...others] = await errors;
    expect(first).toBeInstanceOf(StopError);
    expect(first?.message).toContain("the service does not accept this key (401)");
    for (const error of others) expect(error).toBe(first);
    expect(requests.map(pageOf).slice(0, 4)).toEqual([1, 2, 3, 11]);
    expect(progress.sent).toBeLessThanOrEqual(5); // one more request may start before the answer is understood
    expect(progress.inFlight).toBe(0);
  });
});

describe("a service that is gone", () => {
  it.runIf(inFull).each([1, 8])(
    "stops everything within 3 s when it never answered (concurrency %i)",
    async (concurrency) => {
      const url = await deadUrl();
      const progress = new RequestCounts();
      const client = openTestClient(url, { concurrency, retries: 6, progress });
      const start = performance.now();
      const errors = await Promise.all(
        Array.from({ length: 40 }, (_, index) => rejection(client.chunks(document, index + 1))),
      );
      expect(performance.now() - start).toBeLessThan(3_000);
      for (const error of errors) expect(error).toBe(errors[0]);
      expect(errors[0]).toBeInstanceOf(StopError);
      expect(errors[0]?.message).toMatch(
        /^the service cannot be reached: GET .*: connection refused by 127\.0\.0\.1:\d+; check that the service runs and that service.base_url is right$/,
      );
      expect(progress.sent).toBeLessThanOrEqual(concurrency + 4);
    },
  );

  it.runIf(inFull)("stops everything within 3 s when its name is unknown", async () => {
    const client = openTestClient("http://no-such-host.invalid/v1", { retries: 6 });
    const start = performance.now();
    const error = await rejection(client.chunks(document, 1));
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toContain("check service.base_url");
  });

  it("is one that accepts requests and never answers", async () => {
    const { url, requests } = await serve(() => {});
    const client = openTestClient(url, { concurrency: 3, retries: 6, silence: 0.1 });
    const errors = await Promise.all([1, 2, 3, 4, 5, 6].map((page) => rejection(client.chunks(document, page))));
    expect(errors[0]).toBeInstanceOf(StopError);
    expect(errors[0]?.message).toMatch(
      /^the service cannot be reached: GET .*: no answer within 0.1 s.*; check service.base_url$/,
    );
    expect(new Set(errors).size).toBe(1);
    expect(requests.length).toBeLessThanOrEqual(6);
  });

  it.runIf(inFull)("is one that starts an answer and never finishes it, but not one that sends slowly", async () => {
    const begin = (response: ServerResponse) => void response.writeHead(200).write('{"data":[],');
    const { url } = await serve((_, response) => begin(response));
    const error = await rejection(openTestClient(url, { retries: 6, silence: 0.1 }).chunks(document, 1));
    expect(error.message).toMatch(/^the service cannot be reached: GET .*: no answer within 0.1 s; check/);
    const slow = await serve((_, response) => {
      begin(response);
      const spaces = setInterval(() => response.write(" "), 50);
      setTimeout(() => {
        clearInterval(spaces);
        response.end('"total":0}');
      }, 600);
    });
    const client = openTestClient(slow.url, { retries: 0, silence: 0.3 });
    expect(await client.chunks(document, 1)).toMatchObject({ total: 0 });
  });

  it("is not one that leaves some pages unanswered, however many, while it answers others", async () => {
    const { url } = await serve((request, response) =>
      pageOf(request) % 3 === 0 ? list(request, response) : request.socket.destroy(),
    );
    const client = openTestClient(url, { concurrency: 2 });
    await client.chunks(document, 3);
    for (let page = 4; page <= 30; page++) {
      if (page % 3 === 0) expect(await client.chunks(document, page)).toMatchObject({ total: 0 });
      else expect(await rejection(client.chunks(document, page))).toBeInstanceOf(SkipError);
    }
  });

  it.each([
    ["too long", (response: { end: (text: string) => void }) => response.end(" ".repeat(2_000))],
    ["broken", (response: { end: (text: string) => void }) => response.end("{")],
  ])("is not one whose answers are %s", async (_, answer) => {
    const { url } = await serve((_request, response) => answer(response));
    const client = openTestClient(url, { concurrency: 1, maxBody: 1_000 });
    for (let page = 1; page <= 5; page++) {
      expect(await rejection(client.chunks(document, page))).toBeInstanceOf(SkipError);
    }
  });
});

it("a client that was closed keeps no process alive: nothing of it waits any more", async () => {
  const { url, requests } = await serve((_, response) => response.writeHead(500, { "retry-after": "60" }).end());
  const client = openClient({ baseUrl: url, key: testKey });
  const waiting = rejection(client.metadataFields("set"));
  await expect.poll(() => requests.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  await client.close();
  await waiting;
  expect(timers()).toBeLessThan(before);
});
