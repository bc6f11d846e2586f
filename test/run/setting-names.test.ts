import { expect, test } from "vitest";
import { jobFileNames } from "../../src/client/failed-request.js";
import { loadJob } from "../../src/job/load-job.js";
import { settingNames } from "../../src/job/open-service.js";
import { targetLabels } from "../../src/restore/target.js";
import { jobFile, testFolder } from "./job-for.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";

async function namesFor(flags: Parameters<typeof loadJob>[1]) {
  const file = await jobFile(await testFolder(), {
    service: { base_url: "https://kb.example.com/v1" },
    datasets: [{ id: dataset, documents: "all" }],
  });
  return settingNames((await loadJob({ file }, flags, {})).labels);
}

test("settings of a job file are named by their places in it, and by flags that win over it", async () => {
  expect(await namesFor({})).toEqual(jobFileNames);
  expect(await namesFor({ concurrency: "4" })).toEqual({ ...jobFileNames, concurrency: "--concurrency" });
});

test("settings of a job without a file are named by its flags, if there is one", async () => {
  const flags = { baseUrl: "https://kb.example.com/v1", dataset: "all" };
  const { labels } = await loadJob({ none: true }, flags, {});
  expect(settingNames(labels)).toEqual({ ...jobFileNames, baseUrl: "--base-url", concurrency: "--concurrency" });
});

test("settings of a restore are named by its flags, or not at all", () => {
  expect(settingNames(targetLabels)).toEqual({
    ...{ baseUrl: "--to", caFile: "--ca-file", concurrency: "--concurrency" },
    ...{ maxBody: null, outage: null },
  });
});
