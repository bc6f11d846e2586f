import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Table } from "../../../src/report/page/table.js";
import type { Row } from "../../../src/rows/row.js";
import { tablesOf } from "../../compare/diff/dumps.js";
import { JobDatabase } from "../../database/job-database.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import { inFull, rounds } from "../../rounds.js";
import { child, chunk, details, document, info, rowOf, settings } from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";
import { reported } from "./reported.js";

const dumpOf = async (tables: Partial<Tables>, options: WriteOptions = {}) =>
  writeDump(await plainFolder(), { ...noRows, ...tables }, options);

/** Some columns of a table, with numbers as numbers. */
function cells({ rows }: Table, ...names: readonly string[]): readonly unknown[] {
  const value = (cell: unknown) => (typeof cell === "string" && /^-?\d+$/.test(cell) ? Number(cell) : cell);
  return rows.map((row) => names.map((name) => value(row[name])));
}

const [first, second, third] = ["20250306T010000000Z", "20250306T020000000Z", "20250306T030000000Z"];

describe("chunks that are never found", () => {
  const on = (document: string, id: string, hit_count: number | null, more: Row = {}) =>
    chunk(document, id, { enabled: true, hit_count, ...more });

  it.runIf(inFull)("are enabled and have a count of 0; the longest come first", async () => {
    const chunks = [
      on("a", "a1", 0, { word_count: 5 }),
      on("a", "a2", 3, { word_count: 6 }),
      on("a", "a3", null),
      on("a", "a4", 0, { enabled: false }),
      on("b", "b1", 0, { word_count: 9, position: null }),
      on("b", "b2", 0, { word_count: 5 }),
      on("c", "c1", 8),
    ];
    const facts = await reported(await dumpOf(tablesOf(chunks)));
    expect(cells(facts.table("Retrieval"), "document_id", "enabled", "never", "hits")).toEqual([
      ["b", 2, 2, 0],
      ["a", 2, 1, 3],
      ["c", 1, 0, 8],
    ]);
    expect(cells(facts.table("Chunks that were never"), "id", "characters")).toEqual([
      ["b1", 9],
      ["a1", 5],
      ["b2", 5],
    ]);
    expect(facts.short("hits")).toBe("60 % of 5 enabled chunks");
    expect(facts.lead("hits")).toMatch(
      /^3 chunks of 5 enabled chunks \(of 7 chunks; the others are disabled, or have no count\) were never retrieved\. b has the most of them: 2\./,
    );
  });

  it.runIf(inFull)("are counted in 20 parts of their document, disabled ones in between included", async () => {
    const given = fc.array(
      fc.record({
        position: fc.option(fc.nat({ max: 9 })),
        hit_count: fc.option(fc.nat({ max: 2 })),
        enabled: fc.option(fc.boolean()),
      }),
      { minLength: 1, maxLength: 50 },
    );
    await fc.assert(
      fc.asyncProperty(given, async (rows) => {
        const facts = await reported(await dumpOf(tablesOf(rows.map((row, at) => chunk("a", `c${at}`, row)))));
        const last = Number.POSITIVE_INFINITY;
        const sorted = rows.toSorted((a, b) => (a.position ?? last) - (b.position ?? last) || 0);
        const known = ({ enabled, hit_count }: (typeof rows)[number]) => enabled === true && hit_count !== null;
        const shares = Array.from({ length: 20 }, (_, place) => {
          const here = sorted.filter((_, at) => Math.floor((at * 20) / sorted.length) === place).filter(known);
          return here.length === 0 ? null : here.filter(({ hit_count }) => hit_count === 0).length / here.length;
        });
        const [found] = facts.table("Retrieval").rows;
        const places = shares.map((_, place) => found?.[`place_${place}`] ?? null);
        expect(places).toEqual(sorted.some(known) ? shares : shares.map(() => null));
      }),
      { numRuns: rounds(5, 40) },
    );
  });

  it.runIf(inFull)("were not hit before a re-index, either; runs that follow change nothing", async () => {
    const made = await JobDatabase.create();
    const now = tablesOf([on("a", "n1", 0, { content: "one" }), on("a", "n2", 0, { content: "two" })]);
    await made.run(first, tablesOf([on("a", "a1", 3, { content: "one" }), on("a", "a2", 0, { content: "two" })]));
    await made.run(second, now);
    const folder = await dumpOf(now, { manifest: { run_id: second } });
    expect((await reported(folder)).short("hits")).toBe("All of it");
    const idsOf = async () =>
      cells((await reported(folder, { database: made.path })).table("Chunks that were never"), "id");
    expect(await idsOf()).toEqual([["n2"]]);
    await made.run(third, tablesOf([on("a", "m1", 4, { content: "one" }), on("a", "n2", 9, { content: "two" })]));
    expect(await idsOf()).toEqual([["n2"]]);
  });
});

