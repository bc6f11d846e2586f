import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Prefetch } from "../../src/crawl/prefetch.js";
import { ListProof, readList } from "../../src/crawl/read-list.js";
import { inFull } from "../rounds.js";
import { idsFrom, pageOf } from "./pages.js";

/**
 * Shows which changes of a list the proof by counts can detect. It reports every edit that changes the number of ids,
 * unless the read is complete anyway. Edits that keep the set of ids (rows that swap, pages that move) are reported or
 * harmless. It cannot detect that the same number of rows was deleted and added between two requests: total and number
 * of ids may agree although rows are missing. Only a second read of the ids detects that (`consistency: sweeps`).
 */

interface Edit {
  readonly kind: "delete" | "add" | "move";
  readonly at: number;
  readonly to: number;
}

/** A list that changes between requests: `edits[n]` happens just before request n + 1 is answered. */
class MovingList {
  readonly #ids: number[];
  readonly #size: number;
  readonly #edits: readonly (readonly Edit[])[];
  #next: number;
  #requests = 0;
  /** The ids in the list at each request. */
  readonly states: number[][] = [];
  /** Whether, between two requests, an equal number of rows (at least one) was deleted and added. */
  replaced = false;

  constructor(count: number, size: number, edits: readonly (readonly Edit[])[]) {
    this.#ids = idsFrom(0, count);
    this.#next = count;
    this.#size = size;
    this.#edits = edits;
  }

  readonly readPage = async (page: number) => {
    if (this.#requests > 0) this.#edit(this.#edits[this.#requests - 1] ?? []);
    this.#requests++;
    this.states.push([...this.#ids]);
    return pageOf(this.#ids.slice((page - 1) * this.#size, page * this.#size), this.#ids.length);
  };

  #edit(edits: readonly Edit[]): void {
    const before = new Set(this.#ids);
    for (const { kind, at, to } of edits) {
      const place = at % (this.#ids.length + 1);
      if (kind === "add") this.#ids.splice(place, 0, this.#next++);
      else {
        const gone = this.#ids.splice(place, 1);
        if (kind === "move") this.#ids.splice(to % (this.#ids.length + 1), 0, ...gone);
      }
    }
    const added = this.#ids.filter((id) => !before.has(id)).length;
    if (added > 0 && this.#ids.length === before.size) this.replaced = true;
  }
}

async function read(list: MovingList, permits: number) {
  const problems: string[] = [];
  const proof = new ListProof("rows", (text) => void problems.push(text));
  const ids: number[] = [];
  for await (const page of readList(list.readPage, new Prefetch(permits))) {
    ids.push(...proof.add(page).map(({ id }) => Number(id)));
  }
  proof.finish();
  return { ids, problems };
}

const sorted = (ids: readonly number[]) => [...ids].sort((one, other) => one - other);
const place = fc.nat({ max: 30 });
const edit = (...kinds: Edit["kind"][]) => fc.record({ kind: fc.constantFrom(...kinds), at: place, to: place });
const script = (...kinds: Edit["kind"][]) => fc.array(fc.array(edit(...kinds), { maxLength: 3 }), { maxLength: 8 });
const arbitraries = [fc.nat({ max: 20 }), fc.integer({ min: 1, max: 5 }), fc.nat({ max: 3 })] as const;

describe("a list that moves while it is read", () => {
  it.runIf(inFull)(
    "is reported or read correctly, unless as many rows were deleted as added between two requests",
    async () => {
      let [reported, whole, missed] = [0, 0, 0];
      await fc.assert(
        fc.asyncProperty(...arbitraries, script("delete", "add", "move"), async (count, size, permits, edits) => {
          const list = new MovingList(count, size, edits);
          const { ids, problems } = await read(list, permits);
          expect(new Set(ids).size).toBe(ids.length);
          const existed = new Set(list.states.flat());
          expect(ids.every((id) => existed.has(id))).toBe(true);
          if (problems.length > 0) {
            reported++;
            return;
          }
          for (const state of list.states) expect(state).toHaveLength(ids.length);
          if (list.replaced) {
            missed++;
            return;
          }
          whole++;
          for (const state of list.states) expect(sorted(ids)).toEqual(sorted(state));
        }),
        { numRuns: 2_000 },
      );
      for (const kind of [reported, whole, missed]) expect(kind).toBeGreaterThan(20); // all three outcomes occurred
    },
  );

  it.each([
    ["rows that only trade places", ["move"]],
    ["rows that are only deleted", ["delete", "move"]],
    ["rows that are only added", ["add", "move"]],
  ] as const)("%s are never lost silently", async (_, kinds) => {
    await fc.assert(
      fc.asyncProperty(...arbitraries, script(...kinds), async (count, size, permits, edits) => {
        const list = new MovingList(count, size, edits);
        const { ids, problems } = await read(list, permits);
        const last = list.states.at(-1) ?? [];
        expect(problems.length > 0 || sorted(ids).join() === sorted(last).join()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("one row deleted on a page that was read and one added at the end: a row is lost, and counts cannot tell", async () => {
    const edits: Edit[] = [
      { kind: "delete", at: 0, to: 0 },
      { kind: "add", at: 5, to: 0 },
    ];
    const list = new MovingList(6, 2, [edits]);
    const { ids, problems } = await read(list, 0);
    expect(problems).toEqual([]);
    expect(ids).toEqual([0, 1, 3, 4, 5, 6]); // 2 was in the list the whole time but not read; 0 is deleted
    expect(list.states.at(-1)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
