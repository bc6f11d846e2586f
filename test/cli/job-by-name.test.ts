import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { runHere } from "./run-here.js";

const dataset = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const document = "72eeb179-b9ed-4b5c-8fc0-ef7a606536c0";
const batch = "20250306120000123456";

/** An output folder with one run of the job `nightly`, and the environment variables for it. */
async function startJob(more: object = {}) {
  const { url, key, close } = await startService();
  onTestFinished(close);
  const folder = await testFolder();
  const out = join(folder, "out");
  const file = await jobFile(folder, {
    ...{ name: "nightly", child_chunks: "none", resume_within: 12 },
    service: { base_url: url, api_key_env: "NIGHTLY_KEY", concurrency: 3 },
    datasets: [{ id: dataset, documents: [document], batches: [batch] }],
    output: { dir: out, formats: ["jsonl"], keep: { last: 2 } },
    ...more,
  });
  const env = { NIGHTLY_KEY: key, HOOK: `${url}/hook` };
  expect((await runHere(["run", file, "--quiet"], env)).code).toBe(0);
  const runs = async () => (await readdir(join(out, "nightly", "runs"))).sort();
  return { out, env, runs };
}

test("the name of a job stands for the job that its newest run recorded", async () => {
  const { out, env, runs } = await startJob();
  const [first = ""] = await runs();
  for (const [command, ...flags] of [["run"], ["plan"], ["status"], ["prune", "--dry-run"]]) {
    const { code, stderr } = await runHere([`${command}`, "nightly", "--out", out, "--quiet", ...flags], env);
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
  }
  const [, second = ""] = await runs();
  const { default: before } = await import(join(out, "nightly", "runs", first, "manifest.json"), {
    with: { type: "json" },
  });
  const { default: after } = await import(join(out, "nightly", "runs", second, "manifest.json"), {
    with: { type: "json" },
  });
  expect(after.options).toEqual(before.options);
  expect(after.options.service).toMatchObject({ api_key_env: "NIGHTLY_KEY", concurrency: 3 });
  expect(after.counts).toEqual(before.counts);
});

test("the folder of a job does, too, and flags override what the run recorded", async () => {
  const { out, env, runs } = await startJob();
  const run = await runHere(["run", join(out, "nightly"), "--format", "csv", "--json"], env);
  expect(run.code).toBe(0);
  expect(await readdir(join(out, "nightly", "runs", (await runs()).at(-1) ?? ""))).toContain("chunks.csv");
});

test("a job that notifies is not run by its name, as no run records the addresses; its plan is made", async () => {
  const { out, env } = await startJob({ notify: { url: "$" + "{HOOK}" } });
  const { code, stderr } = await runHere(["run", "nightly", "--out", out], env);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      "kbdump: The job cannot be run by its name:\n  nightly: the job sends notifications, and no run records their addresses; name its job file\n",
  });
  expect((await runHere(["plan", "nightly", "--out", out], env)).code).toBe(0);
});

test("a name that no job has is answered with the jobs there", async () => {
  const { out, env } = await startJob();
  const { code, stderr } = await runHere(["plan", "nigthly", "--out", out], env);
  expect(code).toBe(2);
  expect(stderr).toContain(`no job in ${out}; jobs there: nightly. --out names another output folder\n`);
});
