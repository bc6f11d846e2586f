import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comparedFields } from "../../../src/compare/facts-sql.js";
import type { Row } from "../../../src/rows/row.js";
import { oddFolder } from "../../dump/formats/folder.js";
import { inFull } from "../../rounds.js";
import { editManifest } from "../../verify/forge.js";
import { nastyDump } from "../../verify/nasty-dump.js";
import { child, chunk, details, document } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";
import { described, diffed, tablesOf, twoDumps } from "./dumps.js";

const at = (position: number, more: Row = {}): Row => ({ position, ...more });

/** The counts that are not 0. */
const counted = (counts: object) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));

/** Returns the changes between two versions of one document. */
async function between(
  old: readonly Row[],
  fresh: readonly Row[],
  children: readonly (readonly Row[])[] = [[], []],
  document_details: readonly Row[] = [],
) {
  const before = { ...tablesOf(old, children[0]), document_details };
  const { diff, changes } = await diffed(await twoDumps(before, tablesOf(fresh, children[1])));
  return { diff, counts: counted(diff.counts.chunks), described: changes.map(described) };
}

describe("chunks", () => {
  const old = ["1", "2", "3", "4", "5"].map((id, index) => chunk("a", id, at(index + 1)));

  test.runIf(inFull)("the same rows are the same", async () => {
    expect(await between(old, old)).toMatchObject({
      diff: { status: "same" },
      counts: { unchanged: 5 },
      described: [],
    });
  });

  test.runIf(inFull)("added, removed, changed, moved and other fields are distinguished", async () => {
    const fresh = [
      chunk("a", "1", at(9)),
      chunk("a", "2", at(2, { content: "other" })),
      chunk("a", "3", at(3, { enabled: false, keywords: ["k"] })),
      chunk("a", "5", at(5)),
      chunk("a", "6", at(6)),
    ];
    const { diff, counts, described } = await between(old, fresh);
    expect(diff.status).toBe("different");
    expect(counts).toEqual({ added: 1, removed: 1, changed: 1, moved: 1, unchanged: 2, fields: 1, lost: 1 });
    expect(described).toEqual([
      "removed chunk 4 → null: lost",
      "moved chunk 1 → 1",
      "changed chunk 2 → 2",
      "fields chunk 3 → 3: enabled keywords",
      "added chunk null → 6",
    ]);
  });

  test.runIf(inFull)("a chunk that only shifts because of an earlier one keeps its place in the order", async () => {
    const three = (document: string) => ["1", "2", "3"].map((id, index) => chunk(document, id, at(index + 2)));
    const moved = (document: string, positions: readonly number[]) =>
      three(document).map((row, index) => ({ ...row, position: positions[index] }));
    const shifted = [chunk("a", "0", at(1)), ...moved("a", [3, 4, 5])];
    const swapped = moved("b", [3, 2, 4]);
    const { diff, counts } = await between([...three("a"), ...three("b")], [...shifted, ...swapped]);
    expect(counts).toEqual({ added: 1, moved: 5, unchanged: 1 });
    expect(diff.documents).toMatchObject([
      { document_id: "a", state: "different", reordered: false },
      { document_id: "b", state: "different", reordered: true },
    ]);
  });

  test.runIf(inFull)("an answer is content; none and an empty one are the same, also across a re-index", async () => {
    const [one, two, three] = [chunk("a", "1", { answer: "x" }), chunk("a", "2", { answer: "" }), chunk("a", "3")];
    const fresh = [{ ...one, answer: "y" }, { ...two, answer: null }, three];
    expect((await between([one, two, three], fresh)).described).toEqual(["changed chunk 1 → 1"]);
    const again = fresh.map((row) => ({ ...row, id: `x${row.id}` }));
    expect((await between([two, three], again.slice(1))).diff).toMatchObject({ status: "same", lost: 0 });
  });

  test.runIf(inFull)(
    "times, hit counts, signatures, the order of keywords and empty lists are no difference",
    async () => {
      const link = `/files/f/file-preview?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${"a".repeat(43)}=tail`;
      const one = chunk("a", "1", {
        hit_count: 1,
        created_at: "2025-03-06T13:20:00Z",
        updated_by: null,
        indexing_at: null,
        word_count: 3,
        keywords: ["a", "b"],
        attachments: [{ url: link }],
        sign_content: link,
        summary: null,
        extra: { hit_count: "1", more: 1 },
      });
      const again = {
        ...one,
        hit_count: 2,
        created_at: "2025-03-06T13:20:01Z",
        updated_by: "u",
        indexing_at: "2025-03-06T13:20:01.500Z",
        word_count: 4,
        keywords: ["b", "a"],
        attachments: [{ url: "/files/f/file-previewtail" }],
        sign_content: "",
        summary: "",
        extra: { hit_count: "2", more: 1 },
      };
      const [old, other] = [
        { ...one, document_id: "b", id: "2" },
        { ...again, document_id: "b", id: "2", extra: { more: 2 }, attachments: [] },
      ];
      const { diff, described } = await between([one, old], [again, other]);
      expect(diff.documents.map(({ state }) => state)).toEqual(["same", "different"]);
      expect(described).toEqual(["fields chunk 2 → 2: attachments extra"]);
    },
  );

  test.runIf(inFull)("an id that occurs twice counts exactly twice", async () => {
    const twice = (id: string) => [chunk(id, "1", at(1)), chunk(id, "1", at(1)), chunk(id, "2", at(2))];
    const changed = twice("b").map((row) => ({ ...row, content: "other" }));
    const [old, fresh] = [tablesOf([...twice("a"), ...twice("b")]), tablesOf([...twice("a"), ...changed])];
    const { diff, changes } = await diffed(await twoDumps(old, fresh), { text: true });
    expect(counted(diff.counts.chunks)).toEqual({ changed: 3, unchanged: 3 });
    expect(changes).toHaveLength(3);
  });
});

