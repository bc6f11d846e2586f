import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runHere } from "../cli/run-here.js";
import { finished, startKbdump } from "../cli/run-kbdump.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { makeRuns } from "../store/past-run.js";

const dataset = { id: "00000000-0000-4000-8000-000000000001", documents: ["00000000-0000-4000-8000-000000000002"] };
const dayOf = (index: number) => new Date(Date.UTC(2026, 0, 1 + index, 2)).toISOString().replace(/[-:.]/g, "");

async function startPlace(count: number, keep: Record<string, number> | null = { last: 1, monthly: 2 }) {
  const folder = await testFolder();
  const output = { formats: ["jsonl"], ...(keep ? { keep } : {}) };
  const file = await jobFile(folder, { service: { demo: true }, datasets: [dataset], output });
  const place = join(folder, "out", "test");
  const runs = Object.fromEntries(Array.from({ length: count }, (_, index) => [dayOf(index), "complete" as const]));
  await makeRuns(place, "test", runs);
  return { file, place };
}

test("prune shows what it would do, does it, and has nothing to do afterwards", async () => {
  const { file, place } = await startPlace(33);
  const dry = await runHere(["prune", file, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, stderr: "" });
  expect(dry.stdout.split("\n").slice(0, 3)).toEqual([
    `keep    ${dayOf(32)}  complete  newest complete run, last 1: number 1, monthly 2: 2026-02`,
    `remove  ${dayOf(31)}  complete  no rule keeps it`,
    `keep    ${dayOf(30)}  complete  monthly 2: 2026-01`,
  ]);
  expect(dry.stdout).toMatch(/\n2 runs kept, 31 would be removed \(93 B\)\n$/);
  expect(await readdir(join(place, "runs"))).toHaveLength(33);
  const { code, stdout, stderr } = await runHere(["prune", file]);
  expect([code, stdout.split("\n").at(-2)]).toEqual([0, "2 runs kept, 31 removed (93 B)"]);
  expect(stderr.split("\n")[0]).toBe(`removing run ${dayOf(31)}: no rule keeps it`);
  expect((await readdir(join(place, "runs"))).sort()).toEqual([dayOf(30), dayOf(32)]);
  const again = await runHere(["prune", file, "--json", "--quiet"]);
  expect(again.stderr).toBe("");
  expect(JSON.parse(again.stdout)).toMatchObject({ job: "test", dry_run: false, removed: [], failed: [], ignored: [] });
  expect(JSON.parse(again.stdout).kept).toHaveLength(2);
});

test("prune shows what to write in a job without rules", async () => {
  const { file } = await startPlace(1, null);
  const { code, stderr } = await runHere(["prune", file]);
  expect([code, stderr]).toEqual([
    2,
    "kbdump: There is nothing to prune by:\n  output.keep: expected, such as {last: 14}; without it every run is kept\n",
  ]);
});

test("killed in the middle, it leaves only whole runs, and the next prune finishes its work", async () => {
  const { file, place } = await startPlace(40, { last: 1 });
  const child = startKbdump(["prune", file]);
  const end = finished(child);
  if (child.stderr) await once(child.stderr, "data");
  child.kill("SIGKILL");
  await end;
  for (const run of await readdir(join(place, "runs"))) {
    expect((await readdir(join(place, "runs", run))).sort()).toEqual(["chunks.jsonl", "manifest.json"]);
  }
  expect(await readdir(join(place, "latest"))).toContain("manifest.json");
  expect((await runHere(["prune", file])).code).toBe(0);
  expect(await readdir(join(place, "runs"))).toEqual([dayOf(39)]);
  expect(await readdir(join(place, ".work"))).toEqual(["indexing_status"]);
});
