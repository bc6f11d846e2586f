import { expect, test } from "vitest";
import { ask, readRows, rowFrom, rowsFrom, started } from "../../demo/ask.js";
import { uuid } from "../../demo/small-knowledge.js";
import { refused, send, start } from "../../demo/write/writing.js";
import { inFull } from "../../rounds.js";
import { withDocument } from "./created-document.js";
import { type EmptyService, startEmpty } from "./empty-service.js";
import { writableSample } from "./writable-knowledge.js";

const productId = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const manualId = "1e63378f-0ff6-41a4-8f48-687d51b4e63d";

const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 13, 10, 255]);
const upload = ({ sendFile }: EmptyService, name = "Wiring “7”.PNG") =>
  sendFile("/pipeline/file-upload", new File([bytes], name, { type: "image/png" }));

/** A document with one chunk, and a function that changes it. */
async function withChunk() {
  const place = await startEmpty({ indexingTime: 0 });
  const { path, chunks } = await withDocument(place, { text: "One." });
  const [chunk] = await chunks();
  const change = (attachment_ids: unknown) =>
    place.send("POST", `${path}/segments/${chunk?.id}`, { segment: { content: "One.", attachment_ids } });
  const attached = async () => rowsFrom((await chunks())[0]?.attachments);
  return { place, path, change, attached };
}

test("an upload returns the id, name, size and type of the file", async () => {
  const place = await startEmpty();
  const { status, body } = await upload(place);
  const facts = { name: "Wiring “7”.PNG", size: 8, extension: "png", mime_type: "image/png", created_at: start };
  expect([status, body]).toEqual([201, { ...facts, id: expect.any(String), created_by: expect.any(String) }]);
  expect((await upload(place)).body.id).not.toBe(body.id);
  const nothing = await place.sendFile("/pipeline/file-upload", undefined, {});
  expect(nothing).toMatchObject({ status: 400, body: { code: "no_file_uploaded" } });
});

test("a change binds files to a chunk, with signed links to download them, and unbinds all others", async () => {
  const { place, change, attached } = await withChunk();
  const [one, two] = [(await upload(place, "one.png")).body, (await upload(place, "two.png")).body];
  expect(rowFrom((await change([one.id])).body.data).attachments).toMatchObject([{ id: one.id }]);
  await change([two.id, one.id, two.id]);
  const shown = await attached();
  const { created_at, created_by, ...facts } = one;
  expect(shown).toMatchObject([facts, { id: two.id, name: "two.png" }]);
  const link = String(shown[0]?.source_url);
  expect(link).toMatch(
    new RegExp(`^/files/${one.id}/file-preview\\?timestamp=${start}&nonce=[0-9a-f]{32}&sign=[\\w-]{43}=$`),
  );
  const answer = await fetch(new URL(link, place.service.url));
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  for (const wrong of [link.replace(/\?.*/, ""), link.replace(String(one.id), uuid(9))])
    expect((await fetch(new URL(wrong, place.service.url))).status).toBe(403);
  await change([two.id]);
  expect(await attached()).toMatchObject([{ id: two.id }]);
  await change(undefined);
  expect(await attached()).toEqual([]);
});

test("a change refuses unknown files; an addition checks the format of files, then ignores them", async () => {
  const { place, path, change, attached } = await withChunk();
  const { id } = (await upload(place)).body;
  await change([id]);
  expect(await change([id, uuid(9)])).toMatchObject(refused(`Attachment ${uuid(9)} not found.`));
  expect(await attached()).toMatchObject([{ id }]);
  const add = (attachment_ids: unknown) =>
    place.send("POST", `${path}/segments`, { segments: [{ content: "Two.", attachment_ids }] });
  expect((await add([id])).body.data).toMatchObject([{ attachments: [] }]);
  expect((await add("all")).status).toBe(400);
});

test.runIf(inFull)("a file from the sample data can be bound to another chunk, and its link works there", async () => {
  const service = await started({ demo: writableSample(() => new Date(start * 1_000)) });
  const path = `/datasets/${productId}/documents/${manualId}/segments`;
  const [one, , sample] = await readRows(service, `${path}?limit=3`);
  const [file] = rowsFrom(sample?.attachments);
  const change = { segment: { content: one?.content, attachment_ids: [file?.id] } };
  const { status, body } = await send(service, "POST", `${path}/${one?.id}`, change);
  const [bound, ...others] = rowsFrom(rowFrom(body.data).attachments);
  const { source_url: _, ...facts } = file ?? {};
  expect([status, bound, others]).toEqual([200, expect.objectContaining(facts), []]);
  const link = new URL(String(bound?.source_url), service.url);
  expect((await fetch(link)).headers.get("content-length")).toBe(String(file?.size));
});

test("an upload needs the key, like every write", async () => {
  const { service } = await startEmpty();
  const headers = { authorization: "Bearer other" };
  expect((await ask(service, "/datasets/pipeline/file-upload", { method: "POST", headers })).status).toBe(401);
});
