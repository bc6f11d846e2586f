import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { initialJobFile } from "../../../src/commands/init.js";
import { jobJsonSchema } from "../../../src/job/write-json-schema.js";
import { dataset, jobFolder } from "../../job/job-folder.js";
import { keysOf, schemaMappings } from "../../job/schema-mappings.js";

const { load, problems } = await jobFolder();
const env = {
  KNOWLEDGE_BASE_URL: "https://kb.example.com/v1",
  KNOWLEDGE_DATASET_ID: dataset,
};

test("is a job once its variables are set", async () => {
  expect(await load(initialJobFile(), { env })).toMatchObject({
    name: "nightly",
    service: { baseUrl: env.KNOWLEDGE_BASE_URL, concurrency: 8 },
    datasets: [{ id: dataset, documents: "all" }],
    output: { formats: ["jsonl", "duckdb"] },
  });
});

test("names the variables that are missing", async () => {
  expect(await problems(initialJobFile())).toEqual([
    "service.base_url: KNOWLEDGE_BASE_URL is not set in the environment",
    "datasets[0].id: KNOWLEDGE_DATASET_ID is not set in the environment",
  ]);
});

test("is still YAML with all that it offers switched on, and offers every key", () => {
  const text = initialJobFile()
    .replace("# datasets: all", "#") // the line that the example uses instead of the list
    .replace(/^( *)# (\w+: )/gm, "$1$2");
  const { errors } = parseDocument(text);
  expect(errors).toEqual([]);
  const keys = schemaMappings(jobJsonSchema()).flatMap(([path, { properties }]) =>
    path === "" || path === "output.keep" ? [] : keysOf(properties),
  );
  expect(keys).toContain("max_rps");
  expect(keys.filter((key) => !new RegExp(`^[ -]*${key}:`, "m").test(text))).toEqual([]);
});
