import fc from "fast-check";
import { expect, test } from "vitest";
import { freeName } from "../../../src/restore/copy/find-targets.js";

test("a name that is free stays, and a taken one gets a number", () => {
  expect(freeName("Handbook", new Set())).toBe("Handbook");
  expect(freeName("Handbook", new Set(["handbook", "Handbook "]))).toBe("Handbook");
  expect(freeName("Handbook", new Set(["Handbook"]))).toBe("Handbook (2)");
  expect(freeName("Handbook", new Set(["Handbook", "Handbook (2)", "Handbook (4)"]))).toBe("Handbook (3)");
});

test("a name is cut to 40 code points, its number included, and no character is cut in half", () => {
  const long = `${"📗".repeat(39)}ab`;
  expect(freeName(long, new Set())).toBe(`${"📗".repeat(39)}a`);
  expect(freeName(long, new Set([`${"📗".repeat(39)}a`]))).toBe(`${"📗".repeat(36)} (2)`);
});

test("whatever is taken, the name is free, new to the next one, and short enough", () => {
  const names = fc.array(fc.constantFrom("a", "ab", "a (2)", "📗".repeat(41), `${"x".repeat(40)}y`), { maxLength: 30 });
  fc.assert(
    fc.property(names, (wished) => {
      const taken = new Set<string>();
      for (const wish of wished) {
        const name = freeName(wish, taken);
        expect(taken.has(name)).toBe(false);
        expect([...name].length).toBeLessThanOrEqual(40);
        expect(name.isWellFormed()).toBe(true);
        taken.add(name);
      }
    }),
  );
});
