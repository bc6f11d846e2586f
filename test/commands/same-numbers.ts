import { join } from "node:path";
import { expect } from "vitest";
import { runHere } from "../cli/run-here.js";
import { testFolder } from "../run/job-for.js";

/** The counts of losses, which every command reports. */
export interface Numbers {
  readonly lost: number;
  readonly manual_edits: number;
}

/** Runs a command and returns the JSON that it prints. */
export async function jsonOf(args: readonly string[]) {
  const { code, stdout, stderr } = await runHere([...args, "--json"]);
  expect([0, 4], `${args[0]}: ${stderr}`).toContain(code);
  return JSON.parse(stdout);
}

const numbersOf = ({ lost, manual_edits }: Numbers): Numbers => ({ lost, manual_edits });
const sumOf = (parts: readonly Numbers[]): Numbers => ({
  lost: parts.reduce((sum, { lost }) => sum + lost, 0),
  manual_edits: parts.reduce((sum, { manual_edits }) => sum + manual_edits, 0),
});

/**
 * Expects that diff, report and restore count the same losses between two runs, in total and per document; returns the
 * counts.
 */
export async function expectSameNumbers(older: string, newer: string): Promise<Numbers> {
  const diff = await jsonOf(["diff", older, newer]);
  const file = join(await testFolder(), "report.html");
  const report = await jsonOf(["report", newer, "--against", older, "--file", file, "--no-verify"]);
  const restore = await jsonOf(["restore", older, "--against", newer]);
  const numbers = numbersOf(diff);
  expect(numbersOf(report), "report").toEqual(numbers);
  expect(numbersOf(restore), "restore").toEqual(numbers);
  expect(sumOf([diff.counts.chunks, diff.counts.child_chunks]), "counts").toEqual(numbers);
  const lost = diff.changes.filter((change: { lost: boolean }) => change.lost);
  const manual = lost.filter(({ manual_edit }: { manual_edit: string | null }) => manual_edit !== null);
  expect({ lost: lost.length, manual_edits: manual.length }, "changes").toEqual(numbers);
  const rowsOf = (documents: readonly (Numbers & { document_id: string })[]) =>
    documents.filter((each) => each.lost > 0).map((each) => ({ document: each.document_id, ...numbersOf(each) }));
  const diffed = diff.documents.map((each: { document_id: string; chunks: Numbers; child_chunks: Numbers }) => ({
    ...each,
    ...sumOf([each.chunks, each.child_chunks]),
  }));
  expect(rowsOf(restore.plan.documents), "documents").toEqual(rowsOf(diffed));
  expect(JSON.stringify([diff, report, restore])).not.toMatch(/by_hand|hand_made/);
  return numbers;
}
