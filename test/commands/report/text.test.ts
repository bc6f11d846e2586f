import { expect, test } from "vitest";
import { pageFor } from "../../../src/cli/text.js";
import { renderReportResult } from "../../../src/commands/report.js";
import type { ReportResult } from "../../../src/report/report-result.js";

const run = { folder: "/out/nightly/runs/x", job: "nightly", run_id: "x" };
const result: ReportResult = {
  ...{
    path: "/out/nightly/\u001b[31mreport.html",
    bytes: 61_245,
    status: "complete",
    verified: "sound",
    findings: 0,
    run,
  },
  ...{ documents: 1, incomplete_documents: 0, chunks: 5_012, child_chunks: 1, warnings: [] },
  ...{ against: { ...run, run_id: "w" }, lost: 1_200, manual_edits: 0, not_compared: 0 },
};
const linesOf = (more: Partial<ReportResult>) =>
  renderReportResult({ ...result, ...more }, pageFor({}, {})).split("\n");

test("the verdict, the result of verify, the losses, and how to open the page, safe for a terminal", () => {
  expect(linesOf({})).toEqual([
    "complete: 1 document, 5,012 chunks, 1 child chunk",
    "sound: every file was read again",
    "since w: 1,200 rows lost, none of them with manual edits",
    "",
    "  /out/nightly/ [31mreport.html  61.2 kB",
    "",
    "Open it in a browser: file:///out/nightly/%1B%5B31mreport.html",
  ]);
});

test.each([
  [{ lost: 3, manual_edits: 2 }, "since w: 3 rows lost, 2 of them with manual edits"],
  [{ lost: 2, manual_edits: 2 }, "since w: 2 rows lost, all with manual edits"],
  [{ lost: 1, manual_edits: 0 }, "since w: 1 row lost, without manual edits"],
  [{ lost: 0 }, "nothing was lost by a re-index since w"],
  [
    { lost: 0, not_compared: 1 },
    "no loss is known by a re-index since w; 1 document could not be compared, or is gone",
  ],
  [
    { lost: 1, not_compared: 2 },
    "since w: 1 row lost, without manual edits; 2 documents could not be compared, or are gone",
  ],
])("%j is said in one line", (more, line) => {
  expect(linesOf(more)[2]).toBe(line);
});

test("a partial run, a dump that is not sound, and parts that were not requested", () => {
  const partial = { status: "partial", documents: 3, incomplete_documents: 2, against: null, lost: null } as const;
  expect(linesOf({ ...partial, verified: "differences", findings: 1 }).slice(0, 3)).toEqual([
    "partial: 2 documents of 3 not complete, 5,012 chunks, 1 child chunk",
    "not sound: verify has 1 finding",
    "",
  ]);
  expect(linesOf({ ...partial, verified: null, findings: null })[1]).toBe("not verified");
});