describe("flaws", () => {
  it.runIf(inFull)(
    "are contents that several chunks share, those with the most waste first; blank ones do not count",
    async () => {
      const chunks = [
        chunk("a", "a1", { content: "same", answer: "" }),
        chunk("a", "a2", { content: "same", answer: null, position: 2 }),
        chunk("a", "a3", { content: " \n\t" }),
        chunk("a", "a4", { content: " \n\t" }),
        chunk("a", "a5", { content: null }),
        chunk("b", "b1", { content: "same", answer: "other" }),
        chunk("b", "b2", { content: "a longer text", position: 7, word_count: 13 }),
        chunk("b", "b3", { content: "a longer text", position: 8, word_count: 13 }),
      ];
      const facts = await reported(await dumpOf(tablesOf(chunks)));
      expect(
        cells(facts.table("Texts"), "beginning", "position", "copies", "documents", "answers", "characters"),
      ).toEqual([
        ["a longer text", 7, 2, 1, 1, 13],
        ["same", 1, 3, 2, 2, 8],
      ]);
      expect(facts.lead("duplicates")).toBe("3 chunks repeat the text of another one; none is disabled.");
    },
  );

  it("are child chunks without a parent in their own document, and chunks with an error or disabled", async () => {
    const chunks = [
      chunk("a", "a1", { status: "error" }),
      chunk("a", "a2", { status: "completed", error: "no model" }),
      chunk("a", "a3", { status: "indexing", enabled: true }),
      chunk("a", "a4", { enabled: false, disabled_at: "2025-03-06T01:00:00Z", disabled_by: "ann" }),
      chunk("b", "b1", { enabled: false, disabled_at: "2025-03-07T01:00:00Z" }),
    ];
    const children = [child("a", "a1", "k1"), child("a", "b1", "k2"), child("b", "gone", "k3", { dataset_id: "e" })];
    const facts = await reported(await dumpOf(tablesOf(chunks, children)));
    expect(cells(facts.table("Child chunks without"), "id", "segment_id")).toEqual([
      ["k2", "b1"],
      ["k3", "gone"],
    ]);
    expect(cells(facts.table("Chunks with an error"), "id", "status", "error")).toEqual([
      ["a1", "error", null],
      ["a2", "completed", "no model"],
    ]);
    expect(cells(facts.table("Disabled"), "id", "disabled_by")).toEqual([
      ["b1", null],
      ["a4", "ann"],
    ]);
    expect(facts.lead("errors")).toBe("The dump has 2 chunks with an error and 2 child chunks without a parent.");
  });

  it.runIf(inFull)("a table has its first rows, and the number of all", async () => {
    const chunks = Array.from({ length: 305 }, (_, at) => chunk("a", `a${at}`, { enabled: false }));
    const { rows, total } = (await reported(await dumpOf(tablesOf(chunks)))).table("Disabled");
    expect([rows.length, rows.at(-1)?.id, total]).toEqual([300, "a299", 305]);
  });
});

