import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Listed } from "../../src/client/check-answer.js";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { type AnchoredPage, type AnchoredReading, readAnchored, settledAge } from "../../src/crawl/read-anchored.js";
import { SkipError } from "../../src/errors.js";
import { inFull } from "../rounds.js";

const size = 5;

type Edit = "append" | { readonly delete: number };

/** A list of chunks as in the service, edited just before some requests. */
class Moving {
  #rows: readonly Listed[];
  readonly #edits: readonly (readonly Edit[])[];
  #added: number;
  /** The ids in the list at the start and at each answer. */
  readonly states: string[][] = [];
  readonly asked: string[] = [];

  constructor(rows: readonly Listed[], edits: readonly (readonly Edit[])[] = []) {
    this.#rows = rows;
    this.#edits = edits;
    this.#added = rows.length;
  }

  append(): void {
    this.#rows = [...this.#rows, chunkAt(++this.#added)];
  }

  delete(position: number): void {
    this.#rows = this.#rows.filter((row) => row.position !== position);
  }

  #edit(): void {
    for (const edit of this.#edits[this.asked.length] ?? []) {
      if (edit === "append") this.append();
      else this.#rows = this.#rows.filter((_, at) => at !== edit.delete % this.#rows.length);
    }
    this.states.push(this.#rows.map(({ id }) => id));
  }

  readonly readPage = async (page: number) => {
    this.#edit();
    this.asked.push(`page ${page}`);
    const rows = this.#rows.slice(page * size - size, page * size);
    return { rows, total: this.#rows.length, docForm: null, answeredAt };
  };

  readonly readRow = async (rank: number) => {
    this.#edit();
    this.asked.push(`row ${rank}`);
    return { row: this.#rows[rank - 1], total: this.#rows.length };
  };
}

const answeredAt = 1_741_267_200_000;
const created_at = answeredAt / 1_000 - settledAge;
/** The order of the ids differs from the order of positions, as in the service. */
const chunkAt = (position: number): Listed => {
  return { id: `${position % 7} ${position}`, position, status: "completed", created_at };
};
const chunks = (count: number) => Array.from({ length: count }, (_, at) => chunkAt(at + 1));

async function read(list: Pick<AnchoredReading, "readPage" | "readRow">, pageSize = size) {
  const pages: AnchoredPage[] = [];
  const problems: string[] = [];
  const problem = (text: string) => void problems.push(text);
  for await (const page of readAnchored({
    readPage: list.readPage,
    readRow: list.readRow,
    pageSize,
    prefetch: new Prefetch(0),
    problem,
  }))
    pages.push(page);
  return { ids: pages.flatMap(({ rows }) => rows.map(({ id }) => id)), last: pages.at(-1), problems };
}

test.runIf(inFull)("whatever is added and deleted meanwhile, an anchored result is one state of the list", async () => {
  const edit = fc.oneof(fc.constant<Edit>("append"), fc.record({ delete: fc.nat({ max: 60 }) }));
  const script = fc.array(fc.oneof(fc.constant([]), fc.array(edit, { maxLength: 2 })), { maxLength: 16 });
  let [anchored, moved] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: size + 1, max: 40 }), script, async (count, edits) => {
      const list = new Moving(chunks(count), edits);
      const { ids, last, problems } = await read(list);
      if (problems.length > 0 || !last?.isAnchored) return void moved++;
      anchored++;
      expect(list.states).toContainEqual(ids);
      expect(last.total).toBe(ids.length);
    }),
    { numRuns: 2_000 },
  );
  expect(anchored).toBeGreaterThan(200);
  expect(moved).toBeGreaterThan(200);
});

test("a list that only grows is anchored, and only a last page that has filled up is read twice", async () => {
  const appends = fc.array(fc.array(fc.constant<Edit>("append"), { maxLength: 2 }), { maxLength: 16 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: size + 1, max: 40 }), appends, async (count, edits) => {
      const list = new Moving(chunks(count), edits);
      const { ids, last, problems } = await read(list);
      expect({ problems, isAnchored: last?.isAnchored }).toEqual({ problems: [], isAnchored: true });
      expect(list.states).toContainEqual(ids);
    }),
    { numRuns: 500 },
  );
});

test("a list of two pages needs one row", async () => {
  const list = new Moving(chunks(8));
  expect((await read(list)).last).toMatchObject({ isAnchored: true, isSettled: true });
  expect(list.asked).toEqual(["page 1", "page 2", "row 5"]);
});

test("if page 1 has fewer rows than asked for, two pages need two rows", async () => {
  const list = new Moving(chunks(8));
  expect((await read(list, size + 1)).last).toMatchObject({ isAnchored: true, isSettled: true });
  expect(list.asked).toEqual(["page 1", "page 2", "row 5", "row 6"]);
});

