import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plainFolder } from "../dump/formats/folder.js";
import type { Tables } from "../dump/formats/stage.js";
import { inFull } from "../rounds.js";
import { forgeLines } from "../verify/forge.js";
import { child, chunk, document, rowOf, soundTables } from "../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../verify/write-dump.js";
import { ask, ids, read } from "./ask.js";
import { served } from "./redump.js";

const dump = async (tables: Partial<Tables>, options?: WriteOptions) =>
  served(
    await writeDump(
      await plainFolder(),
      { ...soundTables, child_chunks: [], documents: childless, ...tables },
      options,
    ),
  );

const statuses = ["completed", "error", "waiting"];
const childless = soundTables.documents.map((row) => ({ ...row, child_chunk_count: 0 }));

/** A document with 250 chunks, some of them in equal positions, and another document; the chunks of `a` have three statuses. */
const many: Partial<Tables> = {
  chunks: [
    ...Array.from({ length: 250 }, (_, at) =>
      chunk("a", `a${at}`, {
        position: at % 7,
        status: statuses[at % 3],
        content: at % 50 === 9 ? `NaÏve ${at}` : null,
      }),
    ),
    chunk("b", "b1"),
  ],
  documents: [document("a", 250, 0), document("b", 1, 0, { doc_form: null })],
};
const range = (first: number, end: number, step = 1) =>
  Array.from({ length: Math.ceil((end - first) / step) }, (_, at) => `a${first + at * step}`);

describe("the chunks of a document", () => {
  test.runIf(inFull)("come in the order of the dump, 20 per page and at most 100", async () => {
    const service = await dump(many);
    const list = "/datasets/d/documents/a/segments";
    expect(await read(service, list)).toMatchObject({
      total: 250,
      has_more: true,
      limit: 20,
      page: 1,
      doc_form: "text_model",
    });
    expect(await ids(service, list)).toEqual(range(0, 20));
    expect(await ids(service, `${list}?page=3&limit=1000`)).toEqual(range(200, 250));
    expect(await read(service, `${list}?page=3&limit=100`)).toMatchObject({ has_more: false, page: 3 });
    expect(await read(service, `${list}?page=4&limit=100`)).toMatchObject({ data: [], total: 250, has_more: false });
    expect(await read(service, "/datasets/D/documents/B/segments")).toMatchObject({ total: 1, doc_form: null });
  });

  test.runIf(inFull)("are filtered by every status that is asked for, and by keyword, whatever the case", async () => {
    const service = await dump(many);
    const list = "/datasets/d/documents/a/segments";
    expect(await ids(service, `${list}?status=error&limit=100`)).toEqual(range(1, 250, 3));
    expect(await read(service, `${list}?status=error&status=waiting&limit=100&page=2`)).toMatchObject({
      total: 166,
      has_more: false,
      data: { length: 66 },
    });
    expect(await ids(service, `${list}?keyword=na%C3%AFVE`)).toEqual(range(9, 250, 50));
    expect(await ids(service, `${list}?keyword=na%C3%AFve&status=completed&limit=1&page=2`)).toEqual(["a159"]);
    expect(await read(service, `${list}?status=none`)).toMatchObject({ data: [], total: 0, has_more: false });
    const pages = [1, 2, 3, 4].map((page) => ids(service, `${list}?status=error&limit=25&page=${page}`));
    expect((await Promise.all(pages)).flat()).toEqual(range(1, 250, 3));
  });

  test.runIf(inFull)("refuse what the service refuses", async () => {
    const service = await dump(many);
    const refused = async (path: string, key = service.key) => {
      const { status, text, type } = await ask({ url: service.url, key }, path);
      expect(type).toBe("application/json");
      return [status, JSON.parse(text).message];
    };
    for (const query of ["page=0", "limit=0", "limit=x", "page=1.5"])
      expect(await refused(`/datasets/d/documents/a/segments?${query}`)).toEqual([
        400,
        expect.stringContaining("from 1"),
      ]);
    expect(await refused("/datasets/d/documents/a/segments", "other")).toEqual([401, "Access token is invalid"]);
    expect(await refused("/datasets/x/documents/a/segments")).toEqual([404, "Dataset not found."]);
    expect(await refused("/datasets/d/documents/x/segments")).toEqual([404, "Document not found."]);
    expect(await refused("/datasets/d/documents/a/segments/b1/child_chunks")).toEqual([404, "Segment not found."]);
    expect(await refused("/datasets/d/documents/2026/indexing-status")).toEqual([404, "Documents not found."]);
  });
});