describe("freshness", () => {
  /** How a run read each document, by id. Complete and unstable documents have two chunks. */
  type Found = Readonly<Record<string, "complete" | "unstable" | "failed">>;
  const found = (states: Found): Tables => ({
    ...tablesOf(
      Object.entries(states).flatMap(([id, status]) =>
        status === "failed" ? [] : [1, 2].map((position) => chunk(id, `${id}${position}`, { position })),
      ),
    ),
    documents: Object.entries(states).map(([id, status]) => document(id, status === "failed" ? 0 : 2, 0, { status })),
  });

  it.runIf(inFull)("tells documents that only an earlier run read; later runs change nothing of it", async () => {
    const made = await JobDatabase.create();
    await made.run(first, found({ good: "complete", stale: "complete", never: "failed", gone: "complete" }));
    const now = found({ good: "complete", stale: "failed", never: "failed", moving: "unstable" });
    await made.run(second, now);
    const folder = await dumpOf(now, { manifest: { run_id: second } });
    const states = async (database?: string) =>
      cells((await reported(folder, { database })).table("Freshness"), "document_id", "state");
    const expected = [
      ["never", "never read"],
      ["moving", "unstable"],
      ["stale", "stale"],
      ["good", "fresh"],
      ["gone", "not in this run"],
    ];
    expect(await states(made.path)).toEqual(expected);
    await made.run(third, found({ good: "complete", stale: "complete", never: "complete", gone: "complete" }));
    expect(await states(made.path)).toEqual(expected);
    expect(await states()).toEqual([
      ["stale", "never read"],
      ["never", "never read"],
      ["moving", "unstable"],
      ["good", "fresh"],
    ]);
  });

  it.runIf(inFull)(
    "is that of the newest chunk or child chunk; those that changed longest ago come first",
    async () => {
      const at = (day: number) => ({ created_at: "2025-01-01T00:00:00Z", updated_at: `2025-01-${day}T00:00:00Z` });
      const chunks = [chunk("a", "1", at(20)), chunk("a", "2", at(10)), chunk("b", "3", at(30))];
      const tables = tablesOf(chunks, [child("a", "1", "k", at(25))], [document("empty", 0, 0)]);
      const facts = await reported(await dumpOf(tables));
      expect(cells(facts.table("Freshness"), "document_id", "changed_at", "chunks")).toEqual([
        ["a", Date.UTC(2025, 0, 25), 2],
        ["b", Date.UTC(2025, 0, 30), 1],
        ["empty", null, 0],
      ]);
      expect(facts.lead("freshness")).toMatch(
        /^This run read all 3 documents whole\. a has not changed for the longest/,
      );
    },
  );
});

test.runIf(inFull)("lengths cover all chunks and each document; the unusual ones are named", async () => {
  const lengths = [5, 100, 110, 120, 1_000];
  const chunks = lengths.map((word_count, at) => chunk(at < 2 ? "a" : "b", `c${at}`, { word_count, tokens: 2 }));
  const facts = await reported(
    await dumpOf(tablesOf([...chunks, chunk("b", "n", { word_count: null, content: "four" })])),
  );
  const names = ["document_id", "chunks", "shortest", "median", "longest", "all_characters", "tokens"];
  expect(cells(facts.table("Lengths"), ...names)).toEqual([
    ["b", 4, 4, 115, 1000, 1234, 6],
    ["a", 2, 5, 52.5, 100, 105, 4],
  ]);
  expect(facts.lead("lengths")).toBe(
    "Half of 6 chunks have at most 105 characters. The shortest has 4 (in b): so few characters hardly answer a question. The longest has 1,000 (in b), 10 times as many as the median: so long a chunk mixes topics, and its end may not be found.",
  );
});

