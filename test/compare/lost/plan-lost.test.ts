import { expect, it } from "vitest";
import { documentKey } from "../../../src/rows/row.js";
import { JobDatabase, madeOnce } from "../../database/job-database.js";
import { inFull } from "../../rounds.js";
import { info } from "../../verify/sound-tables.js";
import { child, chunk, dumpOf, lostOf, tablesOf } from "./lost-dumps.js";
import { described } from "./rows.js";

const [before, old] = ["20250306T020000000Z", "20250306T030000000Z"];
const strange = "\ufeffedited\0 \"by hand\"\r\n漢字 😀 'quoted', =1+1";
const mine = chunk("a", "c3", 3, "mine", { created_at: "2025-03-06T02:30:00Z", keywords: ["\ufeffk", "l"] });

const indexed = tablesOf([chunk("a", "c1", 1, "same"), chunk("a", "c2", 2, "before")], [child("a", "c1", "k1", "x")]);
const worked = tablesOf(
  [chunk("a", "c1", 1, "same"), chunk("a", "c2", 2, strange, { updated_by: "ann" }), mine, chunk("b", "b1", 1, "b")],
  [child("a", "c1", "k1", "y", "customized")],
);
const afterReindex = tablesOf(
  [chunk("b", "b1", 1, "b"), chunk("a", "t2", 1, "before"), chunk("a", "t1", 2, "same")],
  [child("a", "t1", "u1", "x")],
);
/** The database of the job after the run before the edits and the run after them. */
const history = madeOnce(async () => {
  const database = await JobDatabase.create();
  await database.run(before, indexed, { run: { started_at: "2025-03-06T02:00:00.000Z" } });
  await database.run(old, worked, { run: { started_at: "2025-03-06T03:00:00.000Z" } });
  return database;
});

it.runIf(inFull).each(["jsonl", "csv", "parquet"] as const)(
  "plans from dumps in %s, with every text as it was sent",
  async (format) => {
    const listed = { ...afterReindex, document_info: [info("a", { name: "Handbook.md" })] };
    const [from, to] = [
      await dumpOf(worked, old, { formats: [format], database: (await history()).path }),
      await dumpOf(listed, "20250307T020000000Z", { formats: [format] }),
    ];
    const { plan, warnings } = await lostOf(from, to);
    expect(warnings).toEqual([]);
    expect(plan.documents.map(({ document_id, document_name }) => [document_id, document_name])).toEqual([
      ["a", "Handbook.md"],
    ]);
    expect(plan.documents.flatMap(described)).toEqual([
      "child k1 over u1: y [customized history]",
      `c2 over t2: ${strange} [updated_by history]`,
      "add c3: mine #\ufeffk #l [history]",
    ]);
  },
);

it.runIf(inFull)("without a history, lists what it cannot place, and says so", async () => {
  const [from, to] = [await dumpOf(worked, old), await dumpOf(afterReindex, "20250307T020000000Z")];
  const lines = ["child k1 below t1: y [customized]", "needs your decision: c2, add", "1 lost"];
  const { plan, warnings } = await lostOf(from, to);
  expect([plan.documents.flatMap(described), warnings]).toEqual([lines, []]);
  const broken = await lostOf(await dumpOf(worked, old, { database: import.meta.filename }), to);
  expect([broken.plan.documents.flatMap(described), broken.warnings]).toEqual([
    lines,
    [expect.stringMatching(/^the history in .+\/test\.duckdb was not used: it is not a DuckDB database/)],
  ]);
});

it.runIf(inFull)(
  "refuses a document that is incomplete or cannot be written to, and continues with the others",
  async () => {
    const edited = (id: string) => chunk(id, `${id}1`, 1, "edited", { updated_by: "ann" });
    const ids = ["half", "moves", "gone", "off", "busy", "fine"];
    const from = await dumpOf(tablesOf(ids.map(edited), [], { half: { status: "unstable", error: "it moved" } }), old);
    const now = ids.filter((id) => id !== "gone").map((id) => chunk(id, `${id}9`, 1, "other"));
    const to = await dumpOf(
      tablesOf(now, [], { moves: { status: "unstable", error: "it moved" } }),
      "20250307T020000000Z",
    );
    const refusals = new Map([
      [documentKey({ dataset_id: "d", document_id: "off" }), { reason: "It is archived.", isReadable: true }],
      [documentKey({ dataset_id: "d", document_id: "busy" }), { reason: "It is being indexed.", isReadable: false }],
    ]);
    const { plan } = await lostOf(from, to, { refusals });
    expect(plan.documents.map(({ document_id, refused }) => [document_id, refused])).toEqual([
      ["half", "The older run did not read all of it: it is unstable (it moved)."],
      ["moves", "Its current state could not be read: it is unstable (it moved)."],
      ["gone", "The newer run does not have it."],
      ["off", "It is archived."],
      ["busy", "It is being indexed."],
      ["fine", null],
    ]);
    expect(plan.documents.flatMap(described).filter((line) => !line.startsWith("refused"))).toEqual([
      'needs your decision: fine1, now "other", replace',
    ]);
  },
);

it.runIf(inFull)("restores the chosen rows, and says which of them are not lost", async () => {
  const [from, to] = [await dumpOf(worked, old), await dumpOf(afterReindex, "20250307T020000000Z")];
  const decisions = new Map(["c1", "c3", "\u001b[2J"].map((id) => [id, { restore: true }]));
  const { plan, warnings } = await lostOf(from, to, { decisions });
  expect(plan.documents.flatMap(described)).toEqual([
    "add c3: mine #\ufeffk #l [chosen]",
    "left out: k1, add",
    "needs your decision: c2, add",
    "1 lost",
  ]);
  expect(warnings).toEqual(["c1 and 1 more rows: not lost, so nothing is written"]);
});

it("refuses a dump as a whole that leaves out rows, or changes texts", async () => {
  const fine = await dumpOf(worked, old);
  for (const [options, reason] of [
    [
      { formats: ["csv"], csvSafe: true },
      "its texts are not exact: csv_safe changes them; a restore needs jsonl, parquet, or csv without csv_safe",
    ],
    [{ formats: [] }, "its run wrote no files; a restore needs jsonl, parquet, or csv without csv_safe"],
    [{ options: { child_chunks: "none" } }, "its run read no child chunks (child_chunks: none)"],
    [
      { options: { datasets: [{ id: "d", keyword: "x" }] } },
      "its run left out chunks: the job has a filter (status, keyword) for dataset d",
    ],
    [
      { options: { datasets: { id: "d", status: ["error"] } } },
      "its run left out chunks: the job has a filter (status, keyword) for dataset d",
    ],
  ] as const) {
    const ill = await dumpOf(worked, old, options);
    const message = `${ill.folder} cannot be used for a restore:\n  ${reason}`;
    await expect(lostOf(ill, fine)).rejects.toThrow(message);
    await expect(lostOf(fine, ill)).rejects.toThrow(message);
  }
  const both = await dumpOf(worked, old, {
    formats: ["csv", "jsonl"],
    csvSafe: true,
    options: { datasets: [{ id: "d", status: [] }] },
  });
  expect((await lostOf(both, fine)).plan.documents).toHaveLength(1);
});
