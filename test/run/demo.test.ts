import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outlines } from "../../src/demo/sample/outlines.js";
import { buildDataset } from "../../src/demo/sample/sample-knowledge.js";
import { loadJob } from "../../src/job/load-job.js";
import type { RunResult } from "../../src/run/make-run.js";
import { runJob } from "../../src/run/run-job.js";
import { sumOfChildLists } from "../../src/segments/document-result.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { inFull } from "../rounds.js";
import { expectedChild, expectedChunk } from "./expected-rows.js";
import { query, readJsonl } from "./read-dump.js";

/** The row order of the service: by position, then by id. */
const byPlace = (a: Listed, b: Listed) => a.position - b.position || (a.id < b.id ? -1 : 1);
interface Listed {
  readonly position: number;
  readonly id: string;
}

const sample = outlines.map((outline) => buildDataset(outline, () => new Date()));
/** In the order of the service: newest first. */
const documents = sample.flatMap(({ row: dataset, documents }) =>
  documents.toReversed().map(({ row, chunks }) => ({
    datasetId: dataset.id,
    documentId: row.id,
    chunks: chunks.toSorted((a, b) => byPlace(a.row, b.row)),
  })),
);
const chunks = documents.flatMap(({ datasetId, documentId, chunks }) =>
  chunks.map(({ row }) => expectedChunk(datasetId, documentId, row)),
);
const children = documents.flatMap(({ datasetId, documentId, chunks }) =>
  chunks.flatMap(({ row, children }) =>
    children.toSorted(byPlace).map((child) => expectedChild(datasetId, documentId, row.id, child)),
  ),
);

let folder: string;
let demo: RunResult;

/** All tests share one dump of the demo job, because they only read it. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kbdump-test-"));
  const job = await loadJob({ file: "jobs/demo.yaml" }, { out: join(folder, "new", "out") }, {});
  demo = await runJob(job, { env: {} });
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

test("the demo job dumps the sample data, every row of it, field by field, in every format", async () => {
  const { manifest, folder: run, database } = demo;
  expect(manifest).toMatchObject({ status: "complete", drift: {} });
  expect(manifest.warnings).toEqual([
    expect.stringMatching(
      /^document "Announcements\.txt" \(844b1f71\S+: its indexing is completed, and it has no chunks$/,
    ),
    expect.stringMatching(
      /^document "Travel .*" \(25cce32d\S+: it is being indexed \(\w+\), so its chunks are not final$/,
    ),
    expect.stringMatching(
      /^document "Employee .*" \(d904c614\S+: it is being indexed \(\w+\), so its chunks are not final$/,
    ),
  ]);
  expect(await readJsonl(run, "chunks")).toEqual(chunks);
  expect(await readJsonl(run, "child_chunks")).toEqual(children);
  expect(manifest.counts).toMatchObject({
    chunks: chunks.length,
    child_chunks: children.length,
    documents: 13,
    metadata_fields: 10,
  });

  for (const kind of ["chunks", "child_chunks", "documents", "metadata_fields"]) {
    const typed = await query(`SELECT * FROM '${run}/${kind}.parquet'`);
    expect(await query(`SELECT * EXCLUDE (run_id) FROM ${kind}`, database)).toEqual(typed);
    const csv = `read_csv('${run}/${kind}.csv', all_varchar = true, allow_quoted_nulls = false, parallel = false, max_line_size = 10000000)`;
    const ids = kind.endsWith("chunks") ? "id, content" : "dataset_id";
    expect(await query(`SELECT ${ids} FROM ${csv}`)).toEqual(
      await query(`SELECT ${ids} FROM '${run}/${kind}.parquet'`),
    );
    expect(typed).toHaveLength((await readJsonl(run, kind)).length);
  }
});

test.runIf(inFull)(
  "with child_chunks: auto, the sample data comes out the same with a quarter of the requests, and the manifest says why",
  async () => {
    const flags = { out: join(folder, "auto"), format: ["jsonl"], childChunks: "auto" };
    const [all, auto] = [demo, await runJob(await loadJob({ file: "jobs/demo.yaml" }, flags, {}), { env: {} })];
    for (const name of ["chunks.jsonl", "child_chunks.jsonl"]) {
      expect(await readFile(join(auto.folder, name), "utf8")).toBe(await readFile(join(all.folder, name), "utf8"));
    }
    expect(all.manifest.requests.sent).toBe(5136);
    expect(auto.manifest.requests.sent).toBe(1288);
    expect((await verifyRun(auto.folder)).findings).toEqual([]);

    const { child_lists: lists, documents } = auto.manifest;
    expect(lists.map(({ document_id }) => document_id)).toEqual(documents.map(({ document_id }) => document_id));
    expect(lists.map(({ asked, embedded, skipped }) => asked + embedded + skipped)).toEqual(
      documents.map(({ chunk_count }) => chunk_count),
    );
    expect(lists[6]).toMatchObject({ asked: 154, embedded: 446, skipped: 0, empty: 150, embedding: 450 });
    expect(lists[2]).toMatchObject({ asked: 5, embedded: 0, skipped: 895, empty: 5, embedding: 0 });
    expect(all.manifest.child_lists.map(({ embedding }) => embedding)).toEqual(lists.map(({ embedding }) => embedding));
    expect(lists[1]).toMatchObject({
      asked: 700,
      empty: 630,
      reason: "the child list of chunk 700 is not what the chunk embeds",
    });
    expect(all.manifest.child_lists.map(({ auto_asks }) => auto_asks)).toEqual(lists.map(({ asked }) => asked));
    expect(sumOfChildLists(all.manifest.child_lists)).toEqual({
      asked: 5_027,
      embedded: 0,
      skipped: 0,
      empty: 3_921,
      auto_saves: 3_847,
      auto_misses: 0,
    });
  },
  120_000,
);

test("the indexing status occurs twice for every batch: before and after the crawl", async () => {
  const rows = await readJsonl(demo.folder, "indexing_status");
  const batches = [...new Set(rows.map(({ batch }) => batch))];
  expect(batches).toEqual(["20250306120000123456", "20250602093000654321", "import/März 2025 #3? 100%"]);
  for (const batch of batches) {
    const moments = new Set(rows.filter((row) => row.batch === batch).map(({ captured_at }) => captured_at));
    expect(moments.size).toBe(2);
  }
  const underWay = rows.filter(({ batch }) => batch === batches[1]);
  const counted = (moment: unknown) =>
    underWay
      .filter(({ captured_at }) => captured_at === moment)
      .reduce((sum, row) => sum + Number(row.completed_segments) + Number(row.total_segments), 0);
  const [before, after] = [...new Set(underWay.map(({ captured_at }) => captured_at))];
  expect(counted(after)).toBeGreaterThan(counted(before));
});

test("only their owner can read files and folders, and the manifest describes them correctly", async () => {
  const { manifest, folder: run, database } = demo;
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  expect(manifest.files).toHaveLength(24);
  for (const { path, bytes } of manifest.files) {
    expect(await mode(join(run, path))).toBe("600");
    expect((await stat(join(run, path))).size).toBe(bytes);
  }
  for (const path of [join(folder, "new"), join(folder, "new", "out", "demo"), join(run, ".."), run]) {
    expect(await mode(path)).toBe("700");
  }
  expect(await mode(join(run, "manifest.json"))).toBe("600");
  expect(await mode(database ?? "")).toBe("600");
  expect(JSON.parse(await readFile(join(run, "manifest.json"), "utf8"))).toEqual(manifest);
});
