import { describe, expect, it } from "vitest";
import type { ListPage } from "../../src/client/check-answer.js";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { pagesBehind, readList, readRest } from "../../src/crawl/read-list.js";
import { idsFrom, pageOf } from "./pages.js";

/** A list of `total` rows in pages of `size`, and the requested pages. */
function listOf(total: number, size: number, spoil: (page: ListPage, number: number) => ListPage = (page) => page) {
  const asked: number[] = [];
  const readPage = async (number: number) => {
    asked.push(number);
    const from = (number - 1) * size;
    return spoil(pageOf(idsFrom(from, Math.max(0, Math.min(size, total - from))), total), number);
  };
  return { asked, readPage };
}

async function idsOf(pages: AsyncIterable<ListPage>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { rows } of pages) ids.push(...rows.map(({ id }) => Number(id)));
  return ids;
}

describe("readList", () => {
  const totals = [0, 1, 49, 50, 51, 99, 100, 101, 149, 150, 200, 201, 300, 301];
  const cases = [100, 50, 1_000].flatMap((size) => totals.map((total) => ({ size, total })));
  it.each(cases)(
    "$total rows, $size on a page: all of them, each page once, and no page more",
    async ({ size, total }) => {
      for (const permits of [0, 1, 50]) {
        const { asked, readPage } = listOf(total, size);
        expect(await idsOf(readList(readPage, new Prefetch(permits)))).toEqual(idsFrom(0, total));
        expect(asked).toEqual(idsFrom(1, Math.max(1, Math.ceil(total / size))));
      }
    },
  );

  it("requests no page before page 1 reports the total", async () => {
    const { asked, readPage } = listOf(1_000, 100);
    const pages = readList(readPage, new Prefetch(50));
    const first = await pages.next();
    expect([asked, first.value?.rows.length]).toEqual([[1], 100]);
    await pages.next();
    expect(asked).toEqual(idsFrom(1, 10));
  });

  it("does not ask again for the first page that it is given", async () => {
    const { asked, readPage } = listOf(250, 100);
    const first = await readPage(1);
    expect(await idsOf(readList(readPage, new Prefetch(2), first))).toEqual(idsFrom(0, 250));
    expect(asked).toEqual([1, 2, 3]);
  });

  it("ends at an empty page, and starts no request after it", async () => {
    const { asked, readPage } = listOf(1_000, 100, (page, number) => (number === 3 ? { ...page, rows: [] } : page));
    expect(await idsOf(readList(readPage, new Prefetch(2)))).toEqual(idsFrom(0, 200));
    expect(asked.length).toBeLessThanOrEqual(3 + 2);
  });

  it.each([
    ["counts rows and has none on page 1", 500, []],
    ["counts none and has rows on page 1", 0, [1, 2]],
    ["counts fewer than page 1 has", 1, [1, 2]],
  ])("asks for no more where the service %s", async (_, total, ids) => {
    let asked = 0;
    const readPage = async () => {
      asked++;
      return pageOf(ids, total);
    };
    expect(await idsOf(readList(readPage, new Prefetch(9)))).toEqual(ids);
    expect(asked).toBe(1);
  });

  it("passes on the error of a page, after the pages before it", async () => {
    const { readPage } = listOf(500, 100, (page, number) => {
      if (number === 3) throw new RangeError("page 3");
      return page;
    });
    const got: number[] = [];
    const read = async () => {
      for await (const { rows } of readList(readPage, new Prefetch(9))) got.push(rows.length);
    };
    await expect(read()).rejects.toThrow("page 3");
    expect(got).toEqual([100, 100]);
  });
});

describe("readRest", () => {
  it.each([1, 2, 3, 4])("returns the rows after the first %i pages", async (read) => {
    const { asked, readPage } = listOf(301, 100);
    const rest = readRest(readPage, new Prefetch(1), { total: 301, pageSize: 100 }, read);
    expect(await idsOf(rest)).toEqual(idsFrom(0, 301).slice(read * 100));
    expect(asked).toEqual([2, 3, 4].slice(read - 1));
  });
});

describe("pagesBehind", () => {
  it.each([
    [1, 0, 0, []],
    [1, 5, 0, []],
    [1, 100, 100, []],
    [1, 101, 100, [2]],
    [1, 300, 100, [2, 3]],
    [2, 301, 100, [3, 4]],
    [9, 301, 100, []],
    [1, 3, 1, [2, 3]],
    [1, 120, 500, []],
  ])("%i read, %i rows, %i on a page: %j", (read, total, pageSize, expected) => {
    expect([...pagesBehind(read, { total, pageSize })]).toEqual(expected);
  });

  it("allocates no memory for an absurd total", () => {
    const pages = pagesBehind(1, { total: Number.MAX_SAFE_INTEGER, pageSize: 1 });
    expect([pages.next().value, pages.next().value]).toEqual([2, 3]);
  });
});
