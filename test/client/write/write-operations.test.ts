import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { PreparedWrite } from "../../../src/client/write/operations.js";
import type { Writer } from "../../../src/client/write/writer.js";
import { ExactNumber } from "../../../src/rows/exact-json.js";
import { testKey } from "../open-test-http.js";
import { serve } from "../serve.js";
import { answering, bodyOf, openTestWriter, place } from "./open-test-writer.js";

const row = (id: string) => ({ id, status: "completed", enabled: true, error: null });
const written = (id: string) => ({ ...row(id), error: "" });
const success = { result: "success" };
const text = { name: "n", text: "t", doc_form: "text_model", process_rule: { mode: "automatic" } };
const made = { document: { id: "new", name: "n" }, batch: "b" };
const gone = "";

interface Operation {
  readonly prepare: (writer: Writer) => PreparedWrite<unknown>;
  readonly request: string;
  /** The request body; undefined if there is none. */
  readonly body?: unknown;
  readonly answer: readonly [status: number, body: unknown];
  readonly value: unknown;
}

const operations: Readonly<Record<string, Operation>> = {
  addChunks: {
    prepare: (writer) => writer.addChunks(place, [{ content: "a" }, { content: "b", answer: "c", keywords: ["k"] }]),
    request: "POST /datasets/set/documents/doc/segments",
    body: { segments: [{ content: "a" }, { content: "b", answer: "c", keywords: ["k"] }] },
    answer: [200, { data: [row("1"), row("2")], doc_form: "text_model" }],
    value: [written("1"), written("2")],
  },
  deleteChunk: {
    prepare: (writer) => writer.deleteChunk(place, "c/1"),
    request: "DELETE /datasets/set/documents/doc/segments/c%2F1",
    answer: [204, gone],
    value: null,
  },
  deleteChild: {
    prepare: (writer) => writer.deleteChild(place, "c", "k"),
    request: "DELETE /datasets/set/documents/doc/segments/c/child_chunks/k",
    answer: [204, gone],
    value: null,
  },
  deleteDocument: {
    prepare: (writer) => writer.deleteDocument("set", "doc"),
    request: "DELETE /datasets/set/documents/doc",
    answer: [200, success], // releases before 1.12 answer this
    value: null,
  },
  createDataset: {
    prepare: (writer) => writer.createDataset({ name: "n", description: "d", retrieval_model: { top_k: 2 } }),
    request: "POST /datasets",
    body: { name: "n", description: "d", retrieval_model: { top_k: 2 } },
    answer: [200, { id: "new", name: "n", document_count: 0 }],
    value: { id: "new", name: "n" },
  },
  createMetadataField: {
    prepare: (writer) => writer.createMetadataField("set", { type: "string", name: "author" }),
    request: "POST /datasets/set/metadata",
    body: { type: "string", name: "author" },
    answer: [201, { id: "new", type: "string", name: "author" }],
    value: { id: "new" },
  },
  setBuiltInFields: {
    prepare: (writer) => writer.setBuiltInFields("set", "enable"),
    request: "POST /datasets/set/metadata/built-in/enable",
    body: {},
    answer: [200, success],
    value: null,
  },
  createTag: {
    prepare: (writer) => writer.createTag("law"),
    request: "POST /datasets/tags",
    body: { name: "law" },
    answer: [200, { id: "new", name: "law", type: "knowledge", binding_count: 0 }],
    value: { id: "new" },
  },
  bindTags: {
    prepare: (writer) => writer.bindTags("set", ["t"]),
    request: "POST /datasets/tags/binding",
    body: { tag_ids: ["t"], target_id: "set" },
    answer: [204, gone],
    value: null,
  },
  createByText: {
    prepare: (writer) => writer.createByText("set", text),
    request: "POST /datasets/set/document/create-by-text",
    body: text,
    answer: [200, made],
    value: { id: "new", batch: "b" },
  },
  setMetadata: {
    prepare: (writer) => writer.setMetadata("set", "doc", [{ id: "f", name: "year", value: 1999 }]),
    request: "POST /datasets/set/documents/metadata",
    body: { operation_data: [{ document_id: "doc", metadata_list: [{ id: "f", name: "year", value: 1999 }] }] },
    answer: [200, success],
    value: null,
  },
  setStatus: {
    prepare: (writer) => writer.setStatus("set", "un_archive", ["doc"]),
    request: "PATCH /datasets/set/documents/status/un_archive",
    body: { document_ids: ["doc"] },
    answer: [200, success],
    value: null,
  },
};
const named = Object.entries(operations);

