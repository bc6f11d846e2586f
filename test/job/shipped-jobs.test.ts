import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { loadJob } from "../../src/job/load-job.js";
import { dataset, jobFolder } from "./job-folder.js";

const { load } = await jobFolder();

const env = {
  KNOWLEDGE_BASE_URL: "https://kb.example.com/v1",
  KNOWLEDGE_DATASET_ID: dataset,
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
    datasets: [{ id: dataset, documents: "all" }],
    output: { formats },
  });
  const text = await readFile(file, "utf8");
  expect(text).toMatch(/^# (For|If|To) /);
  expect(text).toContain(`kbdump run ${file}`);
});

test.each(["nightly", "analytics"])("jobs/%s.yaml offers nothing that does not work", async (name) => {
  const text = await readFile(`jobs/${name}.yaml`, "utf8");
  const job = await load(text.replace(/^( *)# (\w+: )/gm, "$1$2"), { env });
  expect(job).toMatchObject(
    name === "nightly"
      ? { output: { keep: { last: 14 } } }
      : { childChunks: "auto", datasets: [{ status: ["completed"] }] },
  );
});
