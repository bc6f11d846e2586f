import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { judgeAnswer } from "../../src/client/first-contact.js";
import type { Answer } from "../../src/client/retry.js";
import { StopError } from "../../src/errors.js";
import { openTestClient } from "./open-test-client.js";
import { rejection } from "./open-test-http.js";
import { json, serve } from "./serve.js";

const lists = "https://kb.example.com/datasets/d/documents/e/segments?page=1&limit=100";
const page = "<!doctype html><title>Sign in</title>";
const usual = "check service.base_url, which usually ends in /v1";

function answer(status: number, body: unknown, headers: Answer["headers"] = {}, url = lists): Answer {
  return { url, status, headers, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) };
}

describe("a first answer", () => {
  it.each([
    [200, page, `the server answered with a web page (200 Sign in), not with the Knowledge API; ${usual}`],
    [200, "\n <Error>no</Error>", `the server answered with a web page (200), not with the Knowledge API; ${usual}`],
    [404, page, `the server answered with a web page (404 Sign in), not with the Knowledge API; ${usual}`],
    [403, page, `the server answered with a web page (403 Sign in), not with the Knowledge API; ${usual}`],
    [200, "null", `the server answered with null, not with the Knowledge API; ${usual}`],
    [200, "[]", `the server answered with [], not with the Knowledge API; ${usual}`],
    [200, { hello: "world" }, `the server answered with {"hello":"world"}, not with the Knowledge API; ${usual}`],
    [200, { data: "x" }, `the server answered with {"data":"x"}, not with the Knowledge API; ${usual}`],
    [200, { data: [{ id: 1 }] }, `the server answered with {"data":[{"id":1}]}, not with the Knowledge API; ${usual}`],
    [200, " ", `the server answered with an empty body, not with the Knowledge API; ${usual}`],
    [200, "It works!\u001b[2J", `the server answered with It works! [2J, not with the Knowledge API; ${usual}`],
    [404, { message: "no Route matched" }, `404 no Route matched; the service does not know this URL; ${usual}`],
    [404, "404 page not found", `404 page not found; the service does not know this URL; ${usual}`],
    [302, "", "302; it redirects, which is not followed"],
    [304, "", "304; not modified: a cache answers in place of the service; exclude the API from the cache"],
  ])("%i %j is not of the service", (status, body, said) => {
    const judged = judgeAnswer(answer(status, body), { key: "dataset-k" });
    expect(judged).toBeInstanceOf(StopError);
    expect(judged).toMatchObject({ message: `GET ${lists}: ${said}`, status });
  });

  it("with the content type of a web page is one, whatever is in it", () => {
    const judged = judgeAnswer(answer(200, "OK", { "content-type": "text/html; charset=utf-8" }), { key: "k" });
    expect(judged).toMatchObject({ message: expect.stringContaining("with a web page (200)") });
  });

  it.each([
    [{ status: "ok" }, expect.any(StopError)],
    [{ id: "d", name: "Handbook" }, "unclear"],
    [{ fields: [] }, "service"],
    [{ data: { id: "c" } }, "service"],
  ])("that is no list: %j", (body, expected) => {
    const one = "https://kb.example.com/v1/datasets/d";
    expect(judgeAnswer(answer(200, body, {}, one), { key: "k" })).toEqual(expected);
  });

  it("does not say that base_url ends in /v1 if it does", () => {
    const judged = judgeAnswer(answer(200, page, {}, lists.replace(".com/", ".com/v1/")), { key: "k" });
    expect(judged).toMatchObject({ message: expect.stringMatching(/Knowledge API; check service.base_url$/) });
  });

  it.each([
    ["a list", 200, { total: 0, data: [] }, "service"],
    ["a document that is not there", 404, { code: "not_found", message: "Document not found." }, "service"],
    ["a model that is missing", 400, { code: "provider_not_initialize" }, "service"],
    ["JSON that was cut", 200, '{"da', "unclear"],
    ["a refusal without a code", 400, { message: "x" }, "unclear"],
    ["an error of a proxy", 502, page, "unclear"],
    ["an error of the service", 500, { code: "internal_server_error" }, "unclear"],
    ["a throttled one", 429, page, "unclear"],
    ["a timeout of a proxy", 408, page, "unclear"],
  ] as const)("that is %s: %i %j is %s", (_, status, body, expected) => {
    expect(judgeAnswer(answer(status, body), { key: "k" })).toBe(expected);
  });

  it.each(["metadata/built-in", "documents/e/segments/c/child_chunks", "documents/e/segments/c"])(
    "of an older service, which has no %s, decides nothing",
    (path) =>
      expect(judgeAnswer(answer(404, page, {}, `https://kb.example.com/v1/datasets/d/${path}`), { key: "k" })).toBe(
        "unclear",
      ),
  );
});

const html = (_: unknown, response: ServerResponse) => void response.writeHead(200).end(page);
const empty = json({ data: [], total: 0 });
const ref = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };

describe("the client", () => {
  it("ends all requests for one reason, without a retry or a log line", async () => {
    const { url, requests } = await serve(html);
    const reported: string[] = [];
    const report = (text: string) => void reported.push(text);
    const client = openTestClient(url, { concurrency: 8, retries: 6, say: report, onRetry: report });
    const errors = await Promise.all(Array.from({ length: 40 }, (_, at) => rejection(client.chunks(ref, at + 1))));
    expect(errors[0]?.message).toContain("answered with a web page (200 Sign in)");
    expect(new Set(errors).size).toBe(1);
    expect(requests.length).toBeLessThanOrEqual(8);
    expect(reported).toEqual([]);
  });

  it("has patience with the same answer once the service has answered", async () => {
    const { url, requests } = await serve((request, response) =>
      requests.length === 2 ? html(request, response) : empty(request, response),
    );
    const client = openTestClient(url, { retries: 1, concurrency: 1 });
    for (let number = 1; number <= 3; number++) expect(await client.chunks(ref, number)).toMatchObject({ total: 0 });
    expect(requests).toHaveLength(4);
  });

  it("finds TLS where base_url says http, and none where it says https, at the first request", async () => {
    const reported: string[] = [];
    const options = {
      retries: 6,
      onRetry: (text: string) => void reported.push(text),
      say: (text: string) => void reported.push(text),
    };
    const tls = (await serve(empty, "one")).url.replace("https:", "http:");
    const errors = await Promise.all(
      [1, 2, 3].map((number) => rejection(openTestClient(tls, options).chunks(ref, number))),
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(StopError);
      expect(error.message).toMatch(/; the server speaks TLS: service.base_url begins with https$/);
    }
    const open = (await serve(empty)).url.replace("http:", "https:");
    const error = await rejection(openTestClient(open, options).chunks(ref, 1));
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toMatch(/: the server there does not speak TLS; is it http\?$/);
    expect(reported).toEqual([]);
  });

  it("does not take a connection that is closed for TLS", async () => {
    const { url, requests } = await serve((request, response) =>
      requests.length === 1 ? void request.socket.destroy() : empty(request, response),
    );
    expect(await openTestClient(url, { retries: 1 }).chunks(ref, 1)).toMatchObject({ total: 0 });
  });
});