/** Sends one write to a server that gives this answer. */
async function sent({ prepare }: Operation, status: number, answer: unknown) {
  let body = "";
  const { url, requests } = await serve(async (request, response) => {
    body = await bodyOf(request);
    answering(status, answer)(request, response);
  });
  const write = prepare(openTestWriter(url));
  const outcome = await write.send();
  return { outcome, write, body, request: requests[0] };
}

describe("an operation", () => {
  it.each(named)("%s sends one request and returns the answer", async (_, operation) => {
    const { outcome, write, body, request } = await sent(operation, ...operation.answer);
    expect(outcome).toEqual({ kind: "done", value: operation.value });
    expect(`${write.method} ${write.path}`).toBe(operation.request);
    expect(`${request?.method} ${request?.url}`).toBe(operation.request.replace(" ", " /v1"));
    expect(body === "" ? undefined : JSON.parse(body)).toEqual(operation.body);
    expect(createHash("sha256").update(body).digest("hex")).toBe(write.sha256);
    expect(request?.headers.authorization).toBe(`Bearer ${testKey}`);
    expect(request?.headers["content-type"]).toBe(operation.body === undefined ? undefined : "application/json");
  });

  it.each(named.filter(([, { request }]) => !request.startsWith("DELETE")))(
    "%s: a success that is not the service's is unknown",
    async (_, operation) => {
      for (const [status, answer] of [
        [200, "<title>Welcome</title>"],
        [200, ""],
        [201, []],
      ] as const) {
        const { outcome } = await sent(operation, status, answer);
        expect(outcome).toMatchObject({ kind: "unknown", isOver: false });
        expect(outcome).toMatchObject({ reason: expect.stringContaining(`${status}, but the answer is not`) });
      }
    },
  );

  it.each(named.filter(([, { request }]) => request.startsWith("DELETE")))(
    "%s is done with any success, but not with a web page",
    async (_, operation) => {
      for (const [status, answer] of [
        [200, "204"], // release 1.12.1 answers this
        [200, success],
        [202, ""],
        [204, gone],
      ] as const)
        expect((await sent(operation, status, answer)).outcome).toEqual({ kind: "done", value: null });
      expect((await sent(operation, 200, "<title>Sign in</title>")).outcome.kind).toBe("unknown");
    },
  );

  it.each(named.filter(([, { value }]) => value !== null))("%s needs what it asked for", async (_, operation) => {
    expect((await sent(operation, 204, "")).outcome.kind).toBe("unknown");
    expect((await sent(operation, 200, success)).outcome.kind).toBe("unknown");
  });

  it.each(named)("%s is refused with a 404, once", async (_, operation) => {
    const answer = { code: "not_found", message: "Not there.", status: 404 };
    const { outcome } = await sent(operation, 404, answer);
    expect(outcome).toMatchObject({ kind: "refused", status: 404, message: "Not there." });
  });
});

it.each([[[]], [[row("1")]], [[row("1"), row("2"), row("3")]]])("two chunks and other rows: unknown", async (data) => {
  const { outcome } = await sent(operations.addChunks as Operation, 200, { data });
  expect(outcome.kind).toBe("unknown");
});

it.each([
  ["createDataset", { id: "new" }],
  ["createByText", { document: { id: "new" } }],
  ["createByText", { batch: "b" }],
])("%s needs all of %j", async (name, answer) => {
  expect((await sent(operations[name] as Operation, 200, answer)).outcome.kind).toBe("unknown");
});

it("sends numbers as the dump has them", async () => {
  const process_rule = { threshold: new ExactNumber("0.10000000000000000001") };
  const { body } = await sent(
    {
      ...operations.createByText,
      prepare: (writer) => writer.createByText("set", { ...text, process_rule }),
    } as Operation,
    200,
    made,
  );
  expect(body).toContain('{"threshold":0.10000000000000000001}');
});
