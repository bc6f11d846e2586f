import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runHere } from "../../cli/run-here.js";
import { jobFile } from "../../run/job-for.js";
import { dumpAgain, expectSame, served } from "../../serve/redump.js";
import { reindex } from "../../servers/edits.js";
import { fileFormats, ids, type Partition, startDatasets, threeDatasets } from "./datasets.js";

const later = { now: () => new Date("2026-11-21T02:00:00.123Z") };
const output = { formats: [...fileFormats, "duckdb"] };
const compressed = { ...output, compress: "gzip" };

/**
 * Runs before and after a re-index of the first document that loses an edit; once with whole files, once partitioned and
 * compressed.
 */
async function startRuns() {
  const { store, documents } = threeDatasets();
  const place = await startDatasets(store);
  const [edited] = documents;
  const both = async (options = {}) => ({
    none: (await place.run("none", { details: true, output }, options)).folder,
    dataset: (await place.run("dataset", { details: true, output: compressed }, options)).folder,
  });
  await both();
  Object.assign(edited.chunks[3] ?? {}, { content: "Written by a person.", updated_by: "ann" });
  const old = await both(later);
  Object.assign(edited.chunks[3] ?? {}, { content: "Cut by the indexer.", updated_by: null });
  reindex(edited, 77);
  const fresh = await both({ now: () => new Date("2026-11-22T02:00:00.123Z") });
  return { ...place, old, fresh };
}

/** A report without the list, number and sizes of files. */
function withoutFiles(page: string): string {
  const [before = "", after = ""] = page.split(/<summary>\d+ files, .*?<\/table>/s);
  return `${before}${after}`.replace(/<dd>[\d.]+ kB<\/dd>|all \d+ files/g, "…");
}

/** Checks that a command prints the same for partitioned and whole files; returns the output. */
async function expectAlike(command: (partition: Partition) => readonly string[], code: number): Promise<string> {
  const printed = async (partition: Partition) => {
    const { stdout, stderr, code } = await runHere(command(partition), { KNOWLEDGE_RESTORE_KEY: "dataset-x" });
    return { stdout: stdout.replaceAll(`/${partition}/test`, "/…/test"), stderr, code };
  };
  const [whole, divided] = [await printed("none"), await printed("dataset")];
  expect(divided).toEqual(whole);
  expect({ code: divided.code, stderr: divided.stderr }).toMatchObject({ code });
  return divided.stdout;
}

test("commands that read a dump say the same of divided and compressed files as of whole ones", async () => {
  const { old, fresh, folder } = await startRuns();

  expect((await runHere(["verify", fresh.dataset, "--duckdb"])).code).toBe(0);
  expect((await runHere(["diff", fresh.none, fresh.dataset])).code).toBe(0);
  const found = await expectAlike((partition) => ["diff", old[partition], fresh[partition], "--json"], 4);
  expect(JSON.parse(found).counts.chunks.manual_edits).toBe(1);

  const statement = `SELECT dataset_id, count(*) AS chunks, sum(word_count) AS characters FROM chunks GROUP BY ALL ORDER BY ALL`;
  const rows = await expectAlike((partition) => ["sql", fresh[partition], statement, "--format", "json"], 0);
  expect(JSON.parse(rows)).toMatchObject([
    { dataset_id: ids.full, chunks: 19 },
    { dataset_id: ids.odd, chunks: 3 },
  ]);

  const plan = await expectAlike(
    (partition) => ["restore", old[partition], "--against", fresh[partition], "--json"],
    0,
  );
  expect(plan).toContain("Written by a person.");

  const report = async (partition: Partition) => {
    const path = join(folder, `${partition}.html`);
    const args = ["report", fresh[partition], "--against", old[partition], "--file", path];
    expect(await runHere(args)).toMatchObject({ code: 0 });
    return withoutFiles(await readFile(path, "utf8")).replaceAll(new RegExp(`/${partition}\\b`, "g"), "/…");
  };
  expect(await report("dataset")).toBe(await report("none"));

  const listed = await runHere(["list", "test", "--out", join(folder, "dataset"), "--json"]);
  const { files } = JSON.parse(await readFile(join(fresh.dataset, "manifest.json"), "utf8"));
  const bytes = files.reduce((sum: number, file: { bytes: number }) => sum + file.bytes, 0);
  expect(listed.stdout).toContain(`"bytes":${bytes}`);

  const job = await jobFile(folder, {
    service: { demo: true },
    datasets: "all",
    output: { dir: join(folder, "dataset"), formats: ["jsonl"], keep: { last: 1 } },
  });
  expect(await runHere(["prune", job])).toMatchObject({ code: 0 });
  expect([old.dataset, fresh.dataset].map((path) => existsSync(path))).toEqual([false, true]);
});

test.each(fileFormats)(
  "a dump of %s in partitions is served, and a dump from there has the same bytes as one in whole files",
  async (format) => {
    const { run } = await startDatasets(threeDatasets().store);
    const whole = await run("none", { output: { formats: ["jsonl", "csv"] } });
    const divided = await run("dataset", { output: { formats: [format] } });
    const again = await dumpAgain(await served(divided.folder), whole.folder, ["jsonl", "csv"], { datasets: "all" });
    // Other formats write an object in a column of any type as text, so after them only the CSV is equal.
    await expectSame(whole.folder, again.folder, format === "jsonl" ? ["jsonl", "csv"] : ["csv"]);
  },
);
