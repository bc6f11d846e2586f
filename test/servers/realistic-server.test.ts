import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ask, closeAfterEach, idsOf, serveDocument } from "./ask.js";
import { rawNumber } from "./json.js";
import { growingBatch, makeDocument, makeStatusEntry } from "./store.js";

closeAfterEach();
const fullForm = "hierarchical_model";

describe("the four operations", () => {
  it("answers a chunk page with its envelope and all 27 fields", async () => {
    const { server, list, document } = await serveDocument({ chunks: 45 }, { resign: false });
    const { status, headers, json } = await ask(server, `${list}?page=2`);
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(json).toEqual({
      data: document.chunks.slice(20, 40),
      doc_form: "text_model",
      total: 45,
      has_more: true,
      limit: 20,
      page: 2,
    });
    expect(Object.keys(document.chunks[0] ?? {})).toHaveLength(27);
  });

  it("answers child pages, and the empty list for a chunk without children", async () => {
    const childrenPerChunk = (index: number) => (index === 0 ? 101 : 0);
    const { server, list, document } = await serveDocument({ chunks: 2, childrenPerChunk, docForm: fullForm });
    const [parent, other] = document.chunks;
    const second = await ask(server, `${list}/${parent?.id}/child_chunks?page=2&limit=100`);
    const rows = document.children.get(parent?.id ?? "");
    expect(second.json).toEqual({ data: rows?.slice(100), total: 101, total_pages: 2, page: 2, limit: 100 });
    expect((await ask(server, `${list}/${other?.id}/child_chunks`)).json).toMatchObject({ data: [], total_pages: 0 });
    expect(parent?.child_chunks).toHaveLength(101);
  });

  it("answers the built-in fields and batches, including growing ones and percent-encoded names", async () => {
    const { server, dataset, document } = await serveDocument({ chunks: 1 });
    const base = `${server.url}/datasets/${dataset.id}`;
    expect((await ask(server, `${base}/metadata/built-in`)).json.fields).toHaveLength(5);
    dataset.batches.set("a b/ä", [makeStatusEntry(document.id, { error: "x" })]);
    dataset.batches.set("grows", growingBatch([document.id], 30, 15));
    const batch = (name: string) => ask(server, `${base}/documents/${encodeURIComponent(name)}/indexing-status`);
    expect((await batch("a b/ä")).json.data).toMatchObject([{ id: document.id, error: "x" }]);
    const counts = [];
    for (let read = 0; read < 3; read++) counts.push((await batch("grows")).json.data);
    expect(counts).toMatchObject([
      [{ completed_segments: 0, total_segments: 0, indexing_status: "indexing" }],
      [{ completed_segments: 15, total_segments: 30 }],
      [{ completed_segments: 30, total_segments: 30, indexing_status: "completed" }],
    ]);
    expect((await batch("none")).json).toMatchObject({ code: "not_found", status: 404 });
  });

  it("filters by repeated status and by keyword in any case", async () => {
    const { server, list, document } = await serveDocument({ chunks: 90 });
    const wanted = document.chunks.filter(({ status }) => status === "error" || status === "indexing");
    expect(wanted.length).toBeGreaterThan(1);
    const { json } = await ask(server, `${list}?status=error&status=indexing&limit=100`);
    expect(idsOf(json.data)).toEqual(wanted.map(({ id }) => id));
    const word = (await ask(server, `${list}?keyword=SCHLÜSSEL&limit=100`)).json;
    expect(word.total).toBe(document.chunks.filter(({ content }) => String(content).includes("Schlüssel")).length);
  });

  it("answers the lists of datasets and documents, newest documents first", async () => {
    const { server, dataset, document } = await serveDocument({ chunks: 1 });
    const newer = makeDocument({ chunks: 1, seed: 2 });
    dataset.documents.set(newer.id, newer);
    const datasets = await ask(server, `${server.url}/datasets?limit=100&include_all=true`);
    expect(datasets.json).toMatchObject({ data: [{ id: dataset.id, document_count: 2 }], total: 1, has_more: false });
    const documents = await ask(server, `${server.url}/datasets/${dataset.id}/documents?limit=1`);
    expect(documents.json).toMatchObject({ data: [{ id: newer.id }], total: 2, has_more: true });
    expect(document.id).not.toBe(newer.id);
  });

  it("sends numbers as written, and signs links again at every read", async () => {
    const { server, list, document } = await serveDocument({ chunks: 60 });
    const linked = document.chunks.findIndex(({ sign_content }) => String(sign_content).includes("-preview?"));
    const chunk = document.chunks[linked];
    if (chunk) chunk.created_at = rawNumber("1741267200.0");
    const read = async () =>
      (await fetch(`${list}?limit=100`, { headers: { authorization: `Bearer ${server.key}` } })).text();
    const [one, two] = [await read(), await read()];
    expect(one).toContain('"created_at":1741267200.0,');
    expect(one).not.toBe(two);
    const unsigned = (text: string) => text.replaceAll(/timestamp=\d+&nonce=\w+&sign=[\w=-]+/g, "");
    expect(unsigned(one)).toBe(unsigned(two));
    server.behaviour.resign = false;
    expect(await read()).toContain(JSON.stringify(chunk?.sign_content));
  });
});

