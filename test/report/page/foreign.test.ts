import fc from "fast-check";
import { expect, test } from "vitest";
import { shareText } from "../../../src/amounts.js";
import { foreign, foreignText, harmless, html, idText, timeText } from "../../../src/report/page/html.js";
import { column } from "../../../src/report/page/table.js";
import { anyText } from "./hostile-texts.js";

const markup = (value: Parameters<typeof html>[1]) => html`${value}`.toString();

test("a text is isolated from the direction of its surroundings", () => {
  expect(markup(foreign("سياسة"))).toBe("<bdi>سياسة</bdi>");
});

test("a long text is cut by characters, and says how many are left out", () => {
  expect(markup(foreign("字".repeat(1200), 3))).toBe(
    '<bdi>字字字…</bdi> <span class="left-out">+1,197 characters</span>',
  );
  expect(markup(foreign("👩👩👩", 2))).toBe('<bdi>👩👩…</bdi> <span class="left-out">+1 character</span>');
  expect(markup(foreign("abc", 3))).toBe("<bdi>abc</bdi>");
  expect(foreignText("abcd", 3)).toBe("abc…");
});

test("null is a dash, and a text that shows nothing is called blank", () => {
  expect(markup(foreign(null))).toBe('<span class="none">–</span>');
  for (const text of ["", " \n\t", "\u200b\u00ad\ufeff", "\u200f\u200e", "\u3164"]) {
    expect(markup(foreign(text)), JSON.stringify(text)).toBe('<span class="none">blank</span>');
  }
});

test("marks that change the direction of others are written out, and accents cannot pile up", () => {
  expect(harmless("\u202egnp.exe\u2069")).toBe("[U+202E]gnp.exe[U+2069]");
  expect(harmless("a\u200fb\u200ec\u061cd")).toBe("abcd");
  expect(harmless(`e${"\u0301".repeat(3000)}x`)).toBe(`e${"\u0301".repeat(8)}x`);
});

test("no text, whatever it holds, keeps a mark of direction or grows beyond its length", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, longest) => {
      const shown = markup(foreign(text, longest));
      expect(shown).not.toMatch(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/);
      expect(shown.length).toBeLessThan(longest * 10 + 80);
    }),
  );
});

test("a document is shown with name, dataset and id; without a known name, with its id", () => {
  const named = { document_id: "d-1", document_name: "A & B.md", dataset_id: "s-1", dataset_name: "Support" };
  const id = '<code class="id" dir="auto" title="d-1">d-1</code>';
  expect(markup(column.document.cell(named))).toBe(
    `<div class="document"><bdi>A &amp; B.md</bdi><small><bdi>Support</bdi> ${id}</small></div>`,
  );
  const nameless = markup(column.document.cell({ ...named, document_name: "\u200b", dataset_name: null }));
  expect(nameless).toBe(`<div class="document">${id}<small>${idText("s-1")}</small></div>`);
});

test("times are in UTC to the minute; anything else is a dash", () => {
  const time = Date.UTC(2026, 10, 20, 2, 0, 0, 123);
  expect(markup(timeText(time))).toBe('<time datetime="2026-11-20T02:00:00.123Z">2026-11-20 02:00</time>');
  for (const none of [null, Number.NaN, 1e300, Number.POSITIVE_INFINITY]) expect(markup(timeText(none))).toContain("–");
});

test("0 % and 100 % appear only for none and all", () => {
  expect([shareText(0, 9), shareText(1, 900), shareText(1, 2), shareText(899, 900), shareText(9, 9)]).toEqual([
    "0 %",
    "<1 %",
    "50 %",
    ">99 %",
    "100 %",
  ]);
  expect(shareText(0, 0)).toBe("0 %");
});
