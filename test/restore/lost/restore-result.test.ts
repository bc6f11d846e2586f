import { expect, test } from "vitest";
import type { DocumentPlan } from "../../../src/compare/lost/restore-plan.js";
import { type Applied, type RestoreResult, statusOf } from "../../../src/restore/lost/restore-options.js";
import { exitCodeOf } from "../../../src/restore/result.js";
import { appliedOf, documentOf, idOf, listedOf, manual, restoreOf } from "./made-result.js";

const lost = documentOf({ restores: [restoreOf(1)] });
const found = { document_id: manual, level: "chunk", id: idOf(1), position: 1, reason: "it is there twice" } as const;
const appliedRows = (...rows: Applied["rows"]): Applied => ({ rows, writes: rows.length });
const written = appliedRows(appliedOf(1), appliedOf(2, { outcome: "there" }));

interface Case {
  readonly when: string;
  readonly documents: readonly DocumentPlan[];
  readonly applied?: Applied;
  readonly differences?: RestoreResult["differences"];
  readonly status: RestoreResult["status"];
  readonly code: number;
}

const cases: readonly Case[] = [
  { when: "no document has a sign", documents: [], status: "nothing to restore", code: 0 },
  { when: "everything stands there", documents: [documentOf({ present: 7 })], status: "nothing to restore", code: 0 },
  { when: "there is something to write", documents: [lost], status: "planned", code: 0 },
  {
    when: "there is only something to choose",
    documents: [documentOf({ listed: [listedOf(1)] })],
    status: "planned",
    code: 0,
  },
  {
    when: "only automatic rows are lost",
    documents: [documentOf({ lost: 12 })],
    status: "nothing to restore",
    code: 0,
  },
  {
    when: "a text is found inside a chunk",
    documents: [documentOf({ listed: [listedOf(1, { why: "found inside" })] })],
    status: "planned",
    code: 0,
  },
  {
    when: "a plan refuses a document",
    documents: [documentOf({ refused: "it is archived" })],
    status: "planned",
    code: 0,
  },
  {
    when: "all is written and proved",
    documents: [lost],
    applied: written,
    differences: [],
    status: "proved",
    code: 0,
  },
  {
    when: "all is written, but rows that stand inside a chunk, and those that the owner left out",
    documents: [lost, documentOf({ listed: [listedOf(1, { why: "found inside" }), listedOf(2, { why: "left out" })] })],
    applied: written,
    differences: [],
    status: "proved",
    code: 0,
  },
  {
    when: "an earlier process wrote all of it, so that nothing is lost any more",
    documents: [],
    applied: written,
    differences: [],
    status: "proved",
    code: 0,
  },
  {
    when: "an earlier process wrote all of it, and the proof found something",
    documents: [],
    applied: { rows: [], writes: 2 },
    differences: [found],
    status: "different",
    code: 4,
  },
  {
    when: "an earlier process wrote all of it, and its rows are not known",
    documents: [],
    applied: { rows: [], writes: 2 },
    differences: [],
    status: "proved",
    code: 0,
  },
  {
    when: "nothing was to be written, as the owner left it out",
    documents: [documentOf({ listed: [listedOf(1, { why: "left out" })] })],
    applied: appliedRows(),
    status: "planned",
    code: 0,
  },
  ...(["changed meanwhile", "failed", "still enabled"] as const).map((outcome) => ({
    when: `a row is ${outcome}`,
    documents: [lost],
    applied: appliedRows(appliedOf(1), appliedOf(2, { outcome })),
    differences: [],
    status: "partial" as const,
    code: 3,
  })),
  ...(["needs your decision", "cannot be restored"] as const).map((why) => ({
    when: `a row is left alone: ${why}`,
    documents: [documentOf({ listed: [listedOf(1, { why })] })],
    applied: appliedRows(),
    status: "partial" as const,
    code: 3,
  })),
  {
    when: "a document is refused",
    documents: [lost, documentOf({ refused: "it is archived" })],
    applied: written,
    differences: [],
    status: "partial",
    code: 3,
  },
  {
    when: "nothing could prove it",
    documents: [lost],
    applied: written,
    differences: null,
    status: "partial",
    code: 3,
  },
  {
    when: "the proof found something, whatever else is missing",
    documents: [documentOf({ refused: "it is archived" })],
    applied: appliedRows(appliedOf(1, { outcome: "failed" })),
    differences: [found],
    status: "different",
    code: 4,
  },
];

test.each(cases)("$when: $status, exit $code", ({ documents, applied = null, differences = null, status, code }) => {
  expect(statusOf({ plan: { documents }, applied, differences })).toBe(status);
  expect(exitCodeOf({ status })).toBe(code);
});
