import { expect, test } from "vitest";
import { jobJsonSchema } from "../../src/job/write-json-schema.js";
import { isMapping } from "../../src/schema.js";
import { keysOf, schemaMappings } from "./schema-mappings.js";

const schema: unknown = JSON.parse(JSON.stringify(jobJsonSchema()));

const all = schemaMappings(schema);

function propertyAt(mapping: string, key: string): unknown {
  const properties = all.find(([path]) => path === mapping)?.[1].properties;
  return isMapping(properties) ? properties[key] : undefined;
}

test("names every key of the file, and no other is allowed", () => {
  const keys = all.map(([path, { properties, additionalProperties }]) => [
    path,
    keysOf(properties),
    additionalProperties,
  ]);
  expect(keys).toEqual([
    [
      "",
      [
        ...["name", "service", "datasets", "child_chunks", "consistency", "details", "originals", "resume_within"],
        ...["output", "notify", "$schema"],
      ],
      false,
    ],
    [
      "service",
      [
        "demo",
        "base_url",
        "api_key_env",
        "api_key_file",
        "api_key_command",
        "concurrency",
        "max_rps",
        "timeout",
        "retries",
        "outage",
        "max_body",
        "max_original",
        "ca_file",
        "allow_http",
      ],
      false,
    ],
    ["datasets[]", ["id", "documents", "batches", "status", "keyword"], false],
    [
      "output",
      [
        ...["dir", "work_dir", "formats", "keep", "keep_signatures", "csv_safe", "compress", "partition"],
        ...["metrics_file", "memory"],
      ],
      false,
    ],
    ["output.keep", ["last", "daily", "weekly", "monthly"], false],
    ["notify", ["url", "start", "success", "partial", "failure", "style"], false],
  ]);
});

test("describes every property", () => {
  const silent = all.flatMap(([path, { properties }]) =>
    Object.entries(isMapping(properties) ? properties : {})
      .filter(([, property]) => !isMapping(property) || typeof property.description !== "string")
      .map(([key]) => `${path}.${key}`),
  );
  expect(silent).toEqual([]);
});

test("lists the required keys, and the defaults of the others", () => {
  expect(schema).toMatchObject({
    $schema: "http://json-schema.org/draft-07/schema#",
    required: ["service", "datasets"],
  });
  expect(propertyAt("service", "api_key_env")).toMatchObject({ default: "KNOWLEDGE_API_KEY" });
  expect(propertyAt("service", "concurrency")).toMatchObject({
    default: 8,
    anyOf: [{ minimum: 1, maximum: 64 }, { type: "null" }],
  });
  expect(propertyAt("output", "formats")).toMatchObject({
    default: ["jsonl", "duckdb"],
    anyOf: [
      { minItems: 1, uniqueItems: true, items: { enum: ["jsonl", "csv", "parquet", "duckdb"] } },
      { type: "null" },
    ],
  });
});

test("accepts a variable in place of a pattern", () => {
  const id = propertyAt("datasets[]", "id");
  const pattern = new RegExp(isMapping(id) ? String(id.pattern) : "", "u");
  expect(["7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b", `\${DATASET}`, "7f0c"].map((text) => pattern.test(text))).toEqual([
    true,
    true,
    false,
  ]);
});
