import fc from "fast-check";
import { expect, test } from "vitest";
import { halvingPages, type ReadSizedPage } from "../../src/crawl/halve-pages.js";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { readList } from "../../src/crawl/read-list.js";
import { GaveUpError, RetryError, SkipError } from "../../src/errors.js";

const rows = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => ({ id: String(from + at) }));
/** A halving reader that must not report a problem. */
const halving = (read: ReadSizedPage) =>
  halvingPages(read, {
    name: "rows",
    problem: (text) => {
      throw new Error(text);
    },
  });
const givenUp = (reason = new RetryError("504", { status: 504 })) => new GaveUpError(reason, 7);

/** A list of `total` rows; the client gives up pages of more than `most` rows. */
function listOf(total: number, most: number, asked: string[] = []) {
  return async (page: number, limit: number) => {
    asked.push(`${page}/${limit}`);
    if (limit > most) throw givenUp();
    return { rows: rows((page - 1) * limit, Math.min(total, page * limit)), total, docForm: "text_model" };
  };
}

test("a page that is given up is read in halves, and these in quarters, with the same rows", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 450 }), fc.constantFrom(25, 50, 100), async (total, most) => {
      for (let page = 1; page <= Math.ceil(total / 100); page++) {
        const read = await halving(listOf(total, most))(page);
        expect(read).toMatchObject({
          rows: rows((page - 1) * 100, Math.min(total, page * 100)),
          total,
          docForm: "text_model",
        });
      }
    }),
  );
});

test("a readable page is read in one request, and no empty half is requested", async () => {
  const asked: string[] = [];
  await halving(listOf(300, 100, asked))(3);
  await halving(listOf(240, 50, asked))(3);
  expect(asked).toEqual(["3/100", "3/100", "5/50"]);
});

test.each([
  ["smaller pages fail as well", listOf(300, 10), "504 (7 tries)"],
  [
    "the service caps at less than a half",
    async (_: number, limit: number) => {
      if (limit === 100) throw givenUp();
      return { rows: rows(0, 20), total: 300, docForm: null };
    },
    "a page of 50 rows has 20",
  ],
  [
    "the list changes between the halves",
    async (page: number, limit: number) => {
      if (limit === 100) throw givenUp();
      return { rows: rows(page * 50, page * 50 + 50), total: 300 + page, docForm: null };
    },
    "total of rows went from 301 to 302 between two halves of page 1",
  ],
])("%s: the reason stands", async (_name, list, message) => {
  await expect(halving(list)(1)).rejects.toThrow(message);
});

/** A list in which each row has a weight; answers heavier than 100 are too large. `fetched` is the weight received so far. */
function heavyList(total: number, weight: (row: number) => number) {
  const list = { asked: [] as string[], fetched: 0 };
  const read: ReadSizedPage = async (page, limit) => {
    list.asked.push(`${page}/${limit}`);
    const [from, to] = [(page - 1) * limit, Math.min(total, page * limit)];
    let heavy = 0;
    for (let row = from; row < to; row++) heavy += weight(row);
    list.fetched += Math.min(heavy, 101);
    if (heavy > 100) throw givenUp(new RetryError("too long", { status: 200, trouble: "too large" }));
    return { rows: rows(from, to), total, docForm: null };
  };
  return { ...list, read, list };
}

test("an answer that is too large is asked for in pieces of at most half of the rows there are", async () => {
  const { read, list } = heavyList(50, () => 3);
  const { rows: got, piece } = await halving(read)(1);
  expect([got, piece]).toEqual([rows(0, 50), 25]);
  expect(list.asked).toEqual(["1/100", "1/1", "1/25", "2/25"]);
});

test("a document of 650 MB with a bound of 100 MB costs hardly more than itself: later pages come in pieces at once", async () => {
  const { read, list } = heavyList(500, () => 1.3);
  const readPage = halving(read);
  for (let page = 1; page <= 5; page++) {
    expect((await readPage(page)).rows).toEqual(rows(page * 100 - 100, page * 100));
  }
  expect(list.fetched).toBeLessThan(1.2 * 650);
});

test("one huge row costs its neighbours extra requests, but later pages at most four each", async () => {
  const { read, list } = heavyList(300, (row) => (row === 7 ? 99 : 0.5));
  const readPage = halving(read);
  for (let page = 1; page <= 3; page++) {
    expect((await readPage(page)).rows).toEqual(rows(page * 100 - 100, page * 100));
  }
  expect(list.asked.slice(-8)).toEqual(["5/25", "6/25", "7/25", "8/25", "9/25", "10/25", "11/25", "12/25"]);
});

test.each([
  ["nobody being there", givenUp(new RetryError("refused", { trouble: "gone" }))],
  ["a refusal", new SkipError("404", { status: 404 })],
  ["too many requests", givenUp(new RetryError("429", { throttled: true }))],
])("%s is not asked again in halves", async (_name, error) => {
  let asked = 0;
  const read = halving(async () => {
    asked++;
    throw error;
  });
  await expect(read(1)).rejects.toBe(error);
  expect(asked).toBe(1);
});

test.each([
  [50, 150],
  [50, 450],
  [100, 150],
  [100, 450],
])("a bad row on page 1 costs no other row, where the service puts %i on a page, of %i", async (cap, total) => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 0, max: total - 1 }), { maxLength: 3 }), async (others) => {
      const bad = new Set([7, ...others]);
      const readPage = halving(async (page, limit) => {
        const size = Math.min(cap, limit);
        const got = rows((page - 1) * size, Math.min(total, page * size));
        if (got.some(({ id }) => bad.has(Number(id)))) throw givenUp(new RetryError("500", { status: 500 }));
        return { rows: got, total, docForm: null };
      });
      const ids: string[] = [];
      for await (const page of readList(readPage, new Prefetch(4))) ids.push(...page.rows.map(({ id }) => id));
      const good = rows(0, total).filter(({ id }) => !bad.has(Number(id)));
      expect(ids).toEqual(good.map(({ id }) => id));
    }),
  );
});

test("page 2 is read once after a first page that came in halves, and shows that a page has 100 rows", async () => {
  const asked: string[] = [];
  const list = listOf(250, 100, asked);
  const readPage = halving(async (page, limit) => {
    const got = await list(page, limit);
    if (page === 1 && limit === 100) throw givenUp();
    return got;
  });
  const ids: string[] = [];
  for await (const page of readList(readPage, new Prefetch(1))) ids.push(...page.rows.map(({ id }) => id));
  expect(ids).toEqual(rows(0, 250).map(({ id }) => id));
  expect(asked).toEqual(["1/100", "1/50", "2/50", "2/100", "3/100"]);
});

test("if the service returns smaller pages than requested, a half is half of those", async () => {
  const asked: string[] = [];
  const cap = 40;
  const read = halving(async (page, limit) => {
    asked.push(`${page}/${limit}`);
    if (page === 3 && limit === 100) throw givenUp();
    const size = Math.min(cap, limit);
    return { rows: rows((page - 1) * size, Math.min(110, page * size)), total: 110, docForm: null };
  });
  const pages = [await read(1), await read(2), await read(3)];
  expect(pages.flatMap((page) => page.rows)).toEqual(rows(0, 110));
  expect(asked).toEqual(["1/100", "2/100", "3/100", "5/20", "6/20"]);
});
