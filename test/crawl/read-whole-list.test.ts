import fc from "fast-check";
import { expect, test } from "vitest";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { readWholeList } from "../../src/crawl/read-whole-list.js";
import { GaveUpError, RetryError, SkipError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { idsFrom, pageOf } from "./pages.js";

/** An edit just before a request is answered: an upload, or the position of a row to delete. */
type Edit = "upload" | number;

/** A list, newest first, that changes during the read; `answer` returns a page of it, like the service. */
class Uploads {
  readonly #edits: readonly (readonly Edit[])[];
  #ids: number[];
  requests = 0;

  constructor(count: number, edits: readonly (readonly Edit[])[] = []) {
    this.#ids = idsFrom(0, count).reverse();
    this.#edits = edits;
  }

  get ids(): readonly string[] {
    return this.#ids.map(String);
  }

  readonly page = (page: number, limit: number) =>
    pageOf(this.#ids.slice((page - 1) * limit, page * limit), this.#ids.length);

  readonly answer = async (page: number, limit: number) => {
    for (const edit of this.#edits[this.requests] ?? []) {
      if (edit === "upload") this.#ids.unshift(this.#ids.length + 1_000 + this.requests);
      else this.#ids = this.#ids.filter((_id, at) => at !== edit % this.#ids.length);
    }
    this.requests++;
    return this.page(page, limit);
  };
}

const alone = () => new Prefetch(0);

test.runIf(inFull)("whatever is uploaded or deleted meanwhile, a list without problems is correct", async () => {
  const uploads = fc.array(fc.constant<Edit>("upload"), { maxLength: 2 });
  const deletions = fc.array(fc.nat({ max: 400 }), { maxLength: 2 });
  const quiet = fc.constant<Edit[]>([]);
  const script = fc.array(fc.oneof({ weight: 3, arbitrary: quiet }, uploads, deletions), { maxLength: 12 });
  let [whole, moved] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 350 }), script, async (count, edits) => {
      const list = new Uploads(count, edits);
      const { rows, problems } = await readWholeList("documents", list.answer, alone());
      const ids = rows.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      if (problems.length === 0) expect(ids).toEqual(list.ids);
      problems.length === 0 ? whole++ : moved++;
    }),
    { numRuns: 500 },
  );
  expect(whole).toBeGreaterThan(20);
  expect(moved).toBeGreaterThan(0);
});

test.each([
  [0, 1],
  [99, 1],
  [100, 2], // after a full page, the client requests another one, because more rows may follow
  [101, 4],
  [300, 6],
])("a list of %i rows at rest takes %i requests, as one of several answers is read twice", async (count, requests) => {
  const list = new Uploads(count);
  expect(await readWholeList("documents", list.answer, alone())).toMatchObject({ problems: [] });
  expect(list.requests).toBe(requests);
});

test("a page that cannot be read is read in halves", async () => {
  const list = new Uploads(250);
  const heavy = async (page: number, limit: number) => {
    if (limit > 50 && page === 2) {
      throw new GaveUpError(new RetryError("timeout"), 7);
    }
    return list.answer(page, limit);
  };
  const { rows, problems } = await readWholeList("documents", heavy, alone());
  expect(problems).toEqual([]);
  expect(rows.map(({ id }) => id)).toEqual(list.ids);
});

test("a page that cannot be read in any size is an error", async () => {
  const refused = async () => {
    throw new SkipError("404");
  };
  await expect(readWholeList("documents", refused, alone())).rejects.toThrow("404");
});

test("reading a service that repeats page 1 ends, and the list does not count as complete", async () => {
  const list = new Uploads(1_000);
  let requests = 0;
  const same = async (_page: number, limit: number) => {
    requests++;
    return list.page(1, limit);
  };
  const { rows, problems } = await readWholeList("documents", same, alone());
  expect(rows).toHaveLength(100);
  expect(problems.at(-1)).toBe("documents: the service counts 1000 and lists 100");
  expect(requests).toBeLessThan(15);
});
