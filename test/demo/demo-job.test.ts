import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { sampleDatasets } from "./sample-datasets.js";

it("jobs/demo.yaml dumps all of the sample data in every format", async () => {
  const job: unknown = parse(await readFile(new URL("../../jobs/demo.yaml", import.meta.url), "utf8"));
  expect(job).toEqual({
    name: "demo",
    service: { demo: true },
    datasets: sampleDatasets().map((dataset) => ({ ...dataset, documents: "all" })),
    output: { dir: "output", formats: ["jsonl", "csv", "parquet", "duckdb"] },
  });
});
