import { describe, expect, it } from "vitest";
import { ask, rowFrom, rowsFrom } from "../../demo/ask.js";
import { refused, start } from "../../demo/write/writing.js";
import { custom, economy, text, withDocument } from "./created-document.js";
import { type EmptyService, startEmpty } from "./empty-service.js";

const byFile = (dataset: string) => `/${dataset}/document/create-by-file`;
const guide = new File([text], "Guide ü.MD", { type: "text/markdown" });

/** The answer for the original of a document, and the bytes of the file. */
async function originalOf({ send, service }: EmptyService, path: string) {
  const { body } = await send("GET", `${path}/upload-file`);
  const link = new URL(String(body.download_url), service.url);
  const headers = { authorization: `Bearer ${service.key}` };
  const answer = await fetch(link, { headers });
  return { facts: body, type: answer.headers.get("content-type"), bytes: Buffer.from(await answer.arrayBuffer()) };
}

describe("creating a document from a file", () => {
  it("uses the name of the file, and makes the same chunks as from its text", async () => {
    const place = await startEmpty({ indexingTime: 0 });
    const id = await place.newDataset(economy);
    const data = { process_rule: custom, doc_language: "German" };
    const { status, body } = await place.sendFile(byFile(id), guide, data);
    const document = rowFrom(body.document);
    expect([status, document]).toMatchObject([200, { name: "Guide ü.MD", indexing_status: "waiting", position: 1 }]);
    const path = `/${id}/documents/${document.id}`;
    const { chunks } = await withDocument(place);
    const listed = rowsFrom((await place.send("GET", `${path}/segments`)).body.data);
    expect(listed.map(({ content }) => content)).toEqual((await chunks()).map(({ content }) => content));
    expect((await place.send("GET", path)).body).toMatchObject({
      ...{ doc_language: "German", document_process_rule: custom },
      data_source_info: { upload_file: { name: "Guide ü.MD", size: 45, extension: "md", mime_type: "text/markdown" } },
    });
    const { data: status_ } = (await place.send("GET", `/${id}/documents/${body.batch}/indexing-status`)).body;
    expect(status_).toMatchObject([{ id: document.id, indexing_status: "completed" }]);
  });

  it("returns the file byte for byte", async () => {
    const place = await startEmpty({ indexingTime: 0 });
    const id = await place.newDataset(economy);
    const bytes = Buffer.from("\ufeffwith a mark\r\n\r\nand “quotes”\n");
    const file = new File([bytes], "no-extension", { type: "text/plain" });
    const { body } = await place.sendFile(byFile(id), file, { process_rule: custom });
    const path = `/${id}/documents/${rowFrom(body.document).id}`;
    const original = await originalOf(place, path);
    expect(original.bytes).toEqual(bytes);
    expect(original.facts).toMatchObject({
      ...{ name: "no-extension", size: bytes.length, extension: "", mime_type: "text/plain", created_at: start },
      id: rowFrom(rowFrom((await place.send("GET", path)).body.data_source_info).upload_file).id,
    });
    expect(original.type).toBe("text/plain");
  });

  it("needs a rule, its own or from an earlier document", async () => {
    const place = await startEmpty({ indexingTime: 0 });
    const id = await place.newDataset(economy);
    expect(await place.sendFile(byFile(id), guide)).toMatchObject(refused("process_rule is required."));
    expect((await place.sendFile(byFile(id), guide, { process_rule: { mode: "automatic" } })).status).toBe(200);
    expect((await place.sendFile(byFile(id), guide)).status).toBe(200);
  });

  it("refuses a file without text, a form without a file, and a body without a form", async () => {
    const place = await startEmpty();
    const id = await place.newDataset(economy);
    const data = { process_rule: custom };
    const image = new File([Buffer.from([0xff, 0xd8, 0xff])], "photo.jpg", { type: "image/jpeg" });
    expect(await place.sendFile(byFile(id), image, data)).toMatchObject({
      status: 415,
      body: { code: "unsupported_file_type" },
    });
    expect(await place.sendFile(byFile(id), undefined, data)).toMatchObject({
      status: 400,
      body: { code: "no_file_uploaded" },
    });
    expect(await place.sendFile(byFile(id), guide, { ...data, doc_form: "pdf" })).toMatchObject({ status: 400 });
    expect(await place.send("POST", byFile(id), data)).toMatchObject(refused("The body is no multipart/form-data."));
    expect((await place.send("GET", `/${id}/documents`)).body.total).toBe(0);
  });
});

it("the original of a document that was created from a text is that text", async () => {
  const place = await startEmpty({ indexingTime: 0 });
  const { path } = await withDocument(place, { name: "Guide.pdf" });
  const { facts, bytes } = await originalOf(place, path);
  expect(facts).toMatchObject({ name: "Guide.pdf", size: text.length, extension: "txt", mime_type: "text/plain" });
  expect(bytes.toString()).toBe(text);
  expect((await ask(place.service, `/datasets${path}/original`, { headers: {} })).status).toBe(401);
});
