import { expect, test } from "vitest";
import { cutToWidth, padEnd, padStart, widthOf } from "../../src/cli/display-width.js";

test.each([
  ["plain", 5],
  ["漢字", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["ﾊﾟ", 2],
  ["مرحبا", 5],
  ["━╌…→·", 5],
  ["\u001b[31mred\u001b[39m", 3],
])("%s takes %i columns", (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test("a text that is too wide ends with an ellipsis, and no sign is cut in two", () => {
  expect(cutToWidth("handbook", 8)).toBe("handbook");
  expect(cutToWidth("handbook", 5)).toBe("hand…");
  expect(cutToWidth("hand book", 6)).toBe("hand…");
  expect(cutToWidth("漢字漢字", 6)).toBe("漢字…");
  expect(cutToWidth("漢字漢字", 5)).toBe("漢字…");
  expect(cutToWidth("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
  expect([cutToWidth("ab", 1), cutToWidth("ab", 0), cutToWidth("ab", -3)]).toEqual(["…", "", ""]);
  for (let columns = 0; columns < 30; columns++)
    expect(widthOf(cutToWidth("日本語 handbook 👩‍👩‍👧 e\u0301 …", columns))).toBeLessThanOrEqual(columns);
});

test("padding counts columns", () => {
  expect([padEnd("漢字", 6), padStart("漢字", 6), padEnd("long", 2)]).toEqual(["漢字  ", "  漢字", "long"]);
});
