import { expect, test } from "vitest";
import { paintFor } from "../../../src/cli/text.js";
import { renderWrites } from "../../../src/commands/restore/shared.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";
import { emptyWriteProgress, type WriteProgress } from "../../../src/restore/result.js";

const dump = {
  ...emptyRunProgress(),
  documents: 2,
  documentsBegun: 1,
  documentsDone: 1,
  pagesExpected: 4,
  pagesDone: 4,
  chunks: 40,
};
const progressOf = (more: Partial<WriteProgress>): WriteProgress => ({ ...emptyWriteProgress(), ...more });

test.each<[Partial<WriteProgress>, RegExp, number | null]>([
  [{}, /^reading the run$/, null],
  [
    { step: "reading the documents as they stand", dump },
    /^50 % · reading the documents as they stand · .*1\/2 documents · 40 chunks/,
    0.5,
  ],
  [{ step: "planning" }, /^planning$/, null],
  [{ step: "writing", chunks: 12 }, /^0 % · writing · 0\/12 chunks$/, 0],
  [{ step: "writing", chunks: 12, chunksDone: 3 }, /^25 % · writing · 3\/12 chunks$/, 0.25],
  [
    { step: "writing", chunks: 12, chunksDone: 10, waiting: 2 },
    /^83 % · writing · 10\/12 chunks · 2 wait until the service has indexed them$/,
    10 / 12,
  ],
  [{ step: "writing" }, /^writing$/, null],
  [{ step: "proving", dump }, /^50 % · proving · /, 0.5],
])("%j: %s", (more, line, share) => {
  const { lines, block, facts } = renderWrites(progressOf(more));
  expect(lines(1_000)).toEqual([expect.stringMatching(line)]);
  expect(facts(1_000)).toMatchObject({ share, elapsed_seconds: 1, remaining_seconds: null });
  for (const columns of [80, 40, 10]) {
    const [drawn = "", ...others] = block(1_000, { columns, rows: 24, paint: paintFor({}, {}) });
    expect([others, drawn.length < columns]).toEqual([[], true]);
  }
});

test("the time left of a dump counts from its beginning, whatever came before", () => {
  const run = { ...dump, documentsBegun: 2, pagesDone: 0 };
  const { lines } = renderWrites(progressOf({ step: "proving", dump: run }));
  lines(600_000);
  run.pagesDone = 1;
  expect(lines(610_000)).toEqual([expect.stringMatching(/^25 % · proving · starting · 30\.0 s left · /)]);
});
