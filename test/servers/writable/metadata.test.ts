import { describe, expect, it } from "vitest";
import { rowFrom } from "../../demo/ask.js";
import { uuid } from "../../demo/small-knowledge.js";
import { refused, start } from "../../demo/write/writing.js";
import { withDocument } from "./created-document.js";
import { startEmpty } from "./empty-service.js";

/** A dataset with one document, and functions for its metadata. */
async function withMetadata() {
  const place = await startEmpty({ indexingTime: 0 });
  const { id, path, document } = await withDocument(place);
  const field = async (name: string, type = "string") =>
    (await place.send("POST", `/${id}/metadata`, { type, name })).body;
  const set = (metadata_list: object[], document_id = document.id) =>
    place.send("POST", `/${id}/documents/metadata`, { operation_data: [{ document_id, metadata_list }] });
  const values = async () => (await place.send("GET", path)).body.doc_metadata;
  const fields = async () => (await place.send("GET", `/${id}/metadata`)).body;
  return { place, id, path, document, field, set, values, fields };
}

const builtIn = [
  { id: "built-in", name: "document_name", type: "string", value: "Guide.txt" },
  { id: "built-in", name: "uploader", type: "string", value: "Sample author" },
  { id: "built-in", name: "upload_date", type: "time", value: `${start}.0` },
  { id: "built-in", name: "last_update_date", type: "time", value: `${start}.0` },
  { id: "built-in", name: "source", type: "string", value: "file_upload" },
];

describe("a metadata field", () => {
  it("is created, and listed with the number of documents that use it", async () => {
    const { place, id, field, set, fields } = await withMetadata();
    const { status, body } = await place.send("POST", `/${id}/metadata`, { type: "number", name: "year" });
    expect([status, body]).toEqual([201, { id: expect.any(String), type: "number", name: "year" }]);
    const author = await field("author");
    expect(await fields()).toEqual({
      doc_metadata: [
        { ...body, count: 0 },
        { ...author, count: 0 },
      ],
      built_in_field_enabled: false,
    });
    await set([{ id: author.id, name: "author", value: "Ada" }]);
    expect(await fields()).toMatchObject({ doc_metadata: [{ count: 0 }, { count: 1 }] });
    expect((await place.send("GET", `/${id}`)).body.doc_metadata).toEqual([body, author]);
  });

  it("is refused if its name is taken, built-in, blank or too long, or if its type is unknown", async () => {
    const { place, id, field, fields } = await withMetadata();
    await field("author");
    const create = (name: unknown, type = "string") => place.send("POST", `/${id}/metadata`, { type, name });
    expect(await create("author")).toMatchObject(refused("Metadata name already exists."));
    expect(await create("uploader")).toMatchObject(refused("Metadata name already exists in Built-in fields."));
    expect(await create("x".repeat(256))).toMatchObject(refused("Metadata name cannot exceed 255 characters."));
    for (const [name, type] of [
      [" ", "string"],
      ["x", "date"],
      [null, "string"],
    ] as const)
      expect(await create(name, type)).toMatchObject({ status: 400 });
    expect((await create("x".repeat(255))).status).toBe(201);
    expect((await place.send("POST", `/${uuid(9)}/metadata`, { type: "string", name: "x" })).status).toBe(404);
    expect(await fields()).toMatchObject({ doc_metadata: [{ name: "author" }, { name: "x".repeat(255) }] });
  });
});

describe("the values of a document", () => {
  it("replace all old values, and are returned with the built-in ones", async () => {
    const { place, id, path, document, field, set, values } = await withMetadata();
    const [author, year] = [await field("author"), await field("year", "number")];
    expect(await values()).toEqual([]);
    expect((await set([{ id: author.id, name: "author", value: "Ada" }])).body).toEqual({ result: "success" });
    await set([
      { id: year.id, name: "year", value: 1843 },
      { id: author.id, name: "author" },
    ]);
    const own = [
      { ...year, value: 1843 },
      { ...author, value: null },
    ];
    expect(await values()).toEqual([...own, ...builtIn]);
    expect((await place.send("GET", `/${id}/documents`)).body.data).toMatchObject([
      { doc_metadata: [...own, ...builtIn] },
    ]);
    expect((await place.send("GET", `${path}?metadata=only`)).body).toEqual({
      ...{ id: document.id, doc_type: null, doc_metadata: [...own, ...builtIn] },
    });
    await set([]);
    expect(await values()).toEqual([]);
  });

  it("are lost if they use a different name than the field", async () => {
    const { field, set, values } = await withMetadata();
    const author = await field("author");
    await set([{ id: author.id, name: "writer", value: "Ada" }]);
    expect(await values()).toMatchObject([{ ...author, value: null }, ...builtIn]);
  });

  it("are refused for unknown documents and fields, including built-in fields", async () => {
    const { field, set, values } = await withMetadata();
    const author = await field("author");
    const good = { id: author.id, name: "author", value: "Ada" };
    for (const id of [uuid(9), "built-in"])
      expect(await set([good, { id, name: "x", value: "y" }])).toMatchObject({ status: 404 });
    expect((await set([good], uuid(9))).status).toBe(404);
    expect((await set([{ ...good, value: { first: "Ada" } }])).status).toBe(400);
    expect(await values()).toEqual([]);
  });
});

it("values are refused until every named document is indexed", async () => {
  const place = await startEmpty({ indexingTime: 10 });
  const { id, path, document } = await withDocument(place);
  const { id: field } = (await place.send("POST", `/${id}/metadata`, { type: "string", name: "author" })).body;
  place.pass(10);
  const second = await place.send("POST", `/${id}/document/create-by-text`, { name: "Second", text: "Two." });
  const metadata_list = [{ id: field, name: "author", value: "Ada" }];
  const ids = [document.id, rowFrom(second.body.document).id];
  const operation_data = ids.map((document_id) => ({ document_id, metadata_list }));
  const set = () => place.send("POST", `/${id}/documents/metadata`, { operation_data });
  expect(await set()).toMatchObject({ status: 400, body: { code: "document_indexing" } });
  expect((await place.send("GET", path)).body.doc_metadata).toEqual([]);
  place.pass(10);
  expect((await set()).status).toBe(200);
});

it("datasets and documents show built-in fields while these are enabled", async () => {
  const { place, id, values, fields, field } = await withMetadata();
  const author = await field("author");
  const turn = (action: string) => place.send("POST", `/${id}/metadata/built-in/${action}`);
  expect(await turn("enable")).toMatchObject({ status: 200, body: { result: "success" } });
  expect(await values()).toEqual(builtIn);
  const shown = builtIn.map(({ value, ...rest }) => rest);
  expect((await place.send("GET", `/${id}`)).body).toMatchObject({
    ...{ built_in_field_enabled: true, doc_metadata: [author, ...shown] },
  });
  expect(await fields()).toEqual({ doc_metadata: [{ ...author, count: 0 }], built_in_field_enabled: true });
  await turn("disable");
  expect(await values()).toEqual([]);
  expect((await place.send("GET", `/${id}`)).body).toMatchObject({
    built_in_field_enabled: false,
    doc_metadata: [author],
  });
  expect((await turn("burn")).status).toBe(400);
});