describe("a re-index", () => {
  const auto = { created_at: "2025-03-06T13:20:00Z" };
  const indexed = [details("a", { completed_at: "2025-03-06T13:20:05Z" })];
  const old = [
    chunk("a", "1", at(1, auto)),
    chunk("a", "2", at(2, { ...auto, updated_by: "u", content: "edited" })),
    chunk("a", "3", at(3, { ...auto, content: "same" })),
    chunk("a", "4", at(4, { ...auto, content: "same" })),
    chunk("a", "5", at(5, auto)),
    chunk("a", "9", at(9, { created_at: "2025-04-01T00:00:00Z" })),
  ];
  const fresh = [
    chunk("a", "x1", at(1, { content: "text of 1" })),
    chunk("a", "x2", at(2, { content: "text of 2" })),
    chunk("a", "x3", at(3, { content: "same" })),
    chunk("a", "x4", at(4, { content: "same" })),
  ];

  test.runIf(inFull)("only new ids are not a difference", async () => {
    const again = old.map((row) => ({
      ...row,
      id: `x${row.id}`,
      index_node_id: "n",
      created_at: "2025-05-01T00:00:00Z",
    }));
    const { diff, described } = await between(old, again);
    expect(diff).toMatchObject({ status: "same", documents: [{ state: "same", reindexed: true }] });
    expect(described).toEqual([]);
  });

  test.runIf(inFull)("lost chunks come first, and among them those with manual edits", async () => {
    const { diff, described, counts } = await between(old, fresh, undefined, indexed);
    expect(described).toEqual([
      "changed chunk 2 → x2: lost edited",
      "removed chunk 9 → null: lost added",
      "removed chunk 5 → null: lost",
    ]);
    expect(counts).toEqual({ removed: 2, changed: 1, unchanged: 3, lost: 3, manual_edits: 2 });
    expect(diff).toMatchObject({ lost: 3, manual_edits: 2 });
    expect(diff.documents).toMatchObject([{ state: "different", reindexed: true }]);
    expect(diff.counts.documents).toMatchObject({ different: 1, reindexed: 1 });
  });

  test.runIf(inFull)(
    "a chunk can be lost while others keep their ids; only the end of the indexing shows that it was added",
    async () => {
      const { diff, described } = await between(old, [...fresh, chunk("a", "5", at(5, auto))]);
      expect(described).toEqual(["changed chunk 2 → x2: lost edited", "removed chunk 9 → null: lost"]);
      expect(diff).toMatchObject({ lost: 2, manual_edits: 1, documents: [{ reindexed: false }] });
    },
  );

  test.runIf(inFull)(
    "manual keywords and a manual disabled state are lost although the text is still there; automatic ones are not",
    async () => {
      const off = { enabled: false, disabled_by: "ann" };
      const rows = [chunk("a", "1", at(1, off)), chunk("a", "2", at(2, { enabled: false })), chunk("a", "3", at(3))];
      const again = rows.map((row) => ({
        ...row,
        id: `x${row.id}`,
        enabled: true,
        disabled_by: null,
        keywords: ["k"],
      }));
      const { diff, described } = await between(rows, again);
      expect(described).toEqual([
        "fields chunk 1 → x1: lost disabled enabled keywords",
        "fields chunk 2 → x2: enabled keywords",
        "fields chunk 3 → x3: enabled keywords",
      ]);
      expect(diff).toMatchObject({ lost: 1, manual_edits: 1 });
    },
  );

  test.runIf(inFull)("if a text occurs once instead of twice, one is lost", async () => {
    const twice = [chunk("a", "1", at(1, { content: "same" })), chunk("a", "2", at(2, { content: "same" }))];
    const { diff } = await between(twice, [chunk("a", "x", at(1, { content: "same" }))]);
    expect(diff).toMatchObject({ lost: 1, manual_edits: 0 });
  });

  test.runIf(inFull)("rows of a document that only the old run has do not count as lost", async () => {
    const gone = old.map((row) => ({ ...row, document_id: "gone" }));
    const { diff } = await between([...old, ...gone], fresh);
    expect(diff).toMatchObject({ lost: 3, documents: [{ state: "different" }, { state: "removed" }] });
  });
});

