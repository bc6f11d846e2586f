import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Chunk } from "../src/index.js";
import { defineJob, diff, list, plan, planRestore, readRun, run, StopError, UsageError, verify } from "../src/index.js";
import { tablesOf, twoDumps } from "./compare/diff/dumps.js";
import { inFull } from "./rounds.js";
import { testFolder } from "./run/job-for.js";
import { child, chunk } from "./verify/sound-tables.js";

const datasets = [{ id: "be707760-4d1d-4f33-b3ad-f9bace31e975", documents: ["72eeb179-b9ed-4b5c-8fc0-ef7a606536c0"] }];

/** Collects all items of an iterable. */
async function all<T>(rows: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

test.runIf(inFull)(
  "a program defines a job, plans it, runs it, verifies it, lists its runs and reads its rows",
  async () => {
    const dir = await testFolder();
    const job = defineJob({ name: "nightly", service: { demo: true }, datasets, output: { dir, formats: ["jsonl"] } });
    expect((await plan(job)).requests.this_job).toBeGreaterThan(50);
    const { status, folder } = await run(job);
    expect({ status, verified: (await verify(folder)).status }).toEqual({ status: "complete", verified: "sound" });
    expect((await diff(folder, folder)).counts.chunks).toMatchObject({ unchanged: 52, lost: 0 });
    for (const { runs } of [await list(job), await list("nightly", { out: dir })])
      expect(runs.map((each) => each.folder)).toEqual([folder]);
    const dump = await readRun(join(dir, "nightly", "latest"));
    expect({ folder: dump.folder, counts: dump.manifest.counts }).toMatchObject({ folder, counts: { chunks: 52 } });
    const chunks: readonly Chunk[] = await all(dump.chunks());
    expect(chunks.map(({ position }) => position)).toEqual(Array.from({ length: 52 }, (_, at) => at + 1));
    const ids = new Set(chunks.map(({ id }) => id));
    const children = await all(dump.childChunks());
    expect(children).toHaveLength(52);
    expect(children.every(({ segment_id }) => ids.has(segment_id))).toBe(true);
  },
);

test.runIf(inFull).each(["jsonl", "csv", "parquet"] as const)(
  "rows that are read from %s are those of JSONL",
  async (format) => {
    const row = chunk("d", "a", {
      content: 'one, "two"\n\u2028three',
      answer: null,
      keywords: ["k"],
      extra: { n: 1.5 },
    });
    const [folder] = await twoDumps(tablesOf([row], [child("d", "a", "c1")]), tablesOf([row]), [{ formats: [format] }]);
    const dump = await readRun(folder);
    expect(await all(dump.chunks())).toEqual([row]);
    expect((await all(dump.childChunks())).map(({ id }) => id)).toEqual(["c1"]);
  },
);

test("run and plan refuse a plain object, and name what to pass instead", async () => {
  const definition = { service: { demo: true }, datasets, output: { formats: ["jsonl"] } };
  for (const use of [run, plan])
    await expect(use(definition as unknown as Parameters<typeof run>[0])).rejects.toThrow(
      "expected the result of defineJob or loadJob",
    );
});

test("rows of a damaged run are not read", async () => {
  const [folder] = await twoDumps(tablesOf([chunk("d", "a")]), tablesOf([chunk("d", "a")]));
  await appendFile(join(folder, "chunks.jsonl"), "\n");
  const dump = await readRun(folder);
  await expect(all(dump.chunks())).rejects.toThrow(StopError);
  await expect(readRun(join(folder, "nowhere"))).rejects.toThrow(UsageError);
});

test.runIf(inFull)("planRestore names what a re-index removed, from two runs", async () => {
  const edited = chunk("d", "a", { content: "as a person wrote it", updated_by: "someone" });
  const [older, newer] = await twoDumps(tablesOf([edited]), tablesOf([chunk("d", "b", { content: "as it was" })]));
  const { documents } = await planRestore(older, { against: newer });
  expect(documents).toMatchObject([
    { lost: 1, manual_edits: 1, listed: [{ why: "needs your decision" }], restores: [] },
  ]);
  const [added] = (await planRestore(older, { against: newer, manualEdits: true })).documents;
  expect(added).toMatchObject({ listed: [], restores: [{ chunk_id: "a", target: null }] });
});

test("a wrong job is refused with every problem at once, by the names of its settings", () => {
  const wrong = { service: { base_url: "http://kb.example.com/v1" }, datasets: [], output: { format: ["jsonl"] } };
  const define = () => defineJob(wrong as never);
  expect(define).toThrow(UsageError);
  expect(define).toThrow(
    /3 problems with the job:\n {2}output\.format: unknown key.*formats.*\n.*service\.base_url.*\n.*datasets/,
  );
  expect(define).not.toThrow(/ --(?!allow-http)/);
});
