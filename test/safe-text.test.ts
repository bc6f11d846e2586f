import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLine, terminalText } from "../src/cli/text.js";
import { blankControls, cutText, escapeControls, plainText, quotedText } from "../src/safe-text.js";

/** Each kind of control character, with typical surrounding text. */
const nasty = [
  ..."\0\t\n\r\u001b\u001f\u007f\u0085\u009b\u00ad\u061c\u200b\u200d\u200e\u2028\u2029\u202e\u2066\ufeff",
  ...'\u{1d173}\u{e0001} \\"',
];
const anyCharacter = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
const text = fc.string({ unit: fc.oneof(fc.constantFrom(...nasty), anyCharacter) });
const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

test.each([
  ["plain Öffnungszeiten 附件 😀 \\u001b", "plain Öffnungszeiten 附件 😀 \\u001b"],
  ["\u001b[31m\u009b\u2028\u202e", "\\u001b[31m\\u009b\\u2028\\u202e"],
  ["a\u{e0001}b", "a\\udb40\\udc01b"],
])("escapes %j", (given, escaped) => {
  expect(escapeControls(given)).toBe(escaped);
});

test("no control character gets through, whichever way a text is printed", () => {
  fc.assert(
    fc.property(text, (given) => {
      const printed = [
        escapeControls(given),
        blankControls(given),
        plainText(given, ""),
        quotedText(given),
        jsonLine({ [given]: given }),
        terminalText(given),
      ];
      for (const each of printed) expect(each).not.toMatch(control);
    }),
  );
});

test("every other character stays unchanged, and JSON stays the same JSON", () => {
  fc.assert(
    fc.property(text, (given) => {
      const others = [...given].filter((character) => !control.test(character)).join("");
      expect(escapeControls(others)).toBe(others);
      expect(blankControls(others)).toBe(others);
      expect(JSON.parse(escapeControls(JSON.stringify(given)))).toBe(given);
    }),
  );
});

test("a text is cut to its length without half a character", () => {
  expect([cutText("ab😀", 4), cutText("ab😀", 3), cutText("ab", 1)]).toEqual(["ab😀", "ab\ufffd…", "a…"]);
});
