import { expect, test } from "vitest";
import { paintFor } from "../../../src/cli/text.js";
import { renderWrites } from "../../../src/commands/restore/shared.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";
import { emptyWriteProgress, type WriteProgress } from "../../../src/restore/result.js";

const writing: WriteProgress = { ...emptyWriteProgress(), step: "writing", documents: 13, chunks: 5_000 };

test.each<[Partial<WriteProgress>, string, number | null]>([
  [{}, "reading the run", null],
  [{ step: "asking the service" }, "asking the service", null],
  [{ ...writing, documentsDone: 3, chunksDone: 1_250 }, "25 % · writing · 3/13 documents · 1,250/5,000 chunks", 0.25],
  [
    { ...writing, documentsDone: 3, documentsFailed: 1, chunksDone: 1_250 },
    "25 % · writing · 1 failed document · 3/13 documents · 1,250/5,000 chunks",
    0.25,
  ],
  [
    { ...writing, chunksDone: 49, writes: 1_448 },
    "0 % · writing · 0/13 documents · 49/5,000 chunks · 1,448 requests",
    49 / 5_000,
  ],
  [
    { ...writing, chunksDone: 50, children: 5_000, childrenDone: 950 },
    "10 % · writing · 0/13 documents · 50/5,000 chunks · 950/5,000 child chunks",
    0.1,
  ],
  [{ ...writing, chunks: 0, documentsDone: 13 }, "100 % · writing · 13/13 documents", 1],
  [{ ...writing, documents: 0, chunks: 0 }, "writing", null],
])("%j: %s", (more, line, share) => {
  const { lines, block, facts } = renderWrites({ ...emptyWriteProgress(), ...more });
  expect(lines(1_000)).toEqual([line]);
  expect(facts(1_000)).toMatchObject({ share, elapsed_seconds: 1, remaining_seconds: null });
  for (const columns of [80, 40, 10]) {
    const [drawn = "", ...others] = block(1_000, { columns, rows: 24, paint: paintFor({}, {}) });
    expect([others, drawn.length < columns]).toEqual([[], true]);
  }
});

test("the time left comes only from the rate of writing, without earlier steps and earlier processes", () => {
  const progress = { ...emptyWriteProgress() };
  const { lines, facts } = renderWrites(progress);
  lines(60_000);
  Object.assign(progress, writing, { chunksDone: 1_000 });
  lines(60_000);
  progress.chunksDone = 1_040;
  expect(lines(70_000)).toEqual([
    "20 % · writing · 16 min 30 s left · 0/13 documents · 1,040/5,000 chunks · 4 chunks/s",
  ]);
  expect(facts(70_000)).toEqual({
    ...{ step: "writing", done: 1_040, of: 5_000, unit: "chunk", per_second: 4, share: 0.208, silent_seconds: null },
    ...{ counts: { documents: 13, documents_done: 0, chunks: 5_000, chunks_done: 1_040 } },
    ...{ elapsed_seconds: 70, remaining_seconds: 990 },
  });
});

test("during uploads, documents are counted", () => {
  const progress = { ...writing, chunks: 0 };
  const { lines } = renderWrites(progress);
  lines(0);
  progress.documentsDone = 3;
  expect(lines(30_000)).toEqual(["23 % · writing · 1 min 40 s left · 3/13 documents · 0.1 documents/s"]);
});

test("while a dump is made, its progress is shown, and its time left counts from its beginning", () => {
  const run = { ...emptyRunProgress(), documents: 2, documentsBegun: 2, documentsDone: 1, pagesExpected: 4 };
  const progress: WriteProgress = { ...writing, step: "proving", dump: run };
  const { lines, facts } = renderWrites(progress);
  lines(600_000);
  run.pagesDone = 1;
  expect(lines(610_000)).toEqual([
    expect.stringMatching(/^25 % · proving · starting · 30\.0 s left · 1\/2 documents · /),
  ]);
  expect(facts(610_000)).toMatchObject({ step: "proving · starting", share: 0.25, remaining_seconds: 30 });
});