test.runIf(inFull)(
  "every run up to this one has its changes by kind, as the view of the database has them",
  async () => {
    const made = await JobDatabase.create();
    const before = [1, 2, 3, 4].map((at) => chunk("a", `c${at}`, { position: at, enabled: true }));
    await made.run(first, tablesOf(before, [child("a", "c1", "k1")]));
    const after = [
      chunk("a", "c1", { content: "other", position: 1, enabled: true }),
      chunk("a", "c2", { position: 9, enabled: true }),
      chunk("a", "c3", { position: 3, enabled: false }),
      chunk("a", "c5", { position: 5, enabled: true }),
    ];
    await made.run(second, tablesOf(after, [child("a", "c1", "k2", { content: "else" })]));
    await made.run(third, tablesOf(after));
    const folder = await dumpOf(tablesOf(after), { manifest: { run_id: second } });
    const facts = await reported(folder, { database: made.path });
    const kinds = ["added", "removed", "text changed", "moved", "other fields", "child chunks"];
    expect(cells(facts.table("Changes"), "run_id", ...kinds)).toEqual([
      [second, 1, 1, 1, 1, 1, 1],
      [first, null, null, null, null, null, null],
    ]);
    expect(facts.lead("changes")).toMatch(/^The history knows 2 runs up to this one\. This run found 6 changes\./);
    expect((await reported(folder)).lead("changes")).toMatch(/^There is no history to show\. .*no database of the job/);
  },
);

describe("what is stuck", () => {
  const time = (minute: number) => `2025-03-06T13:${String(minute).padStart(2, "0")}:00Z`;
  const reading = (minute: number, document_id: string, indexing_status: string | null, more: Row = {}) =>
    rowOf("indexing_status", {
      ...{ captured_at: time(minute), dataset_id: "d", batch: "1", document_id, indexing_status },
      ...more,
    });
  const run = { started_at: "2025-03-06T13:10:00.000Z", finished_at: "2025-03-06T13:20:00.000Z" };
  const manifest = { run_id: second, ...run };
  const documents = ["done", "slow", "stuck"].map((id) => document(id, 0, 0));

  it("comes from the newest reading; the document that has not moved for the longest time is named", async () => {
    const indexing_status = [
      reading(11, "done", "indexing"),
      reading(11, "stuck", "indexing", { completed_segments: 3, processing_started_at: time(5) }),
      reading(11, "slow", "indexing", { completed_segments: 3, processing_started_at: time(2) }),
      reading(13, "done", "completed", { completed_at: time(12), processing_started_at: time(1) }),
      reading(13, "stuck", "indexing", { completed_segments: 3, processing_started_at: time(5) }),
      reading(13, "slow", "error", { completed_segments: 4, processing_started_at: time(2), error: "no model" }),
      reading(13, "odd", "dreaming"),
    ];
    const folder = await dumpOf({ indexing_status, documents }, { manifest });
    const facts = await reported(folder);
    expect(cells(facts.table("Documents that are not indexed"), "document_id", "state", "unmoved", "error")).toEqual([
      ["slow", "error", null, "no model"],
      ["stuck", "indexing", 120_000, null],
      ["odd", "dreaming", null, null],
    ]);
    expect(facts.short("stuck")).toBe("1 failed, 2 not indexed");
    expect(facts.lead("stuck")).toBe(
      "Of 4 documents, 3 are not indexed to the end: 1 dreaming, 1 error, 1 indexing. stuck has not moved for 2 min 0 s. The newest reading is of 2025-03-06 13:13 UTC.",
    );
    const bare = await reported(folder, { content: false });
    expect(bare.lead("stuck")).toContain("1 other, 1 error, 1 indexing");
    expect(bare.lead("stuck")).not.toContain("dreaming");
  });

  it("that ended in an error is retried in the service: no command helps, unless another document still waits", async () => {
    const failed = reading(13, "slow", "error", { error: "no model" });
    const ended = await reported(await dumpOf({ indexing_status: [failed], documents }, { manifest }));
    expect(ended.next("stuck")).toEqual({ text: expect.stringMatching(/retry the document in the service\.$/) });
    const both = [failed, reading(13, "stuck", "indexing")];
    const waiting = await reported(await dumpOf({ indexing_status: both, documents }, { manifest }));
    expect(waiting.next("stuck")?.command).toMatch(/^kbdump status \S+ --watch/);
  });

  it.runIf(inFull)("counts what was watched after the run, up to the next run", async () => {
    const made = await JobDatabase.create();
    const now = { documents, document_info: [info("done"), info("slow", { indexing_status: "indexing" })] };
    await made.run(
      second,
      { ...now, indexing_status: [reading(21, "slow", "indexing"), reading(25, "slow", "completed")] },
      { run },
    );
    const folder = await dumpOf(now, { manifest });
    expect((await reported(folder)).short("stuck")).toBe("1 not indexed");
    expect((await reported(folder, { database: made.path })).short("stuck")).toBe("Nothing stuck");
    const later = { started_at: "2025-03-06T13:30:00.000Z", finished_at: "2025-03-06T13:40:00.000Z" };
    await made.run(third, { ...now, indexing_status: [reading(31, "slow", "error")] }, { run: later });
    expect((await reported(folder, { database: made.path })).short("stuck")).toBe("Nothing stuck");
  });

  it.runIf(inFull)("is nothing where every listed document is available, disabled or archived", async () => {
    const shown = (id: string, display_status: string) => info(id, { indexing_status: "completed", display_status });
    const listed = [shown("a", "available"), shown("b", "disabled"), shown("c", "archived")];
    const facts = await reported(await dumpOf({ document_info: listed }, { manifest }));
    expect([facts.short("stuck"), facts.lead("stuck")]).toEqual([
      "Nothing stuck",
      "Every document is indexed (3 documents). Every chunk is completed.",
    ]);
    const queued = await reported(await dumpOf({ document_info: [...listed, shown("e", "queuing")] }, { manifest }));
    expect(queued.lead("stuck")).toContain("Of 4 documents, 1 is not indexed to the end: 1 queuing.");
    const waiting = await reported(await dumpOf(tablesOf([chunk("a", "a1", { status: "waiting" })]), { manifest }));
    expect([waiting.short("stuck"), waiting.lead("stuck")]).toEqual(["1 chunk", "1 chunk is not completed."]);
  });
});