describe("refusals", () => {
  it("answers 401 to a wrong key, 404 with a suffix, HTML for an unknown URL, 400 for a wrong page", async () => {
    const { server, list, dataset } = await serveDocument({ chunks: 1 });
    const wrong = await ask(server, list, { headers: { authorization: "Bearer dataset-wrong" } });
    expect(wrong.json).toEqual({ code: "unauthorized", message: "Access token is invalid", status: 401 });
    const none = "00000000-0000-4000-8000-000000000000";
    const unknown = [`${list}/${none}/child_chunks`, list.replace(/documents\/[^/]+/, `documents/${none}`)];
    unknown.push(`${server.url}/datasets/${none}/metadata/built-in`);
    for (const url of unknown) {
      expect((await ask(server, url)).json).toMatchObject({ code: "not_found", status: 404 });
      expect((await ask(server, url)).json.message).toContain("You have requested this URI");
    }
    const html = await ask(server, list.replace("/v1", ""));
    expect([html.status, html.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    server.behaviour.details = false;
    expect((await ask(server, `${server.url}/datasets/${dataset.id}`)).status).toBe(404);
    expect((await ask(server, `${list}?page=0`)).json).toMatchObject({ code: "invalid_param", status: 400 });
  });

  it("answers 405 to anything but GET, and records it", async () => {
    const { server, list } = await serveDocument({ chunks: 1 });
    const { status, headers } = await ask(server, list, { method: "DELETE" });
    expect([status, headers.get("allow"), server.requests[0]?.method]).toEqual([405, "GET", "DELETE"]);
  });

  it("answers with a document's error instead of its rows", async () => {
    const body = { code: "provider_not_initialize", message: "No Embedding Model available.", status: 400 };
    const documentError = new Map([[makeDocument({ chunks: 1 }).id, { status: 400, body }]]);
    const { server, list, dataset } = await serveDocument({ chunks: 1 }, { documentError });
    const other = makeDocument({ chunks: 1, seed: 2 });
    dataset.documents.set(other.id, other);
    expect((await ask(server, list)).json).toEqual(body);
    expect((await ask(server, list.replace(/documents\/[^/]+/, `documents/${other.id}`))).status).toBe(200);
  });
});

it("imports nothing of the program it tests", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => /\.(ts|mjs)$/.test(name));
  const imports = files.flatMap((name) =>
    [...readFileSync(`${import.meta.dirname}/${name}`, "utf8").matchAll(/\b(?:from|import) "([^"]+)"/g)].map(
      (m) => m[1],
    ),
  );
  expect(imports.length).toBeGreaterThan(20);
  expect(imports.filter((from) => !/^(\.\/|\.\.\/rounds\.js$|node:|vitest$|vite$)/.test(from ?? ""))).toEqual([]);
});
