import { describe, expect, it } from "vitest";
import type { ListPage } from "../../src/client/check-answer.js";
import { ContentDigest } from "../../src/crawl/digests.js";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { sweepList } from "../../src/crawl/sweep-list.js";
import { SkipError, StopError } from "../../src/errors.js";
import { idsFrom, pageOf } from "./pages.js";

/** Sweeps a list of which 5 rows were stored, in pages of two. `now`: the ids that the service lists now. */
async function sweep(now: readonly number[], readPage?: (page: number) => Promise<ListPage>) {
  const stored = new ContentDigest();
  for (const id of idsFrom(0, 5)) stored.add({ id: String(id), content: null });
  const problems: string[] = [];
  const pages = async (page: number) => pageOf(now.slice(page * 2 - 2, page * 2), now.length);
  const fingerprints = ({ id, content }: { id: string; content?: unknown }) => [{ id, content }];
  const list = { name: "chunks", readPage: readPage ?? pages, stored, total: 5, fingerprints };
  await sweepList(list, new Prefetch(2), (text) => void problems.push(text));
  return problems;
}

describe("sweepList", () => {
  it.each([[idsFrom(0, 5)], [[4, 3, 2, 1, 0]]])("has nothing to tell of the same rows: %j", async (now) => {
    expect(await sweep(now)).toEqual([]);
  });

  const others = "chunks: a second sweep found other ids or contents";
  const counted = (rows: number) => `total of chunks went from 5 to ${rows} between two pages`;

  it.each([
    ["a row replaced", [0, 1, 2, 3, 9], [others]],
    ["a row deleted", [0, 1, 2, 3], [counted(4), others]],
    ["a row added", [0, 1, 2, 3, 4, 5], [counted(6), others]],
    ["nothing left", [], [counted(0), others]],
  ])("reports %s", async (_, now, problems) => {
    expect(await sweep(now)).toEqual(problems);
  });

  it("reports content that changed", async () => {
    const changed = async () => ({
      ...pageOf(idsFrom(0, 5)),
      rows: idsFrom(0, 5).map((id) => ({ id: `${id}`, content: "x" })),
    });
    expect(await sweep([], changed)).toEqual(["chunks: a second sweep found other ids or contents"]);
  });

  it("reports a sweep that does not add up in itself", async () => {
    const six = async (page: number) => pageOf(page === 1 ? idsFrom(0, 5) : [], 6);
    expect(await sweep([], six)).toEqual([counted(6), "chunks: the service counts 6 and lists 5"]);
    expect(await sweep([0, 1, 1, 2, 3])).toContain("1 of 2 ids on a page of chunks came before");
  });

  it("reports a list that cannot be read any more, and does not end the others", async () => {
    const gone = async () => Promise.reject(new SkipError("404"));
    expect(await sweep([], gone)).toEqual(["chunks: a second sweep failed: 404"]);
  });

  it("passes on errors that end the run", async () => {
    const stop = new StopError("401");
    await expect(sweep([], async () => Promise.reject(stop))).rejects.toBe(stop);
  });

  it("ends if the service repeats itself", async () => {
    let asked = 0;
    const same = async () => {
      if (asked++ > 1_000) throw new Error("no end");
      return pageOf([0, 1], 1_000_000_000);
    };
    expect((await sweep([], same)).at(-1)).toBe("chunks: a second sweep found other ids or contents");
    expect(asked).toBeLessThan(20);
  });
});