describe("the verdict", () => {
  const states = (...all: readonly string[]) =>
    all.map((status, at) => document(`d${at}`, 0, 0, { status, error: status === "complete" ? null : "HTTP 500" }));

  it("says how many documents are not complete, and why", async () => {
    const documents = states("complete", "failed", "unstable");
    const facts = await reported(await dumpOf({ documents }, { manifest: { status: "partial" } }));
    expect([facts.short("verdict"), facts.lead("verdict")]).toEqual([
      "No, partial",
      "2 of 3 documents are not complete: 1 could not be read and 1 changed while it was read.",
    ]);
    expect(cells(facts.table("Documents that are not complete"), "document_id", "status", "error")).toEqual([
      ["d1", "failed", "HTTP 500"],
      ["d2", "unstable", "HTTP 500"],
    ]);
  });

  it.runIf(inFull)("says what a complete dump contains, and when it is empty", async () => {
    const facts = await reported(await dumpOf(tablesOf([chunk("a", "a1")])));
    expect(facts.short("verdict")).toBe("Yes, complete");
    expect(facts.lead("verdict")).toBe(
      "Everything that the job names was read: 1 document, 1 chunk and 0 child chunks.",
    );
    expect((await reported(await dumpOf({}))).short("verdict")).toBe("Yes, but empty");
  });

  it.runIf(inFull)("has the names that any list or detail tells", async () => {
    const tables = {
      ...tablesOf([chunk("a", "a1"), chunk("b", "b1")]),
      datasets: [settings("d", { name: "Shelf" })],
      document_info: [info("b", { dataset_name: null, name: "B" })],
      document_details: [details("a", { name: "A" }), details("b", { name: "not this" })],
    };
    const { rows } = (await reported(await dumpOf(tables))).table("Freshness");
    expect(rows.map(({ dataset_name, document_name }) => [dataset_name, document_name])).toEqual([
      ["Shelf", "A"],
      ["Shelf", "B"],
    ]);
  });
});
