import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LongNumbers } from "../../src/files/byte-facts.js";

function foundIn(...pieces: readonly string[]): boolean {
  const numbers = new LongNumbers();
  const reused = Buffer.alloc(1000);
  for (const piece of pieces) {
    reused.fill("0"); // like a reader that reuses its buffer
    numbers.add(reused.subarray(0, reused.write(piece, "latin1")));
  }
  return numbers.found;
}

describe("LongNumbers", () => {
  it.each([
    '{"a":0.10000000000000000001}',
    '{"a":9007199254740993}',
    '{"a":-9007199254740993}',
    "[1.000000000000001]",
    "[1,1.0000000000000001e5]",
    '{"a":{"b":[0,12345678901234567890.5]}}',
  ])("finds the number in %s", (text) => {
    expect(foundIn(text)).toBe(true);
  });

  it.each([
    "",
    '{"a":123456789012345}',
    '{"a":0.1234567890123}',
    '{"at":"2025-03-06T13:20:00.123Z"}',
    '{"id":"12345678-1234-1234-1234-123456789012"}',
    '{"hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}',
    '{"hash":"1234567890123456789012345678901234567890"}',
    '{"content":"1. Introduction ........................ 5"}',
  ])("finds none in %s", (text) => {
    expect(foundIn(text)).toBe(false);
  });

  it("finds it at any position, however the file is cut into pieces", () => {
    const other = fc.string({ unit: fc.constantFrom(...'ab":,[]{} x'), maxLength: 60 });
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(other, other, cuts, (before, behind, sizes) => {
        const text = `${before}:0.1234567890123456789${behind}`;
        const pieces: string[] = [];
        for (let at = 0, cut = 0; at < text.length; cut++) {
          const size = sizes[cut % sizes.length] ?? 1;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        expect(foundIn(...pieces)).toBe(true);
        expect(foundIn(before, behind)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});
