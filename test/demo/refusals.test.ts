import { describe, expect, it } from "vitest";
import { inFull } from "../rounds.js";
import { ask, started } from "./ask.js";
import { datasetId, documentId, segments, smallKnowledge, uuid } from "./small-knowledge.js";

const dataset = `/datasets/${datasetId}`;
const knowledge = smallKnowledge([{}]);
const paths = [
  "/datasets",
  `${dataset}/documents`,
  `${dataset}/metadata/built-in`,
  segments,
  `${segments}/${uuid(101)}/child_chunks`,
  `${dataset}/documents/20250306/indexing-status`,
];

describe("a wrong key", () => {
  it.each([
    ["no header", undefined],
    ["an empty one", ""],
    ["no scheme", "secret"],
    ["another scheme", "Basic secret"],
    ["no key", "Bearer "],
    ["another key", "Bearer other"],
    ["the beginning of the key", "Bearer secre"],
    ["more than the key", "Bearer secrets"],
    ["two keys", "Bearer secret secret"],
  ])("%s: 401", async (_what, authorization) => {
    const service = await started({ knowledge, key: "secret" });
    for (const path of paths) {
      const { status, headers, text } = await ask(service, path, {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(status, path).toBe(401);
      expect(JSON.parse(text)).toEqual({ code: "unauthorized", message: "Access token is invalid", status: 401 });
      expect(headers.get("content-type")).toBe("application/json");
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  it("the scheme may be written in any case", async () => {
    const service = await started({ knowledge, key: "secret" });
    expect((await ask(service, "/datasets", { headers: { authorization: "bearer secret" } })).status).toBe(200);
  });
});

describe("something that does not exist", () => {
  const unknown = uuid(9);
  const malformed = [
    "x",
    "1",
    datasetId.slice(1),
    `${datasetId}0`,
    datasetId.replaceAll("-", ""),
    "%20",
    "'; --",
    "%FF",
  ];
  const cases = [unknown, ...malformed].flatMap((id) => [
    [`/datasets/${id}/documents`, "Dataset not found."],
    [`/datasets/${id}/metadata/built-in`, "Dataset not found."],
    [`/datasets/${id}/documents/${documentId}/segments`, "Dataset not found."],
    [`/datasets/${id}/documents/${documentId}/segments/${uuid(101)}/child_chunks`, "Dataset not found."],
    [`/datasets/${id}/documents/20250306/indexing-status`, "Dataset not found."],
    [`${dataset}/documents/${id}/segments`, "Document not found."],
    [`${dataset}/documents/${id}/segments/${uuid(101)}/child_chunks`, "Document not found."],
    [`${segments}/${id}/child_chunks`, "Segment not found."],
    [`${dataset}/documents/${id}/indexing-status`, "Documents not found."],
  ]);
  it.runIf(inFull)("is 404 with a JSON body, whether an id is unknown or malformed", async () => {
    const service = await started({ knowledge });
    for (const [path, message] of cases) {
      const { status, headers, text } = await ask(service, `${path}`);
      expect(status, path).toBe(404);
      expect(JSON.parse(text), path).toEqual({ code: "not_found", message, status: 404 });
      expect(headers.get("content-type")).toBe("application/json");
    }
  });

  it("is 404 with an HTML page if no such path exists, with any key", async () => {
    const service = await started({ knowledge });
    const elsewhere = [
      "",
      "/",
      "/datasets/",
      `${dataset}/other`,
      `${segments}/`,
      `${segments}/${uuid(101)}`,
      "/../datasets",
    ];
    for (const path of elsewhere) {
      const { status, headers, text } = await ask(service, path, { headers: {} });
      expect(status, path).toBe(404);
      expect(headers.get("content-type"), path).toMatch(/^text\/html/);
      expect(text).toMatch(/^<!doctype html>/);
    }
  });
});

describe("another method than GET", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("%s: 405", async (method) => {
    const service = await started({ knowledge });
    for (const path of paths) {
      const { status, headers, text } = await ask(service, path, { method });
      expect(status, path).toBe(405);
      expect(JSON.parse(text)).toMatchObject({ code: "method_not_allowed", status: 405 });
      expect(headers.get("allow")).toBe("GET");
    }
  });

  it("HEAD: also 405, without a body", async () => {
    const service = await started({ knowledge });
    expect(await ask(service, "/datasets", { method: "HEAD" })).toMatchObject({ status: 405, text: "" });
  });

  it("is the same as GET if no such path exists", async () => {
    const service = await started({ knowledge });
    expect((await ask(service, "/elsewhere", { method: "POST" })).status).toBe(404);
  });
});

describe("a knowledge that fails", () => {
  it("is 500 with what it says", async () => {
    const failing = { ...knowledge, datasets: () => Promise.reject(new Error("disk on fire")) };
    const service = await started({ knowledge: failing });
    const { status, text } = await ask(service, "/datasets");
    expect(status).toBe(500);
    expect(JSON.parse(text)).toEqual({ code: "internal_server_error", message: "disk on fire", status: 500 });
  });
});
