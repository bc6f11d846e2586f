import { expect, test } from "vitest";
import { wrapToWidth } from "../../src/cli/display-width.js";
import { fitsPage, layOutTable, renderTable } from "../../src/cli/table.js";
import { paintFor } from "../../src/cli/text.js";

const id = "1e63378f-0ff6-41a4-8f48-687d51b4e63d";
const rows = [
  ["document", "name", "chunks", "status", "error"],
  [id, "漢字の手引き handbook", "1,200", "error", "the model does not answer any more"],
];
const columns = [{ id: true }, { least: 6 }, { right: true }, { drop: 1 }, { wraps: true }] as const;
const linesAt = (width: number) => layOutTable(rows, { columns, width }).flat();

test("if there is room, every column is as wide as it needs", () => {
  expect(linesAt(Number.POSITIVE_INFINITY)).toEqual([
    `document${" ".repeat(30)}name                   chunks  status  error`,
    `${id}  漢字の手引き handbook   1,200  error   the model does not answer any more`,
  ]);
});

test("in this order: names are cut, ids get their own lines, columns are left out, sentences are wrapped", () => {
  expect(linesAt(100).slice(1)).toEqual([
    `${id}  漢字の手引き handbook   1,200  error`,
    "    the model does not answer any more",
  ]);
  expect(linesAt(63).slice(-2)).toEqual([`${id}  漢字の手…   1,200  error`, "    the model does not answer any more"]);
  expect(linesAt(50).slice(2)).toEqual([
    id,
    "  漢字の手引き handbook   1,200  error",
    "    the model does not answer any more",
  ]);
  expect(linesAt(36)).toEqual([
    "document",
    "  name                chunks  status",
    "    error",
    id,
    "  漢字の手引き hand…   1,200  error",
    "    the model does not answer any",
    "    more",
  ]);
  expect(linesAt(17)).toContain("  漢字の…   1,200");
});

test.each([
  ["5 5", 20, [5, 5], true],
  ["30 5 30", 49, [20, 5, 20], true],
  ["30 n30 30", 50, [8, 30, 8], true],
  ["30 n30 30", 49, [8, 30, 8], false],
])("%s in %i: the widest texts are cut first, numbers never: %j", (wanted, columns, widths, fits) => {
  const shown = wanted.split(" ").map((text) => {
    const size = /n/.test(text) ? { right: true } : { least: 8 };
    return { head: "x".repeat(Number(text.replace("n", ""))), cell: () => "", ...size };
  });
  const [line = ""] = renderTable([], shown, { paint: paintFor({}, {}), columns });
  expect(line.split("  ").map((cell) => cell.length)).toEqual(widths);
  expect(fitsPage([], shown, { paint: paintFor({}, {}), columns })).toBe(fits);
});

test("a remark between the rows is wrapped", () => {
  expect(layOutTable([["a", "b"], ["  a remark that is long"]], { columns: [{}, {}], width: 12 }).flat()).toEqual([
    "a  b",
    "  a remark",
    "    that is",
    "    long",
  ]);
});

test("a sentence is wrapped at blanks; an id stays whole, text without blanks is parted", () => {
  expect(wrapToWidth("  one two three", 9, "    ")).toEqual(["  one two", "    three"]);
  expect(wrapToWidth(`was ${id}`, 20)).toEqual(["was", id]);
  expect(wrapToWidth("漢字の手引き", 4)).toEqual(["漢字", "の手", "引き"]);
  expect(wrapToWidth("short", 80)).toEqual(["short"]);
});

test("columns are as wide as they need, numbers flush right, and nothing trails", () => {
  const rows = [
    ["name", "rows", "error"],
    ["a", "1,000", ""],
    ["longer", "7", "odd"],
  ];
  const shape = { columns: [{}, { right: true }, {}], width: Number.POSITIVE_INFINITY };
  expect(layOutTable(rows, shape).flat()).toEqual(["name     rows  error", "a       1,000", "longer      7  odd"]);
  const close = { ...shape, columns: [{}, {}, {}], gap: 1 };
  expect(layOutTable(rows, close).flat()).toEqual(["name   rows  error", "a      1,000", "longer 7     odd"]);
  expect(layOutTable([], shape)).toEqual([]);
});
