import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { loadJob } from "../../src/job/load-job.js";
import { dataset, document, jobFolder } from "./job-folder.js";

const { load, problems } = await jobFolder();

const env = {
  KNOWLEDGE_BASE_URL: "https://kb.example.com/v1",
  KNOWLEDGE_DATASET_ID: dataset,
  KNOWLEDGE_DOCUMENT_ID: document,
};

test.each([
  ["nightly", ["jsonl", "duckdb"]],
  ["analytics", ["duckdb"]],
  ["backup", ["jsonl", "csv", "parquet", "duckdb"]],
])("jobs/%s.yaml runs as it is with its variables set, and says at its top for whom it is", async (name, formats) => {
  const file = `jobs/${name}.yaml`;
  expect(await loadJob({ file }, {}, env)).toMatchObject({
    name,
    service: { baseUrl: env.KNOWLEDGE_BASE_URL, apiKeyEnv: "KNOWLEDGE_API_KEY" },
    datasets: [{ id: dataset, documents: [document] }],
    output: { formats },
  });
  const text = await readFile(file, "utf8");
  expect(text).toMatch(/^# For /);
  expect(text).toContain(`kbdump run ${file}`);
});

test("jobs/nightly.yaml offers nothing that does not work, and keeps a fortnight", async () => {
  const text = await readFile("jobs/nightly.yaml", "utf8");
  const job = await load(text.replace(/^( *)# (\w+: )/gm, "$1$2"), { env });
  expect(job.output.keep).toEqual({ last: 14 });
});

test.each([["analytics", ["child_chunks: auto is not available in this version; use all"]]])(
  "jobs/%s.yaml offers nothing that a later version would not know",
  async (name, unavailable) => {
    const text = await readFile(`jobs/${name}.yaml`, "utf8");
    expect(await problems(text.replace(/^( *)# (\w+: )/gm, "$1$2"), { env })).toEqual(unavailable);
  },
);
