import { expect, test } from "vitest";
import { demoKnowledge } from "../../src/demo/demo-knowledge.js";
import { DocumentStore } from "../../src/demo/document-store.js";
import { ask, read, started } from "./ask.js";
import { datasetId } from "./small-knowledge.js";

test("a service without datasets starts, and lists none", async () => {
  const service = await started({ demo: demoKnowledge(new DocumentStore([], () => new Date())) });
  expect(await read(service, "/datasets")).toMatchObject({ data: [], total: 0, has_more: false });
  for (const path of ["", "/documents", "/documents/a/indexing-status", "/metadata/built-in", "/tags"])
    expect([path, (await ask(service, `/datasets/${datasetId}${path}`)).status]).toEqual([path, 404]);
});