describe("child chunks", () => {
  const children = [
    ...Array.from({ length: 130 }, (_, at) => child("a", "a1", `k${at}`, { content: at === 7 ? "Seven" : "text" })),
    child("a", "a3", "only"),
  ];
  const tables = (content?: string): Partial<Tables> => ({
    chunks: [chunk("a", "a1"), chunk("a", "a2"), chunk("a", "a3"), chunk("b", "b1")],
    child_chunks: content === undefined ? children : children.map((row) => ({ ...row, content })),
    documents: [document("a", 3, 131, { doc_form: "hierarchical_model" }), document("b", 1, 0)],
  });
  const embedded = async (service: Parameters<typeof read>[0]) =>
    (await read(service, "/datasets/d/documents/a/segments")).data.map(({ child_chunks }) =>
      Array.isArray(child_chunks) ? child_chunks.length : child_chunks,
    );

  test("are listed page by page, and embedded in their chunks", async () => {
    const service = await dump(tables());
    const list = "/datasets/d/documents/a/segments/a1/child_chunks";
    expect(await read(service, list)).toMatchObject({ total: 130, total_pages: 7, page: 1, limit: 20 });
    expect(await ids(service, `${list}?page=2&limit=100`)).toEqual(children.slice(100, 130).map(({ id }) => id));
    expect(await read(service, `${list}?keyword=seven`)).toMatchObject({
      total: 1,
      data: [{ id: "k7", segment_id: "a1" }],
    });
    expect(await read(service, list.replace("a1", "a2"))).toMatchObject({ data: [], total: 0, total_pages: 0 });
    expect(await embedded(service)).toEqual([130, 0, 1]);
  });

  const auto = { reason: "", auto_asks: 0, auto_misses: 0 };
  const lists = (embedding: number) => ({
    child_lists: [
      { dataset_id: "d", document_id: "a", asked: 3, embedded: 0, skipped: 0, empty: 1, embedding, ...auto },
    ],
  });

  test.runIf(inFull).each([
    ["the service embedded them", "hierarchical_model", lists(2), [130, 0, 1]],
    ["documents are one parent: it did not", "hierarchical_model", lists(0), [0, 0, 0]],
    ["a text document embedded them", "text_model", lists(1), [130, 0, 1]],
    ["text documents did not", "text_model", lists(0), [0, 0, 0]],
    ["the run read no child lists of a text document", "text_model", {}, [0, 0, 0]],
    ["it read none of questions and answers", "qa_model", {}, [0, 0, 0]],
    ["it read none of another form", "hierarchical_model", {}, [130, 0, 1]],
  ])("are embedded where the service did so: %s", async (_what, doc_form, manifest, expected) => {
    const documents = [document("a", 3, 131, { doc_form }), document("b", 1, 0)];
    const service = await dump({ ...tables(), documents }, { manifest });
    expect(await embedded(service)).toEqual(expected);
    expect(await read(service, "/datasets/d/documents/a/segments/a1/child_chunks")).toMatchObject({ total: 130 });
  });

  test.runIf(inFull)("are not embedded if a list is long", async () => {
    const long = tables("x".repeat(2000));
    expect(await embedded(await dump(long))).toEqual([undefined, undefined, undefined]);
  });

  test.runIf(inFull)("are unknown in a dump that was made without them", async () => {
    const service = await dump(
      { ...tables(), child_chunks: [], documents: [document("a", 3, 0), document("b", 1, 0)] },
      { options: { child_chunks: "none" } },
    );
    expect(service.notices).toEqual(["the dump was made with child_chunks: none: it has no child lists"]);
    expect(await embedded(service)).toEqual([undefined, undefined, undefined]);
    const { status, text, type } = await ask(service, "/datasets/d/documents/a/segments/a1/child_chunks");
    expect([status, type]).toEqual([404, expect.stringContaining("text/html")]);
    expect(text).toContain("<title>404 This dump was made with child_chunks: none</title>");
  });
});

