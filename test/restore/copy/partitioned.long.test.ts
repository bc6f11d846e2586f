import { expect, onTestFinished, test } from "vitest";
import { outlines } from "../../../src/demo/sample/outlines.js";
import { buildDataset } from "../../../src/demo/sample/sample-knowledge.js";
import { startService } from "../../../src/demo/start-service.js";
import type { CopyOptions } from "../../../src/restore/copy/copy-result.js";
import { copyRun } from "../../../src/restore/copy/copy-run.js";
import { runJob } from "../../../src/run/run-job.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { writableKnowledge } from "../../servers/writable/writable-knowledge.js";
import { copying } from "./copying.js";
import { readCopies } from "./random/copies.js";
import { shortOutline } from "./short-outline.js";

const clock = () => new Date();
const key = "restore-key";

/** A service with the sample datasets, cut to three chunks per document; or an empty service. */
async function startShort(datasets = outlines) {
  const stored = datasets.map((outline) => buildDataset(shortOutline(outline, 3), clock));
  const demo = writableKnowledge(stored, clock, { indexingTime: 0, indexingSeconds: 0 });
  const service = await startService({ demo, key });
  onTestFinished(() => service.close());
  return service;
}

/**
 * Two functions: `dump` dumps two datasets and returns the run folder; `restore` copies it to an empty service and
 * returns the result and that service.
 */
async function startRestores() {
  const { url } = await startShort();
  const dump = async (output: Readonly<Record<string, unknown>>): Promise<string> => {
    const facts = { service: { base_url: url }, datasets: "all", details: true };
    const job = await jobFor(await testFolder(), { ...facts, output });
    return (await runJob(job, { env: { KNOWLEDGE_API_KEY: key } })).folder;
  };
  const restore = async (folder: string, more: Partial<CopyOptions> = {}) => {
    const target = await startShort([]);
    return { result: await copyRun(copying(folder, { url: target.url, key }, more)), target };
  };
  return { dump, restore };
}

const dividedOutputs = [
  { format: "jsonl", compress: "gzip" },
  { format: "csv", compress: "gzip" },
  { format: "parquet", compress: "none" },
];

test("restore --to plans the same from compressed and divided files of any format as from plain ones", async () => {
  const { dump, restore } = await startRestores();
  const plan = async (output: Readonly<Record<string, unknown>>) => {
    const { plan, counts, status } = (await restore(await dump(output), { apply: false })).result;
    return { plan, counts, status };
  };
  const plain = await plan({ formats: ["jsonl"] });
  expect(plain.plan.datasets.flatMap(({ documents }) => documents)).toHaveLength(13);
  expect(new Set(plain.plan.datasets.map(({ dataset_id }) => dataset_id)).size).toBe(2);
  for (const { format, compress } of dividedOutputs)
    expect(await plan({ formats: [format], compress, partition: "dataset" }), format).toEqual(plain);
});

test("restore --to restores the same from compressed and partitioned files as from plain ones", async () => {
  const { dump, restore } = await startRestores();
  const copied = async (output: Readonly<Record<string, unknown>>) => {
    const { result, target } = await restore(await dump(output));
    expect([result.status, result.differences]).toEqual(["proved", []]);
    const text = JSON.stringify(await readCopies(target.url, key));
    return JSON.parse(text.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, "an id"));
  };
  const plain = await copied({ formats: ["jsonl"] });
  expect(plain).toHaveLength(4); // for each dataset of the run, a new dataset for each form of its documents
  expect(await copied({ formats: ["jsonl"], compress: "gzip", partition: "dataset" })).toEqual(plain);
}, 120_000);