describe("child chunks", () => {
  test.runIf(inFull)("are matched below matched parents; customized ones that a re-index lost come first", async () => {
    const parents = [chunk("a", "p", at(1)), chunk("a", "q", at(2))];
    const kids = [
      child("a", "p", "1", { content: "one", type: "automatic" }),
      child("a", "p", "2", { content: "two", position: 2, type: "customized" }),
      child("a", "q", "3", { content: "three", type: "automatic" }),
    ];
    const newParents = [chunk("a", "r", at(1, { content: "text of p" }))];
    const newKids = [child("a", "r", "x", { content: "one", type: "automatic" })];
    const { diff, described } = await between(parents, newParents, [kids, newKids]);
    expect(described).toEqual([
      "removed child_chunk 2 → null: lost customized",
      "removed chunk q → null: lost",
      "removed child_chunk 3 → null: lost",
    ]);
    expect(counted(diff.counts.child_chunks)).toEqual({ removed: 2, unchanged: 1, lost: 2, manual_edits: 1 });
  });

  test.runIf(inFull)(
    "a parent is lost with its customized children, without a manual edit of the parent itself",
    async () => {
      const kids = [child("a", "1", "k", { type: "customized" })];
      const { described } = await between(
        [chunk("a", "1"), chunk("a", "2", at(2))],
        [chunk("a", "y", { content: "text of 2" })],
        [kids, []],
      );
      expect(described).toEqual([
        "removed child_chunk k → null: lost customized",
        "removed chunk 1 → null: lost",
        "moved chunk 2 → y",
      ]);
    },
  );

  test.runIf(inFull)("that auto did not look for in one of the runs are said to look removed, or added", async () => {
    const parents = [chunk("a", "1"), chunk("b", "2")];
    const folders = await twoDumps(tablesOf(parents, [child("a", "1", "k")]), tablesOf(parents));
    const lists = (document_id: string, asked: number, empty: number) => {
      const dataset_id = String(parents[0]?.dataset_id);
      const auto = { embedding: 0, reason: "", auto_asks: 0, auto_misses: 0 };
      return { dataset_id, document_id, asked, embedded: 0, skipped: 1 - asked, empty, ...auto };
    };
    const listed = (folder: string, ...child_lists: object[]) =>
      editManifest(folder, (manifest) => Object.assign(manifest, { child_lists }));
    await listed(folders[0], lists("a", 1, 0), lists("b", 1, 1));
    await listed(folders[1], lists("a", 0, 0), lists("b", 0, 0));
    const warning = (text: string, looks: string) => `the ${text} run found child chunks: these appear as ${looks}`;
    const skipped = "run skipped child lists (child_chunks: auto) of 1 document in which the";
    expect((await diffed(folders)).diff.warnings).toEqual([warning(`new ${skipped} old`, "removed")]);
    const [old, fresh] = folders;
    expect((await diffed([fresh, old])).diff.warnings).toEqual([warning(`old ${skipped} new`, "added")]);
  });

  test.runIf(inFull)("are not compared when one of the runs did not read them", async () => {
    const parents = [chunk("a", "1")];
    const folders = await twoDumps(tablesOf(parents, [child("a", "1", "k")]), tablesOf(parents));
    await editManifest(folders[1], ({ options }) => Object.assign(Object(options), { child_chunks: "none" }));
    const { diff, changes } = await diffed(folders);
    expect(diff).toMatchObject({
      status: "same",
      warnings: ["only the old run read child chunks: they were not compared"],
    });
    expect(changes).toEqual([]);
  });
});

