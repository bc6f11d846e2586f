import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainText, withoutKey } from "../src/safe-text.js";

const key = "dataset-Ab+/=1";

describe("plainText", () => {
  it.each([
    ["", ""],
    ["  a \r\n\t b  ", "a b"],
    ["red \u001b[31m alert\u0007", "red [31m alert"],
    ["a\u0000b\u009bc\u007fd", "a b c d"],
    ["line\u2028and\u2029paragraph", "line and paragraph"],
    ["abc\u202etxt.exe\u200b", "abc txt.exe"],
    ["Öffnungszeiten 附件 😀", "Öffnungszeiten 附件 😀"],
    [`Bearer ${key}!`, "Bearer [key]!"],
    [`${key}${key}`, "[key][key]"],
  ])("%j → %j", (text, expected) => expect(plainText(text, key)).toBe(expected));

  it("cuts after the key is taken out, so that no part of it stays", () => {
    for (let before = 0; before < 20; before++) {
      const text = plainText("x".repeat(before) + key, key, 10);
      expect(text).not.toContain(key.slice(0, 4));
    }
  });

  it("never leaves half a character at the cut", () => {
    expect(plainText("ab😀", key, 3)).toBe("ab\ufffd…");
    expect(plainText("ab😀", key, 4)).toBe("ab😀");
  });

  it("is one short line of printable text, whatever comes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 40 }), (text, length) => {
        const line = plainText(text, key, length);
        expect(line.length).toBeLessThanOrEqual(length + 1);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(line).toBe(line.trim());
      }),
    );
  });
});

describe("withoutKey", () => {
  it.each([
    `plain ${key}`,
    `encoded ${encodeURIComponent(key)}`,
    `encoded in lower case ${encodeURIComponent(key).replace(/%../g, (hex) => hex.toLowerCase())}`,
  ])("takes it out: %s", (text) => {
    const rest = withoutKey(text, key);
    expect(rest).toContain("[key]");
    expect(rest).not.toContain("Ab");
  });

  it("removes it from base64, with any text before and after it, in both alphabets", () => {
    const secret = "dataset-Ab+/=1>>>???~~~";
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom("base64", "base64url"), (before, after, alphabet) => {
        const echo = Buffer.from(`${before}${secret}${after}`).toString(alphabet);
        const rest = withoutKey(`x ${echo}`, secret);
        expect(rest).toContain("[key]");
        expect(Buffer.from(rest.replace(/^x /, "").split("[key]").at(0) ?? "", alphabet).toString()).not.toContain(
          "dat",
        );
      }),
    );
    const reported = withoutKey(`Basic ${Buffer.from(secret).toString("base64")}`, secret);
    expect(reported.replace("Basic [key]", "").length).toBeLessThan(3);
  });

  it("does not change a text without the key, or any text if there is no key", () => {
    expect(withoutKey("dataset-Ab", key)).toBe("dataset-Ab");
    expect(withoutKey("a b", "")).toBe("a b");
  });

  it("leaves nothing of it, wherever it stands", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.stringMatching(/^[\w+/=-]{8,30}$/), (before, after, secret) => {
        const text = `${before}${secret}${after}${encodeURIComponent(secret)}`;
        const rest = withoutKey(text, secret);
        expect(rest.includes(secret)).toBe(false);
        expect(rest.includes(encodeURIComponent(secret))).toBe(false);
      }),
    );
  });
});
