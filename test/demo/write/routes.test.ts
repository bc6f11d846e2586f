import { expect, test } from "vitest";
import { ask, readRows, started } from "../ask.js";
import { sampleDatasets } from "../sample-datasets.js";
import { datasetId, documentId, segments, smallKnowledge, uuid } from "../small-knowledge.js";
import { send, startWriting } from "./writing.js";

const chunk = uuid(101);

test("another method is 405, and names those that may be used", async () => {
  const { send } = await startWriting([{ childContents: ["One."] }]);
  const cases: [string, string, string][] = [
    ["PUT", "", "GET, POST"],
    ["PATCH", `/${chunk}`, "GET, POST, DELETE"],
    ["DELETE", `/${chunk}/child_chunks`, "GET, POST"],
    ["GET", `/${chunk}/child_chunks/${uuid(1001)}`, "PATCH, DELETE"],
  ];
  for (const [method, path, allow] of cases) {
    const { status, headers, body } = await send(method, path);
    expect([path, status, body.code, headers.get("allow")]).toEqual([path, 405, "method_not_allowed", allow]);
  }
});

test("a read-only knowledge base accepts no writes", async () => {
  const service = await started({ knowledge: smallKnowledge([{ childContents: ["One."] }]) });
  const body = JSON.stringify({ segments: [{ content: "x" }] });
  for (const [method, path, status] of [
    ["POST", segments, 405],
    ["POST", `${segments}/${chunk}/child_chunks`, 405],
    ["POST", `${segments}/${chunk}`, 404],
    ["DELETE", `${segments}/${chunk}`, 404],
    ["POST", "/datasets", 405],
    ["DELETE", `/datasets/${datasetId}`, 405],
    ["DELETE", `/datasets/${datasetId}/documents/${documentId}`, 405],
    ["POST", `/datasets/${datasetId}/document/create-by-text`, 404],
    ["POST", `/datasets/${datasetId}/metadata`, 405],
    ["POST", "/datasets/tags/binding", 404],
  ] as const) {
    const headers = { authorization: `Bearer ${service.key}` };
    expect([path, (await ask(service, path, { method, headers, body })).status]).toEqual([path, status]);
  }
  expect(await readRows(service, segments)).toHaveLength(1);
});

test("a wrong key writes nothing", async () => {
  const { service, list } = await startWriting([{}]);
  const { status } = await send({ ...service, key: "other" }, "DELETE", `${segments}/${chunk}`);
  expect(status).toBe(401);
  expect(await list()).toHaveLength(1);
});

test("a body that is not JSON, or too large, is refused", async () => {
  const { service, list } = await startWriting([]);
  const headers = { authorization: `Bearer ${service.key}` };
  const post = (body: string) => ask(service, segments, { method: "POST", headers, body });
  for (const body of ["", "{", "[]", "null"]) expect([body, (await post(body)).status]).toEqual([body, 400]);
  const { status, text } = await post(JSON.stringify({ segments: [{ content: "x".repeat(16_000_001) }] }));
  expect([status, JSON.parse(text).code]).toEqual([413, "request_entity_too_large"]);
  expect(await list()).toEqual([]);
});

test("links in a chunk that is answered are signed, and stored without", async () => {
  const link = `![x](/files/${uuid(7)}/image-preview)`;
  const { send, demo } = await startWriting([]);
  const { body } = await send("POST", "", { segments: [{ content: link }] });
  expect(body.data).toMatchObject([{ content: link, sign_content: expect.stringContaining("&sign=") }]);
  expect(demo.store.read(uuid(2)).chunks).toMatchObject([{ row: { sign_content: link } }]);
});

test("the sample data accepts writes; a chunk is found below any document", async () => {
  const service = await started();
  const [product, handbook] = sampleDatasets();
  const path = (dataset: typeof product, document: number) =>
    `/datasets/${dataset?.id}/documents/${dataset?.documents[document]}/segments`;
  const { body } = await send(service, "POST", path(product, 1), { segments: [{ content: "By hand. Twice." }] });
  const added = { position: 741, child_chunks: [{ content: "By hand." }, { content: "Twice." }] };
  expect(body.data).toMatchObject([added]);
  const [{ id }] = body.data as [{ id: string }];
  const elsewhere = await send(service, "GET", `${path(handbook, 0)}/${id}`);
  expect(elsewhere.body).toMatchObject({ doc_form: "text_model", data: { id, document_id: product?.documents[1] } });
  expect(await send(service, "POST", `${path(handbook, 0)}/${id}/child_chunks`, { content: "x" })).toMatchObject({
    status: 404,
  });
});
