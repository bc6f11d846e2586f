import { expect, test } from "vitest";
import { RecentRate, renderWorker } from "../../src/commands/worker.js";
import { emptyRunTally, readingDocuments, waitingForDocuments } from "../../src/job/run-tally.js";

test("a worker that waits says so once, and again after it has read something", () => {
  const tally = { ...emptyRunTally(), step: waitingForDocuments };
  const { lines } = renderWorker(tally);
  expect([10_000, 20_000, 30_000].flatMap((elapsed) => lines(elapsed))).toEqual(["waiting for documents"]);
  Object.assign(tally, { step: readingDocuments, documentsDone: 1, chunks: 20 });
  tally.requests.answered = 50;
  const reading = "reading documents · 1 document, 20 chunks, 0 child chunks read · 5 requests/s";
  expect(lines(40_000)).toEqual([reading]);
  tally.step = waitingForDocuments;
  expect([...lines(50_000), ...lines(60_000)]).toEqual([
    "waiting for documents · 1 document, 20 chunks, 0 child chunks read",
  ]);
});

test("machines hear of it as seldom", () => {
  const { facts } = renderWorker({ ...emptyRunTally(), step: waitingForDocuments });
  expect(facts(10_000)).toMatchObject({ step: waitingForDocuments });
  expect(facts(20_000)).toBeUndefined();
});

test("no line is wider than the terminal", () => {
  const tally = { ...emptyRunTally(), step: readingDocuments, documentsDone: 1_000_000 };
  const [line = ""] = renderWorker(tally).block(1_000, { columns: 30, rows: 5 } as never);
  expect(line).toHaveLength(29);
});

test("a rate is that of the last ten seconds, however long nothing came before", () => {
  const rate = new RecentRate();
  expect(rate.at(0, 0)).toBe(0);
  expect(rate.at(1_000, 10)).toBe(10);
  expect(rate.at(1_000_000, 10)).toBeCloseTo(0, 3);
  expect(rate.at(1_005_000, 110)).toBe(20);
  expect(rate.at(1_010_000, 210)).toBe(20);
  expect(rate.at(1_015_000, 410)).toBe(30);
});