describe("documents", () => {
  const one = tablesOf([chunk("a", "1"), chunk("b", "2"), chunk("b", "3", at(2))]);

  test.runIf(inFull)("only in one run: its chunks are added or removed", async () => {
    const [old, fresh] = await twoDumps(one, tablesOf([chunk("a", "1")]));
    const removed = await diffed([old, fresh]);
    expect(removed.diff.documents.map(({ state }) => state)).toEqual(["same", "removed"]);
    expect(counted(removed.diff.counts.chunks)).toEqual({ removed: 2, unchanged: 1 });
    const added = await diffed([fresh, old]);
    expect(added.diff.documents.map(({ state }) => state)).toEqual(["same", "added"]);
    expect(added.changes.map(described)).toEqual(["added chunk null → 2", "added chunk null → 3"]);
  });

  test.runIf(inFull)("only in one run, and without a chunk: different", async () => {
    const empty = await diffed(await twoDumps(tablesOf([]), tablesOf([], [], [document("e", 0, 0)])));
    expect(empty.diff).toMatchObject({ status: "different", documents: [{ state: "added" }] });
  });

  test.runIf(inFull).each(["failed", "unstable"])(
    "%s in one run: not compared, and not everything removed",
    async (status) => {
      const rows = status === "failed" ? [] : [chunk("b", "9")];
      const bad = document("b", rows.length, 0, { status, total: 2, error: "it says 500" });
      const tables = { ...tablesOf([chunk("a", "1")], [], [bad]), chunks: [chunk("a", "1"), ...rows] };
      const { diff, changes } = await diffed(await twoDumps(one, tables));
      expect(changes).toEqual([]);
      expect(diff).toMatchObject({ status: "different", counts: { documents: { same: 1, not_compared: 1 } } });
      expect(diff.documents[1]?.reason).toBe(
        status === "failed"
          ? "it could not be read in the new run (it says 500)"
          : "it changed while it was read in the new run",
      );
    },
  );

  test.runIf(inFull)("failed in both runs: nothing can be said, which is no difference", async () => {
    const bad = tablesOf([], [], [document("b", 0, 0, { status: "failed", total: null })]);
    const { diff } = await diffed(await twoDumps(bad, bad));
    expect(diff).toMatchObject({
      status: "same",
      documents: [{ state: "not_compared", reason: expect.stringMatching(/old.*; .*new/) }],
    });
  });

  test.runIf(inFull)("a doubtful comparison causes a warning", async () => {
    const folders = await twoDumps(one, one);
    await editManifest(folders[0], (manifest) => {
      Object.assign(manifest, {
        job: "other",
        run_id: "20990306T132000000Z",
        service: { base_url: "https://x.org/v1" },
      });
      Object.assign(Object(manifest.options), { datasets: [{ id: "d", status: ["completed"], keyword: null }] });
    });
    expect((await diffed(folders)).diff.warnings).toEqual([
      "OLD is the newer run: 20990306T132000000Z comes after 20250306T132000000Z",
      "these are runs of different jobs: other and test",
      "these are dumps of different services: https://x.org/v1 and https://kb.example.com/v1",
      "the runs used different filters (status, keyword): chunks that only one of them matched appear as added or removed",
    ]);
    const { diff } = await diffed([folders[0], folders[0]]);
    expect(diff).toMatchObject({ status: "same", warnings: ["OLD and NEW are the same run folder"] });
  });
});

