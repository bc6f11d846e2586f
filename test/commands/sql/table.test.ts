import { expect, test } from "vitest";
import { paintFor } from "../../../src/cli/text.js";
import { renderQuery } from "../../../src/commands/sql.js";
import { ExactNumber } from "../../../src/rows/exact-json.js";

const columns = [
  { name: "document_id", type: "VARCHAR" },
  { name: "chunks", type: "BIGINT" },
  { name: "content", type: "VARCHAR" },
  { name: "extra", type: "JSON" },
];
const rows = [
  ["a8e0e5b5-78c6-4130-a5ce-25feb0e0b4ac", 12, "one\ntwo\u001b[31m", null],
  ["3c78b355", new ExactNumber("9007199254740993"), "", { a: new ExactNumber("1.50") }],
];
const at = (width: number) => ({ paint: paintFor({}, {}), columns: width });

test("numbers are right-aligned, NULL is visible, and no character moves the cursor", () => {
  expect(renderQuery({ columns, rows, isCut: false }, at(Number.POSITIVE_INFINITY)).split("\n")).toEqual([
    "document_id                                     chunks  content             extra",
    "a8e0e5b5-78c6-4130-a5ce-25feb0e0b4ac                12  one\\ntwo\\u001b[31m  NULL",
    '3c78b355                              9007199254740993                      {"a":1.50}',
    "",
    "2 rows",
  ]);
});

test("on a terminal, the widest columns are cut until the table fits", () => {
  const lines = renderQuery({ columns, rows, isCut: true }, at(60)).split("\n");
  expect(lines).toEqual([
    "document_id               chunks  content         extra",
    "a8e0e5b5-78c6…                12  one\\ntwo\\u001…  NULL",
    '3c78b355        9007199254740993                  {"a":1.50}',
    "",
    "2 rows; there are more, see --limit",
  ]);
  for (const width of [120, 60, 40, 38])
    for (const line of renderQuery({ columns, rows, isCut: false }, at(width)).split("\n"))
      expect(line.length).toBeLessThanOrEqual(width);
});

test("on a terminal that is too narrow, every cell has a line", () => {
  expect(renderQuery({ columns, rows, isCut: false }, at(30)).split("\n").slice(0, 6)).toEqual([
    "row 1",
    "document_id  a8e0e5b5-78c6-41…",
    "chunks       12",
    "content      one\\ntwo\\u001b[3…",
    "extra        NULL",
    "row 2",
  ]);
});

test("one column is also a table; no column is a number of rows", () => {
  const one = { columns: [{ name: "n", type: "BIGINT" }], rows: [[5], [12]], isCut: false };
  expect(renderQuery(one, at(80))).toBe(" n\n 5\n12\n\n2 rows");
  expect(renderQuery({ ...one, rows: [] }, at(80))).toBe("n\n\n0 rows");
});
