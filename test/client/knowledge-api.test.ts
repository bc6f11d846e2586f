import { describe, expect, it } from "vitest";
import type { KnowledgeApi } from "../../src/client/knowledge-api.js";
import { SkipError } from "../../src/errors.js";
import { openTestClient } from "./open-test-client.js";
import { rejection } from "./open-test-http.js";
import { json, serve } from "./serve.js";

const answer = json({ data: [{ id: "a" }], total: 1, fields: [{ name: "uploader" }] });
const document = { datasetId: "set", documentId: "doc", status: [], keyword: undefined };
const odd = [
  "a/b",
  "..",
  ".",
  "...",
  "a?b",
  "a#b",
  "100%",
  "%2F",
  "ü",
  "😀",
  "a b",
  "a+b",
  "&=;",
  "\\",
  "\u0000",
  "'*()!~",
];

/** The single request that the call sends: path segments after the base path, and the query, decoded as on a server. */
async function asked(call: (api: KnowledgeApi) => Promise<unknown>) {
  const { url, requests } = await serve(answer);
  await call(openTestClient(url));
  expect(requests).toHaveLength(1);
  expect(requests[0]?.method).toBe("GET");
  const [path = "", query = ""] = requests[0]?.url?.split("?") ?? [];
  const segments = path.split("/").slice(2).map(decodeURIComponent);
  return { path, segments, query, pairs: [...new URLSearchParams(query)] };
}

