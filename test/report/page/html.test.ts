import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeHtml, Html, html } from "../../../src/report/page/html.js";
import { anyText } from "./hostile-texts.js";

const signs: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

test("an escaped text reads the same, with U+FFFD for characters that no document may contain", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const escaped = escapeHtml(text);
      expect(escaped).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
      const read = escaped.replace(/&([^;]+);/g, (_, name: string) => signs[name] ?? "");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: no document may hold them
      const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]/g;
      expect(read).toBe(text.toWellFormed().replace(forbidden, "\ufffd"));
    }),
  );
});

test("values are escaped, markup and lists stay, nothing stays nothing", () => {
  const inner = html`<b>${"<i>"}</b>`;
  expect(html`${inner}|${["a&b", 5, inner]}|${null}${undefined}${false}`.toString()).toBe(
    "<b>&lt;i&gt;</b>|a&amp;b5<b>&lt;i&gt;</b>|",
  );
});

test("no text turns into markup", () => {
  expect(() => new Html("<b>", Symbol("html") as never)).toThrow(TypeError);
});
