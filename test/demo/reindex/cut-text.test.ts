import { expect, test } from "vitest";
import { sentencesIn } from "../../../src/demo/indexing.js";
import { cutText } from "../../servers/writable/cut-source.js";

test.each([
  ["nothing", " \n", 10, []],
  ["a short text", " One. ", 10, ["One."]],
  ["behind a sentence", "One two. Three four five", 20, ["One two.", "Three four five"]],
  ["at white space", "one two three\nfour five", 10, ["one two", "three", "four five"]],
  ["anywhere", "abcdefgh", 3, ["abc", "def", "gh"]],
  ["without spaces", "一二三。四五六。七", 5, ["一二三。", "四五六。七"]],
  ["never through a character", "a😀😀", 2, ["a", "😀", "😀"]],
])("a text is cut: %s", (_name, text, most, pieces) => {
  expect(cutText(text, most)).toEqual(pieces);
});

test("a sentence ends with its full stop, question mark or the like", () => {
  expect(sentencesIn("One 1.5. Two?  Three!\n\nfour\n一。二")).toEqual([
    "One 1.5.",
    "Two?",
    "Three!",
    "four",
    "一。",
    "二",
  ]);
  expect(sentencesIn(" ")).toEqual([]);
});
