import fc from "fast-check";
import { expect, test } from "vitest";
import { type ChildThere, planChildren } from "../../../src/restore/copy/finish-chunks.js";

const wanted = (content: string, type: string | null = "automatic") => ({
  id: `old ${content}`,
  position: 1,
  content,
  type,
});
const there = (content: string, type: string | null = "automatic") => ({ id: `new ${content}`, content, type });

test("children that the service made as the dump has them need no write", () => {
  expect(planChildren([wanted("a"), wanted("b")], [there("a"), there("b")])).toEqual({
    remove: [],
    customize: [],
    add: [],
  });
});

test("everything after the first difference is deleted, from the last one on, and those of the dump follow", () => {
  const fix = planChildren([wanted("a"), wanted("b"), wanted("c")], [there("a"), there("x"), there("c")]);
  expect(fix).toEqual({ remove: [there("c"), there("x")], customize: [], add: [wanted("b"), wanted("c")] });
});

test("a manual child chunk becomes manual again, and one that already is stays unchanged", () => {
  const rows = [wanted("a", "customized"), wanted("b", "customized"), wanted("c", null)];
  const fix = planChildren(rows, [there("a"), there("b", "customized"), there("c", "customized")]);
  expect(fix).toEqual({ remove: [], customize: [{ wanted: rows[0], there: there("a") }], add: [] });
});

const content = fc.constantFrom("a", "b", "c");
const type = fc.constantFrom("automatic", "customized", null);
const list = fc.array(fc.record({ content, type }), { maxLength: 6 });

test("whatever the service made, the children end as in the dump, and the longest beginning that agrees stays", () => {
  fc.assert(
    fc.property(list, list, (dump, made) => {
      const rows = dump.map((each, at) => ({ ...each, id: `old ${at}`, position: at + 1 }));
      const children: ChildThere[] = made.map((each, at) => ({ ...each, id: `new ${at}` }));
      const { remove, customize, add } = planChildren(rows, children);
      const kept = children.filter((child) => !remove.includes(child));
      expect([...kept, ...add].map((each) => each.content)).toEqual(rows.map((each) => each.content));
      const differing = children.findIndex((child, at) => child.content !== rows[at]?.content);
      expect(kept).toHaveLength(differing < 0 ? children.length : differing);
      const written = new Set(customize.map((each) => each.there));
      for (const [at, child] of kept.entries()) {
        const isWanted = rows[at]?.type === "customized" && child.type !== "customized";
        expect(written.has(child)).toBe(isWanted);
      }
    }),
  );
});
