import { expect, it } from "vitest";
import type { Dump } from "../../../src/dump/open-dump.js";
import { JobDatabase } from "../../database/job-database.js";
import { inFull } from "../../rounds.js";
import * as sound from "../../verify/sound-tables.js";
import { child, chunk, dumpOf, lostOf, tablesOf } from "./lost-dumps.js";

const off = { enabled: false };
const rows = {
  untouched: [chunk("untouched", "u1", 1, "a")],
  edited: [chunk("edited", "e1", 1, "a"), chunk("edited", "e2", 2, "b", { updated_by: "ann" })],
  disabled: [chunk("disabled", "d1", 1, "a", { ...off, disabled_by: "ann" })],
  failed: [chunk("failed", "f1", 1, "a", { ...off, status: "error" })],
  enabledAgain: [chunk("enabledAgain", "n1", 1, "a", { disabled_by: "ann" })],
  children: [chunk("children", "p1", 1, "a")],
  slow: [chunk("slow", "s1", 1, "a"), chunk("slow", "s2", 2, "a", { created_at: "2025-03-06T05:00:00Z" })],
  late: [chunk("late", "l1", 1, "a"), chunk("late", "l2", 2, "a", { created_at: "2025-03-06T05:00:00Z" })],
  ill: [chunk("ill", "i1", 1, "a", { updated_by: "ann" })],
  off: [chunk("off", "o1", 1, "a", { ...off, disabled_by: "ann" })],
  history: [chunk("history", "h1", 1, "a", { keywords: ["mine"] })],
};
const bare = tablesOf(
  Object.values(rows).flat(),
  [child("children", "p1", "k1", "x", "customized"), child("untouched", "u1", "k2", "x")],
  { ill: { status: "unstable" } },
);
/**
 * One document's indexing ended before its last chunk was created, another one's at the same time. The third document is
 * disabled.
 */
const tables = {
  ...bare,
  datasets: [sound.settings("d")],
  document_details: [
    sound.details("slow", { completed_at: "2025-03-06T05:00:00Z" }),
    sound.details("late", { completed_at: "2025-03-06T04:59:59Z" }),
    sound.details("off", { enabled: false }),
  ],
};
const run = "20250306T060000000Z";

/** Compares the dump with itself; returns the documents of the plan and their rows with manual edits. */
async function worked(dump: Dump, documents: readonly string[] = []) {
  const { plan, warnings } = await lostOf(dump, dump, { documents });
  expect(warnings).toEqual([]);
  return plan.documents.map(({ document_id, present, refused }) => [document_id, refused ?? present]);
}

const ill = ["ill", "The older run did not read all of it: it is unstable."];

it.runIf(inFull)("finds the documents that people worked on, in the order of the run", async () => {
  const people = [
    ["edited", 1],
    ["disabled", 1],
    ["children", 1],
  ];
  expect(await worked(await dumpOf(tables, run))).toEqual([...people, ["late", 1], ill]);
  expect(await worked(await dumpOf(bare, run))).toEqual([...people, ill, ["off", 1]]);
});

it.runIf(inFull)("also finds those that only the history has, as of that run", async () => {
  const database = await JobDatabase.create();
  await database.run("20250306T050000000Z", tablesOf([chunk("history", "h1", 1, "a", { keywords: ["machine"] })]));
  await database.run(run, tables);
  const later = rows.untouched.map((row) => ({ ...row, content: "edited later" }));
  await database.run("20250306T070000000Z", tablesOf(later));
  const found = await worked(await dumpOf(tables, run, { database: database.path }));
  expect(found.map(([id]) => id)).toEqual(["edited", "disabled", "children", "late", "ill", "history"]);
});

it("believes that most chunks were added if others are older, and if these were also indexed after the document", async () => {
  const [before, after] = ["2025-03-06T04:00:00Z", "2025-03-06T05:00:00Z"];
  const late = (document: string, from: number, completed_at: string | null) =>
    [from, from + 1].map((at) => chunk(document, `${document}${at}`, at, "a", { created_at: after, completed_at }));
  const first = (document: string) =>
    chunk(document, `${document}1`, 1, "a", { created_at: before, completed_at: before });
  const documents = ["added", "skewed", "unknown", "all"];
  const dump = await dumpOf(
    {
      ...tablesOf([
        ...[first("added"), ...late("added", 2, after)],
        ...[first("skewed"), ...late("skewed", 2, before)],
        ...[first("unknown"), ...late("unknown", 2, null)],
        ...late("all", 1, after),
      ]),
      datasets: [sound.settings("d")],
      document_details: documents.map((id) => sound.details(id, { completed_at: "2025-03-06T04:59:59Z" })),
    },
    run,
  );
  expect(await worked(dump, documents)).toEqual([
    ["added", 2],
    ["skewed", 0],
    ["unknown", 0],
    ["all", 0],
  ]);
});

it("includes only the documents that the user names", async () => {
  expect(await worked(await dumpOf(tables, run), ["failed", "edited"])).toEqual([
    ["edited", 1],
    ["failed", 0],
  ]);
});

it("names every document that the run does not have", async () => {
  const dump = await dumpOf(tables, run);
  await expect(worked(dump, ["nobody", "edited", "\u001b[2J"])).rejects.toThrow(
    `${dump.folder} does not have:\n  document nobody\n  document \\u001b[2J`,
  );
});
