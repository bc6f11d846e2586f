import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ContentDigest, type Fingerprinted } from "../../src/crawl/digests.js";

function digestOf(rows: Iterable<Fingerprinted>): ContentDigest {
  const digest = new ContentDigest();
  for (const row of rows) digest.add(row);
  return digest;
}

const text = fc.oneof(fc.constantFrom("", "a", "b", '["a"', "a,b"), fc.string());
const row = fc.record({ id: fc.constantFrom("1", "2", "3"), content: fc.oneof(text, fc.constant(null)), answer: text });
const keyOf = ({ id, content, answer }: Fingerprinted) => JSON.stringify([id, content, answer]);

describe("ContentDigest", () => {
  it("is equal only for equal ids and contents, in any order", () => {
    const rows = fc.array(row, { maxLength: 6 });
    fc.assert(
      fc.property(rows, rows, (some, others) => {
        const same = some.map(keyOf).sort().join() === others.map(keyOf).sort().join();
        expect(digestOf(some).equals(digestOf(others))).toBe(same);
        expect(digestOf(some).equals(digestOf(some.toReversed()))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[string, Fingerprinted, Fingerprinted, boolean]>([
    ["another content", { id: "1", content: "a" }, { id: "1", content: "b" }, false],
    ["another id", { id: "1", content: "a" }, { id: "2", content: "a" }, false],
    ["another answer", { id: "1", content: "a", answer: "x" }, { id: "1", content: "a", answer: "y" }, false],
    ["content for answer", { id: "1", content: "a", answer: "b" }, { id: "1", content: "b", answer: "a" }, false],
    ["null for the empty string", { id: "1", content: null }, { id: "1", content: "" }, false],
    ["an answer of null for none", { id: "1", content: "a", answer: null }, { id: "1", content: "a" }, true],
  ])("%s", (_, one, other, equal) => {
    expect(digestOf([one]).equals(digestOf([other]))).toBe(equal);
    expect(digestOf([one]).rows).toBe(1);
  });

  it("distinguishes a row from the same row twice, and notices content that moved between two rows", () => {
    const [a, b] = [
      { id: "1", content: "a" },
      { id: "2", content: "b" },
    ];
    expect(digestOf([a]).equals(digestOf([a, a]))).toBe(false);
    expect(
      digestOf([a, b]).equals(
        digestOf([
          { ...a, content: "b" },
          { ...b, content: "a" },
        ]),
      ),
    ).toBe(false);
    expect(digestOf([]).equals(new ContentDigest())).toBe(true);
  });
});
