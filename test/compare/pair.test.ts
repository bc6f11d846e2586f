import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { matchRows } from "../../src/compare/pair.js";
import { sqlText } from "../../src/duckdb/sql.js";
import { inFull } from "../rounds.js";
import { contentOf, type Match, type MatchRow, matchDumps } from "./match-model.js";

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(":memory:", { threads: "2" });
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const value = (text: string | number | null | undefined) =>
  text == null ? "NULL" : typeof text === "number" ? String(text) : sqlText(text);

async function fill(table: string, rows: readonly MatchRow[]): Promise<void> {
  await connection.run(`CREATE OR REPLACE TABLE ${table} (n INTEGER, dataset_id VARCHAR, document_id VARCHAR,
    segment_id VARCHAR, id VARCHAR, position BIGINT, fingerprint VARCHAR)`);
  const tuples = rows.map(
    (row, n) =>
      `(${[n, "d", row.document_id, row.segment_id, row.id, row.position, contentOf(row)].map(value).join()})`,
  );
  if (tuples.length > 0) await connection.run(`INSERT INTO ${table} VALUES ${tuples.join(", ")}`);
}

interface Sides {
  readonly before: { readonly chunks: readonly MatchRow[]; readonly children: readonly MatchRow[] };
  readonly after: Sides["before"];
}

/** Matches the rows of both sides with the real SQL. */
async function matched({ before, after }: Sides) {
  await fill("old_chunks", before.chunks);
  await fill("new_chunks", after.chunks);
  await fill("old_children", before.children);
  await fill("new_children", after.children);
  await connection.run(matchRows({ before: "old_chunks", after: "new_chunks", into: "m" }));
  const children = { before: "old_children", after: "new_children", into: "mk", parents: "m" };
  await connection.run(matchRows(children));
  const rows = async (table: string) => (await connection.runAndReadAll(`FROM ${table}`)).getRowObjectsJson();
  return { chunks: await rows("m"), children: await rows("mk") };
}

type Found = Awaited<ReturnType<typeof matched>>["chunks"];

const textOf = (parts: readonly unknown[]) => JSON.stringify(parts.map((part) => (part == null ? null : String(part))));
const expected = (matches: readonly Match[]) =>
  matches
    .map(({ before, after, by }) => {
      const same = before && after && contentOf(before) === contentOf(after);
      const document = (before ?? after)?.document_id;
      return textOf([document, before?.id, after?.id, by, same, before?.position, after?.position]);
    })
    .sort();
const actual = (rows: Found) =>
  rows
    .map((row) =>
      textOf([
        row.document_id,
        row.before_id,
        row.after_id,
        row.matched_by,
        row.same_content,
        row.before_position,
        row.after_position,
      ]),
    )
    .sort();

const chunk = (
  id: string,
  position: number | null,
  content: string | null,
  answer: string | null = null,
): MatchRow => ({
  document_id: "a",
  id,
  position,
  content,
  answer,
});
const noChildren = (before: readonly MatchRow[], after: readonly MatchRow[]): Sides => ({
  before: { chunks: before, children: [] },
  after: { chunks: after, children: [] },
});
const pairs = (rows: Found) => rows.map((row) => `${row.before_id} → ${row.after_id}: ${row.matched_by}`).sort();

describe("chunks", () => {
  test("an id is stronger than a content, a content than a position", async () => {
    const before = [chunk("1", 1, "one"), chunk("2", 2, "two"), chunk("3", 3, "three"), chunk("4", 4, "four")];
    const after = [chunk("x", 1, "two"), chunk("1", 2, "new"), chunk("y", 3, "other"), chunk("z", 5, "five")];
    expect(pairs((await matched(noChildren(before, after))).chunks)).toEqual([
      "1 → 1: id",
      "2 → x: content",
      "3 → y: position",
      "4 → null: null",
      "null → z: null",
    ]);
  });

  test("equal contents are a multiset in order of position", async () => {
    const before = [chunk("1", 5, "same"), chunk("2", 1, "same"), chunk("3", 3, "same")];
    const after = [chunk("x", 1, "same"), chunk("y", 9, "same")];
    expect(pairs((await matched(noChildren(before, after))).chunks)).toEqual([
      "1 → null: null",
      "2 → x: content",
      "3 → y: content",
    ]);
  });

  test("equal contents at equal positions belong together, so that an edited one keeps its place", async () => {
    const before = [chunk("1", 1, "edited"), chunk("2", 2, "same"), chunk("3", 3, "same")];
    const after = [chunk("x", 1, "same"), chunk("y", 2, "same"), chunk("z", 3, "same")];
    expect(pairs((await matched(noChildren(before, after))).chunks)).toEqual([
      "1 → x: position",
      "2 → y: content",
      "3 → z: content",
    ]);
  });

  test("content and answer are kept apart, and null is no empty string", async () => {
    const before = [chunk("1", 1, "ab", "c"), chunk("2", 2, "", null), chunk("3", 3, "1:-", null)];
    const after = [chunk("x", 11, "a", "bc"), chunk("y", 12, "", ""), chunk("z", 13, null, "1:-")];
    const { chunks } = await matched(noChildren(before, after));
    expect(chunks).toHaveLength(6);
    expect(chunks.every((row) => row.matched_by === null)).toBe(true);
  });

  test("an id that occurs twice does not multiply rows", async () => {
    const before = [chunk("1", 1, "one"), chunk("1", 2, "two"), chunk("1", 2, "two")];
    const after = [chunk("1", 1, "one"), chunk("1", 2, "two"), chunk("2", 7, "two")];
    expect(pairs((await matched(noChildren(before, after))).chunks)).toEqual([
      "1 → 1: id",
      "1 → 1: id",
      "1 → 2: content",
    ]);
  });
});