describe("the operations", () => {
  it("pages of the datasets, those included that only their owners see", async () => {
    const first = await asked((api) => api.datasets(1));
    expect([first.path, first.query]).toEqual(["/v1/datasets", "page=1&limit=100&include_all=true"]);
    expect(await asked((api) => api.datasets(2, 50, false))).toMatchObject({ query: "page=2&limit=50" });
  });

  it("pages of the documents of a dataset", async () => {
    const { path, query } = await asked((api) => api.documents("set", 3));
    expect([path, query]).toEqual(["/v1/datasets/set/documents", "page=3&limit=100"]);
  });

  it("metadata fields", async () => {
    const { path, query } = await asked((api) => api.metadataFields("set"));
    expect([path, query]).toEqual(["/v1/datasets/set/metadata/built-in", ""]);
  });

  it.each([1, 2, 99_999])("page %i of the chunks: always 100 rows asked", async (page) => {
    const { path, query } = await asked((api) => api.chunks(document, page));
    expect([path, query]).toEqual(["/v1/datasets/set/documents/doc/segments", `page=${page}&limit=100`]);
  });

  it("chunks with a filter: status repeated, keyword unchanged", async () => {
    const keyword = "Ö & = + % # 😀 'x'";
    const filter = { ...document, status: ["completed", "re segment"], keyword };
    const { pairs, query } = await asked((api) => api.chunks(filter, 1));
    expect(pairs).toEqual([
      ["page", "1"],
      ["limit", "100"],
      ["status", "completed"],
      ["status", "re segment"],
      ["keyword", keyword],
    ]);
    expect(query).toContain("re%20segment"); // some servers do not read + as a blank
  });

  it("child chunks: of every chunk, whatever filter the document has", async () => {
    const filter = { ...document, status: ["completed"], keyword: "x" };
    const { path, query } = await asked((api) => api.childChunks(filter, "chunk", 3));
    expect(path).toBe("/v1/datasets/set/documents/doc/segments/chunk/child_chunks");
    expect(query).toBe("page=3&limit=100");
  });

  it.each([
    ["a list alone", [{ id: "t", name: "law" }]],
    ["a list in an object", { data: [{ id: "t", name: "law" }] }],
    ["no tags", []],
  ])("tags, even as the first request: %s", async (_, body) => {
    const { url, requests } = await serve(json(body));
    expect(await openTestClient(url).tags()).toEqual(Array.isArray(body) ? body : body.data);
    expect(requests.map(({ url: path }) => path)).toEqual(["/v1/datasets/tags"]);
  });

  it("one chunk", async () => {
    const { url, requests } = await serve(json({ data: { id: "chunk", content: "x" }, doc_form: "text_model" }));
    expect(await openTestClient(url).chunk(document, "chunk/1")).toEqual({ id: "chunk", content: "x" });
    expect(requests.map(({ method, url: path }) => [method, path])).toEqual([
      ["GET", "/v1/datasets/set/documents/doc/segments/chunk%2F1"],
    ]);
  });

  it("one chunk that does not exist, or has no id", async () => {
    const nothing = await serve((_, response) => response.writeHead(404).end('{"code":"not_found","message":"Gone."}'));
    const gone = await rejection(openTestClient(nothing.url).chunk(document, "x"));
    expect([gone, gone.message]).toEqual([expect.any(SkipError), expect.stringContaining("404 not_found Gone.")]);
    const { url } = await serve(json({ data: { content: "x" } }));
    const { message } = await rejection(openTestClient(url).chunk(document, "x"));
    expect(message).toContain('the answer has no object "data" with an "id"');
  });

  it.each(odd)("no variable adds or removes a segment: %j", async (text) => {
    const all = { ...document, datasetId: text, documentId: text };
    const status = await asked((api) => api.indexingStatus(text, text));
    expect(status.segments).toEqual(["datasets", text, "documents", text, "indexing-status"]);
    expect(status.path).not.toMatch(/\/\.\.?\//); // a proxy would resolve such a path segment
    expect((await asked((api) => api.childChunks(all, text, 1))).segments).toEqual([
      "datasets",
      text,
      "documents",
      text,
      "segments",
      text,
      "child_chunks",
    ]);
  });

  it("an id that no URL can contain is still requested, and does not end the run", async () => {
    const { segments } = await asked((api) => api.childChunks(document, "half \ud83d", 1));
    expect(segments[5]).toBe("half \ufffd");
  });
});

describe("the answers", () => {
  it("are checked", async () => {
    const { url } = await serve(answer);
    const api = openTestClient(url);
    const page = { rows: [{ id: "a" }], total: 1, docForm: null };
    const chunks = await api.chunks(document, 1);
    expect(chunks).toMatchObject(page);
    expect(Math.abs((chunks.answeredAt ?? 0) - Date.now())).toBeLessThan(5_000); // taken from the Date header
    expect(await api.childChunks(document, "chunk", 1)).toEqual(page);
    expect(await api.indexingStatus("set", "batch")).toEqual([{ id: "a" }]);
    expect(await api.metadataFields("set")).toEqual([{ name: "uploader" }]);
  });

  it("that miss something are read again, then name the URL", async () => {
    const { url, requests } = await serve((request, response) =>
      json(requests.length === 1 ? { data: [], total: 0 } : { data: [] })(request, response),
    );
    const client = openTestClient(url, { retries: 1 });
    await client.chunks(document, 1); // if the first answer had no total, the client would report the wrong service
    const error = await rejection(client.chunks(document, 4));
    const asked = `${url}/datasets/set/documents/doc/segments?page=4&limit=100`;
    expect(error.name).toBe("GaveUpError");
    expect(error.message).toBe(`GET ${asked}: the answer has no whole number "total" (2 tries)`);
    expect(requests).toHaveLength(3);
  });
});

it("a page of rows that is too large is fetched once; its pieces, a single row and everything else as often as asked", async () => {
  const { url, requests } = await serve((request, response) => {
    response.end(/limit=(100|1)&?$/.test(request.url ?? "") ? "x".repeat(2_000) : '{"data":[],"total":0}');
  });
  const client = openTestClient(url, { maxBody: 1_000 });
  for (let sweep = 0; sweep < 3; sweep++) {
    const error = await rejection(client.chunks(document, 1));
    expect(error).toBeInstanceOf(SkipError);
    expect(error.cause).toMatchObject({ trouble: "too large" });
    await rejection(client.chunks(document, 1, 1));
    await client.chunks(document, 1, 50);
  }
  const limits = requests.map((request) => new URL(request.url ?? "", url).searchParams.get("limit"));
  expect(limits).toEqual(["100", "1", "50", "1", "50", "1", "50"]);
});
