import { expect, test } from "vitest";
import { plainFolder } from "../dump/formats/folder.js";
import type { Tables } from "../dump/formats/stage.js";
import { document, info, soundTables } from "../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../verify/write-dump.js";
import { ask, ids } from "./ask.js";
import { served } from "./redump.js";

const names = ["one", "two", "three", "four", "five"];
const shown = ["available", "archived", "error", null, null];
const field = (id: string, name: string) => ({ id, name, type: "string", value: "x" });
const builtIn = field("built-in", "document_name");

/** Documents in every status, one of them from an older service and one that the job names by id. */
const tables: Tables = {
  ...soundTables,
  chunks: [],
  child_chunks: [],
  documents: [...names, "named"].map((id) =>
    document(id, 0, 0, id === "named" ? { doc_form: null, total: null, status: "unstable" } : {}),
  ),
  document_info: names.map((id, at) =>
    info(id, {
      display_status: shown[at] ?? null,
      indexing_status: at === 3 ? "parsing" : "completed",
      enabled: at !== 4,
      created_at: "2025-03-06T13:20:00Z",
      extra:
        at === 4
          ? null
          : { doc_metadata: [builtIn, field("f1", "author"), field(`f${at}`, `field ${at}`)], data_source_info: {} },
    }),
  ),
};
const dumped = async (options?: WriteOptions) => served(await writeDump(await plainFolder(), tables, options));
const list = "/datasets/d/documents";

test.each([
  ["status=available", ["one"]],
  ["status=AVAILABLE", ["one"]],
  ["status=enabled", ["one"]],
  ["status=archived&status=error", ["two", "three"]],
  ["status=indexing", ["four"]],
  ["status=disabled", ["five"]],
  ["status=paused", []],
  ["status=error&keyword=three", ["three"]],
  ["status=error&keyword=two", []],
  ["status=archived&status=error&limit=1&page=2", ["three"]],
  ["status=unheard-of", [...names, "named"]],
  ["status=", [...names, "named"]],
  ["", [...names, "named"]],
])("documents by what they show as their status: %s", async (query, expected) => {
  expect(await ids(await dumped(), `${list}?${query}`)).toEqual(expected);
});

test("a dataset, a document and metadata: only facts from the dump", async () => {
  const service = await dumped();
  const get = async (path: string) => {
    const { status, text } = await ask(service, path);
    return status === 200 ? JSON.parse(text) : status;
  };
  expect(await get("/datasets/D")).toEqual({ id: "d", document_count: 6 });
  expect(await get("/datasets/x")).toBe(404);
  expect(await get(`${list}/one`)).toMatchObject({
    id: "one",
    name: "one.md",
    created_at: 1741267200,
    display_status: "available",
    data_source_info: {},
    segment_count: 0,
  });
  expect(await get(`${list}/named`)).toEqual({ id: "named" });
  expect(await get(`${list}/x`)).toBe(404);
  expect(Object.keys(await get(`${list}/one?metadata=only`))).toEqual(["id", "doc_metadata"]);
  expect(await get(`${list}/one?metadata=without`)).not.toHaveProperty("doc_metadata");
  expect(await get(`${list}/one?metadata=some`)).toBe(400);
  const fields = ["f1 author", "f0 field 0", "f2 field 2", "f3 field 3"].map((each) => each.split(/ (.*)/));
  expect(await get("/datasets/d/metadata")).toEqual({
    doc_metadata: fields.map(([id, name]) => ({ id, name, type: "string" })),
  });
});

test("facts about a document or metadata that the dump lacks are omitted", async () => {
  const filter = { options: { datasets: [{ id: "d", status: ["completed"], keyword: null }] } };
  expect(JSON.parse((await ask(await dumped(filter), `${list}/one`)).text)).not.toHaveProperty("segment_count");
  const { document_info, ...others } = tables;
  const service = await served(await writeDump(await plainFolder(), others));
  expect(JSON.parse((await ask(service, `${list}/one`)).text)).toEqual({
    id: "one",
    doc_form: "text_model",
    segment_count: 0,
  });
  const { status, text } = await ask(service, "/datasets/d/metadata");
  expect([status, text]).toEqual([404, expect.stringContaining("This dump has no metadata of the dataset")]);
});
