import { expect, test } from "vitest";
import { widthOf } from "../../src/cli/display-width.js";
import { commandsBelow, type Entry, firstOf, firstRows, renderParagraphs, titled } from "../../src/cli/outline.js";
import { pageFor } from "../../src/cli/text.js";

const id = "1e63378f-0ff6-41a4-8f48-687d51b4e63d";
const wide = pageFor({}, {});
const linesAt = (columns: number, ...parts: readonly (string | Entry)[]) =>
  renderParagraphs([parts], pageFor({ isTTY: true, columns }, { NO_COLOR: "1" })).split("\n");

test("an empty line stands between paragraphs; what is empty prints nothing", () => {
  const next = commandsBelow("Next:", "kbdump plan", "kbdump run");
  const paragraphs = [["one", false, "two"], [undefined], [], [titled("none:", [false])], [next]] as const;
  expect(renderParagraphs(paragraphs, wide)).toBe("one\ntwo\n\nNext:\n  kbdump plan\n  kbdump run");
});

test("parts below an entry stand further right, and long sentences are wrapped within it", () => {
  const tree = { text: "first", below: [{ text: "second", below: ["a sentence that is longer than the line is"] }] };
  const lines = ["first", "  second", "    a sentence that is longer than the", "      line is"];
  for (const columns of [40, 42]) expect(linesAt(columns, tree)).toEqual(lines);
});

test("at 40 columns, too, each level stands further right; only an id that does not fit there does not", () => {
  const tree = { text: "a", below: [{ text: "b", below: ["was now", id, { text: `(${id})`, below: ["c"] }] }] };
  expect(linesAt(40, tree)).toEqual(["a", "  b", "    was now", `    ${id}`, `  (${id})`, "      c"]);
});

test("an id in brackets is never wider than the terminal, however deep it stands", () => {
  const deep = (depth: number): Entry => ({ text: `(${id})`, below: depth > 0 ? [deep(depth - 1)] : [] });
  for (const columns of [40, 44, 60, 80])
    for (const line of linesAt(columns, deep(6)))
      expect([line.trim(), widthOf(line) <= columns]).toEqual([`(${id})`, true]);
});

test("a head is bold and painted, and the sentence after it is not", () => {
  const page = pageFor({ isTTY: true, columns: 80 }, {});
  const [line] = renderParagraphs([[{ head: "sound", paint: "good", text: "3 files" }]], page).split("\n");
  expect(line).toBe("\u001b[1m\u001b[32msound\u001b[39m\u001b[22m: 3 files");
});

test("of many items or rows, the first are shown and the others counted", () => {
  const items = ["a", "b", "c"];
  const column = { head: "letter", cell: (item: string) => item };
  expect(renderParagraphs([firstOf(items, 3, (item) => item)], wide)).toBe("a\nb\nc");
  expect(renderParagraphs([firstOf(items, 2, (item) => item, "more letter")], wide)).toBe(
    "a\nb\n… and 1 more letter: --json lists all",
  );
  expect(renderParagraphs([firstRows(items, 1, [column])], wide)).toBe("letter\na\n… and 2 others: --json lists all");
});
