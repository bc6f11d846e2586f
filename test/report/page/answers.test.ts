import { expect, test } from "vitest";
import { type Answers, answersOf } from "../../../src/report/page/answers.js";
import { html } from "../../../src/report/page/html.js";
import type { ReportFacts } from "../../../src/report/report-facts.js";
import { emptyFacts, sampleFacts } from "./sample-facts.js";

/** The short answer and the text without its tags. */
function answer(question: keyof Answers, facts: ReportFacts): readonly [tone: string, short: string, text: string] {
  const { tone, short, text } = answersOf(facts)[question];
  return [tone, short, html`${text}`.toString().replace(/<[^>]*>/g, "")];
}

const sample = sampleFacts();
const empty = emptyFacts();

test("a partial dump says how many documents are not complete, and why", () => {
  expect(answer("complete", sample)).toEqual([
    "warn",
    "No, partial",
    "3 of 30 documents are not complete: 1 could not be read and 2 changed while they were read, or could not be proved. The other 27 were read whole. The job filters the chunks of 1 dataset: what the filter leaves out is not in the dump.",
  ]);
  const few = (complete: number, unstable: number, failed: number) =>
    answer("complete", {
      ...sample,
      verdict: { ...sample.verdict, documents: { complete, unstable, failed }, filtered_datasets: 0 },
    })[2];
  expect(few(1, 0, 1)).toBe("1 of 2 documents is not complete: 1 could not be read. The other one was read whole.");
  expect(few(0, 1, 0)).toBe("1 of 1 document is not complete: 1 changed while it was read, or could not be proved.");
  const verdict = { ...sample.verdict, documents: { complete: 30, unstable: 0, failed: 0 }, filtered_datasets: 0 };
  expect(answer("complete", { ...sample, verdict })[2]).toBe(
    "Every document that was read is complete, but the run could not read everything that it was asked for.",
  );
});

test("a complete dump says what it holds, and that its files are sound where they were read again", () => {
  const documents = { complete: 30, unstable: 0, failed: 0 };
  const verdict = {
    ...sample.verdict,
    status: "complete",
    documents,
    filtered_datasets: 0,
    warning_count: 0,
    reads_children: true,
  } as const;
  const held = "Everything that the job names was read whole: 30 documents, 6,462 chunks and 2,948 child chunks.";
  expect(answer("complete", { ...sample, verdict })).toEqual([
    "good",
    "Yes, complete",
    `${held} Reading its files again found no difference.`,
  ]);
  expect(answer("complete", { ...sample, verdict: { ...verdict, verification: undefined } })[2]).toBe(held);
  const without = answer("complete", { ...sample, verdict: { ...verdict, reads_children: false } });
  expect(without[2]).toContain("child chunks. The job leaves child chunks out. Reading");
  expect(answer("complete", { ...sample, verdict: { ...verdict, warning_count: 2 } })[2]).toMatch(
    / The run has 2 warnings\.$/,
  );
});

test("a run that found nothing is complete, but deserves a look", () => {
  expect(answer("complete", empty).slice(0, 2)).toEqual(["warn", "Yes, but empty"]);
});

test("files that are not as the run wrote them outweigh everything", () => {
  const verification = { status: "differences", finding_count: 2, findings: [], files: 6, notes: [] } as const;
  expect(answer("complete", { ...empty, verdict: { ...empty.verdict, verification } }).slice(0, 3)).toEqual([
    "bad",
    "No, files differ",
    "Reading the files again found 2 differences. Do not rely on this dump.",
  ]);
});

test("what was lost: the rows, those made by hand, and what a command brings back", () => {
  expect(answer("lost", sample)).toEqual([
    "bad",
    "7 lost",
    "The re-index of 6 documents took 7 rows, 5 of them made by hand. One command brings 4 back.",
  ]);
  const single = { ...sample.lost, lost: 1, lost_by_hand: 1, reindexed: 1 } as NonNullable<ReportFacts["lost"]>;
  expect(answer("lost", { ...sample, lost: single })[2]).toMatch(/ took 1 row, made by hand\./);
  expect(answer("lost", empty)).toEqual([
    "quiet",
    "Not compared",
    "No older run was compared. Add --against and an older run to kbdump report to see it.",
  ]);
  expect(answersOf(empty).lost.section).toBeNull();
  const { lost } = sample;
  if (!lost) throw new Error("the sample compares two runs");
  const nothing = { ...lost, lost: 0, lost_by_hand: 0, warnings: [], warning_count: 0 };
  expect(answer("lost", { ...sample, lost: nothing })).toEqual([
    "good",
    "Nothing",
    "No row was lost since the run of 2026-11-13.",
  ]);
  expect(answer("lost", { ...sample, lost: { ...nothing, reindexed: 0 } })[2]).toMatch(/^No document was re-indexed/);
  for (const limit of [{ not_compared: 1 }, { gone: 2 }, { warning_count: 1 }]) {
    const limited = answer("lost", { ...sample, lost: { ...nothing, ...limit } });
    expect(limited).toEqual([
      "warn",
      "Nothing known",
      expect.stringMatching(/^As far as the runs can be compared, no row/),
    ]);
  }
  expect(answer("lost", { ...sample, lost: { ...lost, not_compared: 1 } })[2]).toContain(
    "what was lost there is not known",
  );
});