test("page 1, the last page, the others, two rows", async () => {
  const list = new Moving(chunks(18));
  expect((await read(list)).ids).toEqual(chunks(18).map(({ id }) => id));
  expect(list.asked).toEqual(["page 1", "page 4", "page 2", "page 3", "row 5", "row 16"]);
});

describe("lists that this is not made for", () => {
  const rows = chunks(12);
  const other = (at: number, differences: Partial<Listed>) =>
    rows.map((row, index) => (index === at ? { ...row, ...differences } : row));

  test.each<[string, readonly Listed[]]>([
    ["a chunk of page 1 that is being indexed", other(2, { status: "indexing" })],
    ["a chunk of the last page that is being indexed", other(11, { status: "waiting" })],
    ["no position on page 1", other(0, { position: undefined })],
    ["positions that fall on page 1", other(3, { position: 1 })],
    ["one position, and ids that fall", [{ ...chunkAt(1), id: "b" }, { ...chunkAt(1), id: "a" }, ...rows.slice(2)]],
    ["one page", chunks(5)],
    ["nothing", []],
  ])("%s: it is read in order", async (_, list) => {
    const { ids, last } = await read(new Moving(list));
    expect(ids).toEqual(list.map(({ id }) => id));
    expect(last?.isAnchored).toBe(false);
  });

  test.each<[string, readonly Listed[], RegExp]>([
    [
      "is being indexed",
      other(7, { status: "indexing" }),
      /is not indexed yet, so that they cannot be read from the end/,
    ],
    ["stands before the one before it", other(7, { position: 2 }), /does not come after the one before it/],
    ["has the position of one on the page before", other(5, { position: 5, id: "0" }), /does not come after/],
  ])("a chunk in the middle %s: that is reported", async (_, list, problem) => {
    expect((await read(new Moving(list))).problems).toEqual([expect.stringMatching(problem)]);
  });
});

test("a full last page is also an anchor, with its last row", async () => {
  const list = new Moving(chunks(15));
  expect((await read(list)).last).toMatchObject({ isAnchored: true, isSettled: true });
  expect(list.asked.slice(-3)).toEqual(["row 5", "row 11", "row 15"]);
});

test.each<[string, Partial<Listed>, number | undefined]>([
  ["a young row on the last page", { created_at: created_at + 1 }, answeredAt],
  ["a row without a time", { created_at: null }, answeredAt],
  ["no Date header", {}, undefined],
])("%s: the list is anchored, and not settled", async (_, differences, time) => {
  const list = new Moving(chunks(12).map((row, at) => (at === 10 ? { ...row, ...differences } : row)));
  const readPage = async (page: number) => ({ ...(await list.readPage(page)), answeredAt: time });
  expect((await read({ readPage, readRow: list.readRow })).last).toMatchObject({ isAnchored: true, isSettled: false });
});

test.each([3, 4, 5, 6])(
  "a total that changes before request %i: the list is anchored, and not settled",
  async (nth) => {
    const edits = Array.from({ length: nth + 1 }, (_, at): Edit[] => (at === nth - 1 ? ["append"] : []));
    const { last, problems } = await read(new Moving(chunks(18), edits));
    expect([problems, last?.isAnchored, last?.isSettled]).toEqual([[], true, false]);
  },
);

test("a chunk deleted between the rows and the count of a full last page is noticed", async () => {
  const list = new Moving(chunks(15));
  const readPage = async (page: number) => {
    if (page === 3) list.append();
    const answer = await list.readPage(page);
    if (page === 3) list.delete(12); // the page has rows 11 to 15 of 16, but the service then counts only 15
    return { ...answer, total: 15 };
  };
  const { problems } = await read({ readPage, readRow: list.readRow });
  expect(problems).toEqual(["chunks: row 15 changed during the read, so rows before it were added or deleted"]);
});

test("a rank that cannot be looked at again is reported, and costs no row", async () => {
  const list = new Moving(chunks(12));
  const readRow = async () => Promise.reject(new SkipError("GET …: 504"));
  const { ids, last, problems } = await read({ readPage: list.readPage, readRow });
  expect(problems).toEqual(["chunks: row 5 could not be read again: GET …: 504"]);
  expect([ids.length, last?.isAnchored]).toEqual([12, false]);
});

test("a service that returns another row, or none, for a rank is reported", async () => {
  for (const row of [undefined, chunkAt(99), { ...chunkAt(5), position: 6 }]) {
    const list = new Moving(chunks(12));
    const readRow = async (rank: number) => (rank === size ? { row, total: 12 } : list.readRow(rank));
    const { last, problems } = await read({ readPage: list.readPage, readRow });
    expect(problems).toEqual(["chunks: row 5 changed during the read, so rows before it were added or deleted"]);
    expect(last?.isAnchored).toBe(false);
  }
});