test("children are matched below matched parents only; one whose parent is no chunk keeps it", async () => {
  const child = (segment_id: string, id: string, content: string) => ({ ...chunk(id, 1, content), segment_id });
  const { children } = await matched({
    before: {
      chunks: [chunk("p", 1, "same"), chunk("q", 2, "gone")],
      children: [child("p", "1", "c"), child("q", "2", "d"), child("lost", "3", "e")],
    },
    after: {
      chunks: [chunk("r", 4, "same"), chunk("s", 5, "new")],
      children: [child("r", "x", "c"), child("s", "y", "d"), child("lost", "3", "f")],
    },
  });
  expect(children.map((row) => `${row.before_segment_id} → ${row.after_segment_id}`).sort()).toEqual([
    "lost → lost",
    "null → s",
    "p → r",
    "q → null",
  ]);
  expect(pairs(children)).toEqual(["1 → x: content", "2 → null: null", "3 → 3: id", "null → y: null"]);
});

test("the tables that were used on the way are gone", async () => {
  await matched(noChildren([chunk("1", 1, "one")], []));
  const tables = await connection.runAndReadAll("SHOW TABLES");
  expect(tables.getColumns()[0]).toEqual(["m", "mk", "new_children", "new_chunks", "old_children", "old_chunks"]);
});

const few = (...texts: string[]) => fc.constantFrom(...texts);
const position = fc.option(fc.integer({ min: 1, max: 5 }), { freq: 9 });
const text = fc.option(few("", "a", "b", "é", "1:a-"), { freq: 9 });
const ids = few("1", "2", "3", "4", "5", "6");
const unique = <T extends MatchRow>(row: fc.Arbitrary<T>) =>
  fc.uniqueArray(row, { maxLength: 9, selector: (each) => `${each.segment_id} ${each.id}` });
/** Children always have a parent chunk here; the rule does not cover others. */
const documentOf = (document_id: string) =>
  fc
    .record({
      chunks: unique(
        fc.record({
          document_id: fc.constant(document_id),
          id: ids,
          position,
          content: text,
          answer: fc.option(few("", "a")),
        }),
      ),
      children: unique(
        fc.record({ document_id: fc.constant(document_id), segment_id: ids, id: ids, position, content: text }),
      ),
    })
    .map(({ chunks, children }) => ({
      chunks,
      children: children.filter(({ segment_id }) => chunks.some(({ id }) => id === segment_id)),
    }));
/** Many documents, which one statement matches together, because it takes nearly the same time for any number. */
const side = fc.tuple(...[..."abcdefghijklmnop"].map(documentOf)).map((documents) => ({
  chunks: documents.flatMap(({ chunks }) => chunks),
  children: documents.flatMap(({ children }) => children),
}));

test.runIf(inFull)(
  "DuckDB pairs whatever the rule in plain words pairs",
  async () => {
    await fc.assert(
      fc.asyncProperty(side, side, async (before, after) => {
        const found = await matched({ before, after });
        const rule = matchDumps(before, after);
        expect(actual(found.chunks)).toEqual(expected(rule.chunks));
        expect(actual(found.children)).toEqual(expected(rule.children));
      }),
      { numRuns: 10, endOnFailure: true },
    );
  },
  120_000,
);

test("a restored row is paired with the row that a restore wrote for it, also if two restores did", async () => {
  const count = 1_000;
  for (const [table, id] of [
    ["old_chunks", "old"],
    ["new_chunks", "new"],
  ])
    await connection.run(`CREATE OR REPLACE TABLE ${table} AS SELECT 'd' AS dataset_id, 'x' AS document_id,
      '${id}' || range AS id, range AS position, 'same' AS fingerprint FROM range(${count})`);
  await connection.run(`CREATE OR REPLACE TABLE written AS SELECT 'old' || n % ${count} AS old_id, 'new' || (${count - 1} - n % ${count}) AS id
    FROM range(2 * ${count}) t(n)`);
  await connection.run(matchRows({ before: "old_chunks", after: "new_chunks", into: "m", restored: "written" }));
  const found = await connection.runAndReadAll(
    "SELECT count(*)::INTEGER FROM m WHERE (before_id, after_id) IN (SELECT (old_id, id) FROM written)",
  );
  expect(found.getRowsJson()).toEqual([[count]]);
});
