import { expect, test } from "vitest";
import { emptyWatchTally } from "../../src/status/watched-documents.js";
import { terminalText } from "../../src/terminal/text.js";
import {
  renderDocumentLine,
  renderWatchBlock,
  renderWatchLines,
  renderWatchProgress,
} from "../../src/terminal/watch-lines.js";
import { indexing, tallyOf } from "./watched.js";

const now = Date.parse("2026-11-20T02:00:00Z");
const [a, b, c] = ["a", "b", "c"].map((letter) => `${letter.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`);
const completed = (document_id = "x") => ({ document_id, indexing_status: "completed" });
const screen = { columns: 100, rows: 24 };

test("one line for all: how many are done, and when the slowest is", () => {
  const tally = tallyOf(now, [indexing("a", 2), indexing("b", 1)], [indexing("a", 4), indexing("b", 2)]);
  expect(renderWatchProgress(tally, now)).toBe("0 of 2 documents completed · 6.0 s left");
  const mixed = tallyOf(now, [completed("x"), { document_id: "y", indexing_status: "error" }, indexing("a", 1)]);
  expect(renderWatchProgress(mixed, now)).toBe("1 of 3 documents completed, 1 failed");
  expect(renderWatchProgress(mixed, now + 90_000)).toBe(
    "1 of 3 documents completed, 1 failed · last read 1 min 30 s ago",
  );
  expect(renderWatchProgress(emptyWatchTally(), now)).toBe("reading the status of the batches");
});

test("a bar for each that is not done: stage, percent and time left, no wider than the terminal", () => {
  const rows = [indexing(String(a), 4), { document_id: b, indexing_status: "waiting" }, completed(c)];
  const tally = tallyOf(now, [indexing(String(a), 2), ...rows.slice(1)], rows);
  expect(renderWatchBlock(tally, now, screen)).toEqual([
    "1 of 3 documents completed",
    `${a}  ${"━".repeat(12)}${"╌".repeat(12)}  50 %  indexing · 2.0 s left`,
    `${b}  ${"╌".repeat(24)}        waiting`,
  ]);
  expect(renderWatchBlock(tally, now, { ...screen, columns: 60 })[1]).toBe(
    `aaaaaaaa  ${"━".repeat(6)}${"╌".repeat(6)}  50 %  indexing · 2.0 s left`,
  );
  for (const columns of [1, 5, 20, 79]) {
    for (const line of renderWatchBlock(tally, now, { columns, rows: 24 })) expect(line.length).toBeLessThan(columns);
  }
});

test("of more than fit the ones at work come first, and the rest is counted", () => {
  const waiting = Array.from({ length: 5_000 }, (_each, n) => ({ document_id: `w${n}`, indexing_status: "waiting" }));
  const lines = renderWatchBlock(tallyOf(now, [...waiting, indexing("busy", 4)]), now, { columns: 80, rows: 8 });
  expect(lines).toHaveLength(6);
  expect(lines[1]).toMatch(/^busy /);
  expect(lines.at(-1)).toBe("… and 4,997 more documents");
  expect(renderWatchBlock(tallyOf(now, [indexing("busy", 4)]), now, { columns: 80, rows: 1 })).toHaveLength(2);
});

test("what the service says can neither move the cursor nor make a line wider than the terminal", () => {
  const odd = { ...indexing("\u001b[2J漢字漢字漢字", 4), indexing_status: `\u202e${"進".repeat(40)}` };
  const tally = tallyOf(now, [odd]);
  const [, line = ""] = renderWatchBlock(tally, now, { columns: 60, rows: 24 });
  for (const sign of ["\u001b", "\u202e"]) expect(line).not.toContain(sign);
  const columns = [...line].reduce((sum, sign) => sum + (/\p{Script=Han}/u.test(sign) ? 2 : 1), 0);
  expect(columns).toBeLessThan(60);
  for (const document of tally.documents.values()) {
    expect(renderDocumentLine(document, now)).toBe(terminalText(renderDocumentLine(document, now)));
  }
});

test("a line of its own for a document that reached another stage", () => {
  const tally = tallyOf(now, [indexing("d", 2, 1_200)], [indexing("d", 4, 1_200)]);
  const [document] = tally.documents.values();
  expect(document && renderDocumentLine(document, now)).toBe(
    "document d: indexing · 4 of 1,200 chunks, 0 % · 9 min 58 s left",
  );
});

test("from time to time: few documents one by one, many in one line, and so what is old or over", () => {
  const rows = ["a", "b", "c"].map((id) => indexing(id, 6));
  const tally = tallyOf(now, [...rows, completed()]);
  expect(renderWatchLines(tally, now)).toEqual(
    rows.map(({ document_id }) => `document ${document_id}: indexing · 6 of 8 chunks, 75 %`),
  );
  expect(renderWatchLines(tally, now + 90_000)).toEqual(["1 of 4 documents completed · last read 1 min 30 s ago"]);
  expect(renderWatchLines(tallyOf(now, [...rows, indexing("d", 1)]), now)).toEqual(["0 of 4 documents completed"]);
  expect(renderWatchLines(tallyOf(now, [completed()]), now)).toEqual(["1 of 1 document completed"]);
  expect(renderWatchLines(emptyWatchTally(), now)).toEqual(["reading the status of the batches"]);
});
