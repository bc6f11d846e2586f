import { expect, test } from "vitest";
import { inFull } from "../rounds.js";
import { ask, started } from "./ask.js";
import { readEverything } from "./description/read-everything.js";
import { inPractice, violations } from "./description/violations.js";
import { sampleDatasets } from "./sample-datasets.js";

test.runIf(inFull)(
  "the answers of the embedded service match the public description, except where real ones deviate too",
  async () => {
    const service = await started();
    const batches = new Map(sampleDatasets().map(({ id, batches }) => [id, batches]));
    const found = new Set<string>();
    let rows = 0;
    for await (const { operation, body } of readEverything(async (path) => (await ask(service, path)).text, batches)) {
      for (const violation of violations(operation, body)) found.add(`${operation} ${violation.replace(/\d+/g, "*")}`);
      rows += Number(body.data?.length ?? body.fields?.length);
    }
    expect([...found].sort()).toEqual(inPractice);
    expect(rows).toBeGreaterThan(6_000);
  },
);

test("an answer that is not as described is seen", () => {
  const body = { data: [{ id: 1, child_chunks: [{ position: "x" }] }], doc_form: "text_model", total: 1.5, page: 1 };
  expect(violations("chunks", body)).toEqual([
    "/has_more must be there",
    "/limit must be there",
    "/data/0/id must be string",
    "/data/0/child_chunks/0/position must be integer",
    "/total must be integer",
  ]);
});