test("the indexing status of a batch is the newest reading of each document", async () => {
  const reading = (captured_at: string, document_id: string, more: object) =>
    rowOf("indexing_status", { captured_at, dataset_id: "d", batch: "März 2025/#1", document_id, ...more });
  const indexing_status = [
    reading("2025-03-06T13:20:00.500Z", "a", {
      indexing_status: "completed",
      completed_at: "2025-03-06T13:20:00.250Z",
    }),
    reading("2025-03-06T13:20:00Z", "a", { indexing_status: "indexing" }),
    reading("2025-03-06T13:20:00Z", "b", { indexing_status: "parsing", error: { code: 1 }, extra: { percent: 12.5 } }),
    reading("2025-03-06T13:21:00Z", "b", { indexing_status: "error", error: { code: 1 }, extra: { percent: 12.5 } }),
  ];
  const service = await dump({ indexing_status });
  const { data } = await read(service, `/datasets/d/documents/${encodeURIComponent("März 2025/#1")}/indexing-status`);
  expect(data).toMatchObject([
    { id: "a", indexing_status: "completed", completed_at: 1741267200.25, error: null },
    { id: "b", indexing_status: "error", error: { code: 1 }, percent: 12.5 },
  ]);
});

test("a document that failed is listed, and is not found", async () => {
  const failed = document("c", 0, 0, {
    status: "failed",
    total: null,
    doc_form: null,
    error: "GET …: 400 provider_not_initialize",
  });
  const service = await dump({ documents: [...childless, failed] });
  expect(service.notices).toEqual(["documents that could not be read when the dump was made, and are not found: 1"]);
  expect(await ids(service, "/datasets/d/documents")).toEqual(["a", "b", "c"]);
  const { status, text } = await ask(service, "/datasets/d/documents/c/segments");
  expect([status, JSON.parse(text)]).toMatchObject([
    404,
    { code: "not_found", message: expect.stringContaining("provider_not_initialize") },
  ]);
});

test.runIf(inFull)("the lists have the facts of the dump, and null for the rest", async () => {
  const service = await dump({});
  expect(await read(service, "/datasets")).toMatchObject({
    data: [{ id: "d", name: null, document_count: 2 }],
    total: 1,
  });
  const { data, total } = await read(service, "/datasets/d/documents?limit=1&page=2");
  expect([data[0], total]).toMatchObject([
    { id: "b", name: null, doc_form: "text_model", created_at: null, enabled: null },
    2,
  ]);
  expect(await read(service, "/datasets/d/documents?keyword=b")).toMatchObject({ data: [], total: 0 });
  expect(await read(service, "/datasets/d/metadata/built-in")).toEqual({
    fields: [{ name: "author", type: "string" }],
  });
  const none = await dump({ metadata_fields: [] });
  expect((await ask(none, "/datasets/d/metadata/built-in")).status).toBe(404);
});

test.runIf(inFull)("a dump whose rows do not match its manifest is not served", async () => {
  const more = { ...soundTables, chunks: [...soundTables.chunks, chunk("c", "x")] };
  await expect(served(await writeDump(await plainFolder(), more))).rejects.toThrow(
    "is not sound, so it cannot be served:\n  manifest.json: counts.chunks is 4, its documents have 3",
  );
  const other = await writeDump(await plainFolder(), soundTables);
  await forgeLines(other, "chunks.jsonl", (lines) => lines.map((line) => line.replace('"b"', '"\\u001b[31mred"')));
  await expect(served(other)).rejects.toThrow(
    "chunks.jsonl: has 1 row of document \u001b[31mred, but the manifest says 0",
  );
  const deep = await writeDump(await plainFolder(), soundTables);
  await writeFile(join(deep, "manifest.json"), "[".repeat(2_000_000) + "]".repeat(2_000_000));
  await expect(served(deep)).rejects.toThrow("manifest.json: is nested more than 1000 deep");
  const moved = await writeDump(await plainFolder(), soundTables);
  await forgeLines(moved, "child_chunks.jsonl", ([first = "", ...rest]) => [...rest, first.replace('"a"', '"b"')]);
  await expect(served(moved)).rejects.toThrow("child_chunks.jsonl: has 1 row of document a, but the manifest says 2");
});
