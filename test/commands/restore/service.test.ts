import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/demo/start-service.js";
import { runJob } from "../../../src/run/run-job.js";
import { runHere } from "../../cli/run-here.js";
import { jobFor, testFolder } from "../../run/job-for.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const document = "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0";

test("a run is not restored to its own host if the job file names another one, unless --to says so", async () => {
  const folder = await testFolder();
  const { url, key, close } = await startService();
  onTestFinished(close);
  const job = await jobFor(folder, {
    service: { base_url: url },
    datasets: [{ id: dataset, documents: [document] }],
    child_chunks: "auto",
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  await runJob(job, { env: { KNOWLEDGE_API_KEY: key } });
  const file = join(folder, "test.json");
  const service = { base_url: "https://other.example.com/v1" };
  const datasets = [{ id: dataset, documents: [document] }];
  await writeFile(file, JSON.stringify({ service, datasets, output: { dir: join(folder, "out") } }));
  const env = { KNOWLEDGE_RESTORE_KEY: key, KNOWLEDGE_BASE_URL: url };
  const refused = await runHere(["restore", file], env);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`the run came from ${url}, and ${file} names https://other.example.com/v1; `);
  const named = await runHere(["restore", file, "--to", url], env);
  expect({ code: named.code, stderr: named.stderr }).toEqual({ code: 0, stderr: "" });
});