describe("formats", () => {
  const formats = ["jsonl", "csv", "parquet"] as const;
  const pairs = [
    ["jsonl", "csv"],
    ["parquet", "jsonl"],
  ] as const;
  let made: string;

  /** All tests share one dump per format, because they only read it. */
  beforeAll(async () => {
    made = await mkdtemp(join(tmpdir(), "kbdump-diff-"));
    for (const format of formats) await writeDump(join(made, format), nastyDump, { formats: [format] });
    await writeDump(join(made, "safe"), nastyDump, { formats: ["csv"], csvSafe: true });
  });
  afterAll(() => rm(made, { recursive: true, force: true }));
  const dumpIn = (name: (typeof formats)[number] | "safe") => join(made, name, "stage");

  test.runIf(inFull).each(pairs)("%s and %s of the same rows are the same, whatever they hold", async (old, fresh) => {
    const { diff, changes } = await diffed([dumpIn(old), dumpIn(fresh)]);
    expect([diff.old.format, diff.new.format]).toEqual([old, fresh]);
    expect(changes.map(described)).toEqual([]);
    expect(diff.status).toBe("same");
  });

  test.runIf(inFull)("csv_safe: apostrophes before formulas are passed over", async () => {
    const { diff, changes } = await diffed([dumpIn("safe"), dumpIn("jsonl")]);
    expect(changes.map(described)).toEqual([]);
    expect(diff).toMatchObject({ status: "same", warnings: [expect.stringContaining("csv_safe")] });
  });

  test.runIf(inFull)("a path may look like a pattern", async () => {
    const odd = [join(await oddFolder(), "run"), join(await oddFolder(), "run")] as const;
    await cp(dumpIn("csv"), odd[0], { recursive: true });
    await cp(dumpIn("parquet"), odd[1], { recursive: true });
    expect((await diffed(odd)).diff.status).toBe("same");
    expect(dirname(odd[0])).toContain("[a-z]");
  });
});

test.runIf(inFull)(
  "the words of what changed, also in several scripts, with a byte order mark and with null",
  async () => {
    const old = [
      chunk("a", "1", at(1, { content: "one two three", answer: null })),
      chunk("a", "2", at(2, { content: "東京の天気は晴れ" })),
      chunk("a", "3", at(3, { content: "\ufeffone" })),
    ];
    const fresh = [
      chunk("a", "1", at(1, { content: "one 2 three", answer: "new" })),
      chunk("a", "2", at(2, { content: "京都の天気は晴れ" })),
      chunk("a", "3", at(3, { content: "one" })),
    ];
    const { changes } = await diffed(await twoDumps(tablesOf(old), tablesOf(fresh)), { text: true });
    const part = (kind: string, text: string) => ({ kind, text, cut: 0 });
    expect(changes.map(({ text }) => text)).toEqual([
      {
        content: [part("same", "one "), part("removed", "two"), part("added", "2"), part("same", " three")],
        answer: [part("added", "new")],
      },
      { content: [part("removed", "東京"), part("added", "京都"), part("same", "の天気は晴れ")] },
      { content: [part("removed", "\ufeff"), part("same", "one")] },
    ]);
  },
);

test("fields that differ are named in an order that scripts may rely on", () => {
  expect(comparedFields).toEqual({
    chunks: ["enabled", "status", "keywords", "error", "summary", "attachments", "extra"],
    child_chunks: ["type", "extra"],
  });
});
