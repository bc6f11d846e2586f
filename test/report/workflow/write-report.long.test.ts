import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyReadProgress } from "../../../src/read-progress.js";
import { renderReport, writeReport } from "../../../src/report/render-report.js";
import { testFolder } from "../../run/job-for.js";
import { dump, smallStore, useDump } from "../../verify/dumped.js";
import { abortAt, ownTemporaryFolder } from "../../verify/interrupting.js";

const copyOfDump = useDump(["jsonl", "duckdb"]);

test("the same run produces the same bytes, also after later runs, at another time and in another time zone", async () => {
  const { base, run, folder } = await copyOfDump();
  const render = async () => (await renderReport({ folder: run })).html;
  const before = await render();
  const zone = process.env.TZ;
  process.env.TZ = "Asia/Kathmandu";
  expect(await render()).toBe(before);
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  const store = smallStore();
  for (const document of store.documents) {
    for (const chunk of document.chunks) Object.assign(chunk, { content: "other words", hit_count: 7 });
    document.chunks.pop();
  }
  await dump(base, store, { output: { formats: ["jsonl", "duckdb"] } });
  expect(await readdir(join(folder, "runs"))).toHaveLength(2);
  expect(await render()).toBe(before);
});

test("the steps are reported, and go from nothing to all", async () => {
  const { run } = await copyOfDump();
  const shares: number[] = [];
  const steps = new Set<string>();
  const progress = new Proxy(emptyReadProgress(), {
    set: (target, name, value) => {
      Reflect.set(target, name, value);
      if (name === "step") steps.add(String(value));
      if (name === "done") shares.push(target.done / target.expected);
      return true;
    },
  });
  await renderReport({ folder: run, against: run, progress });
  expect(shares).toEqual(shares.toSorted((one, other) => one - other));
  expect(shares.at(-1)).toBeGreaterThan(0.9);
  for (const step of ["reading chunks.jsonl", "verifying", "matching", "writing the page"])
    expect(steps).toContain(step);
});

test.each(["reading chunks.jsonl", "verifying", "writing the page"])(
  "a signal while %s ends it with its reason; the old page stays, and nothing is left",
  async (step) => {
    const { run, folder } = await copyOfDump();
    const path = join(folder, "report.html");
    await writeFile(path, "an older report");
    const temporary = await ownTemporaryFolder();
    await expect(writeReport(path, { folder: run, ...abortAt(step) })).rejects.toThrow("enough");
    expect(await readFile(path, "utf8")).toBe("an older report");
    expect(await readdir(temporary)).toEqual([]);
    expect((await readdir(folder)).filter((name) => name.startsWith(".report"))).toEqual([]);
  },
);

test("a copied dump has a report, without the database of its job", async () => {
  const { run } = await copyOfDump();
  const copy = join(await testFolder(), "copy");
  await cp(run, copy, { recursive: true });
  await rm(run, { recursive: true });
  const { summary } = await renderReport({ folder: copy });
  expect(summary).toMatchObject({ status: "partial", verified: "sound", chunks: 17, against: null });
});