test("what is stuck: the documents by their state, and the one that has stood still for longest", () => {
  expect(answer("stuck", sample)).toEqual([
    "bad",
    "1 failed, 4 open",
    "1 document ended in an error: 故障排除手册.docx. 4 documents not indexed to the end: 1 indexing, 1 splitting, 1 paused, 1 waiting. 安装指南（第三版）.pdf has not moved for 9 h 0 min.",
  ]);
  const failing = { ...sample.indexing, states: [{ status: "error", documents: 5 }] };
  expect(answer("stuck", { ...sample, indexing: failing })[2]).toBe("5 documents ended in an error."); // one of them has a row
  const working = [{ status: "indexing", documents: 2 }];
  expect(answer("stuck", { ...sample, indexing: { ...sample.indexing, states: working } }).slice(0, 2)).toEqual([
    "warn",
    "2 not indexed",
  ]);
  const { indexing } = sample;
  const rows = indexing.documents.rows.toReversed();
  const turned = { ...indexing, documents: { ...indexing.documents, rows } };
  expect(answer("stuck", { ...sample, indexing: turned })).toEqual(answer("stuck", sample));
  const states = [{ status: "completed", documents: 14 }];
  expect(answer("stuck", { ...sample, indexing: { ...indexing, states } }).slice(0, 2)).toEqual([
    "warn",
    "3 not available",
  ]);
  const none = { ...indexing, states, listed: empty.indexing.listed };
  expect(answer("stuck", { ...sample, indexing: none })).toEqual([
    "warn",
    "245 chunks",
    "245 chunks are not completed.",
  ]);
  const one = [{ status: "error", chunks: 1, documents: 1 }];
  expect(answer("stuck", { ...sample, indexing: { ...none, chunks: one } })[2]).toBe("1 chunk is not completed.");
  expect(answer("stuck", { ...sample, indexing: { ...none, chunks: [] } }).slice(0, 2)).toEqual(["good", "Nothing"]);
  expect(answer("stuck", { ...sample, indexing: { ...none, chunks: [], unread_batches: 1 } })).toEqual([
    "warn",
    "Not all is known",
    expect.stringMatching(/^No reading came of 1 batch that the job names/),
  ]);
  expect(answer("stuck", empty)[2]).toContain("The job names no batches");
});

test("what is never found: the share of the enabled chunks, and the document with the most", () => {
  const { hits } = sample;
  const found = (changed: Partial<typeof hits>) => answer("never", { ...sample, hits: { ...hits, ...changed } });
  expect(found({ enabled: 100, never: 31, hits: 500 })).toEqual([
    "quiet",
    "31 % never found",
    "31 chunks of 100 were never retrieved. Spare parts.csv has the most of them.",
  ]);
  expect(found({ enabled: 100, never: 100, hits: 0, has_history: true })[2]).toMatch(/^No chunk was ever retrieved/);
  expect(found({ enabled: 100, never: 100, hits: 0, has_history: false })[2]).toContain("just re-indexed");
  expect(found({ enabled: 2, never: 1, hits: 5 })[2]).toMatch(/^1 chunk of 2 was never/);
  expect(found({ enabled: 100, never: 0, hits: 500 }).slice(0, 2)).toEqual(["good", "Nothing"]);
  expect(answer("never", empty).slice(0, 2)).toEqual(["quiet", "Nothing known"]);
});

test("after a re-index, chunks that were retrieved before it are not among those that are never found", () => {
  const found = (never: number) =>
    answer("never", { ...sample, hits: { ...sample.hits, enabled: 100, never, hits: 0, has_history: true } });
  expect(found(0).slice(0, 2)).toEqual(["good", "Nothing"]);
  expect(found(31)[1]).toBe("31 % never found");
});
