import { describe, expect, it } from "vitest";
import { csvText } from "../../../src/dump/formats/csv.js";
import { encodeLines } from "../../../src/files/lines.js";
import { columns, type Kind, kinds } from "../../../src/rows/columns.js";
import { ExactNumber } from "../../../src/rows/exact-json.js";
import type { Row } from "../../../src/rows/row.js";
import { readCsv } from "./rfc4180.js";

/** The rows as CSV text. */
const text = (safe: boolean, kind: Kind, rows: readonly Row[]) =>
  encodeLines(csvText(safe).texts(kind, rows)).toString();
const line = (row: Row, safe = false) => text(safe, "child_chunks", [row]);
const content = (text: unknown, safe = false) =>
  line({ content: text }, safe)
    .replace(/^,{5}/, "")
    .replace(/,{5}\n$/, "");

describe("csv", () => {
  it.each(kinds)("%s has its columns as a header", (kind) => {
    expect(csvText(false).head(kind)).toBe(`${columns[kind].map(({ name }) => name).join(",")}\n`);
  });

  it("is one line per row, ended only by LF", () => {
    const row = {
      dataset_id: "d",
      position: 3,
      content: "text",
      created_at: "2025-03-06T13:20:00Z",
      extra: { a: [1, '"'] },
    };
    expect(text(false, "child_chunks", [row, {}])).toBe(
      'd,,,,3,text,,,2025-03-06T13:20:00Z,,"{""a"":[1,""\\""""]}"\n,,,,,,,,,,\n',
    );
    expect(csvText(false).texts("child_chunks", [])).toEqual([]);
  });

  it.each([
    ["null", null, ""],
    ["the empty string", "", '""'],
    ["plain text", "a b", "a b"],
    ["blanks at the ends", " a ", " a "],
    ["a comma", "a,b", '"a,b"'],
    ["a quote", 'a"b', '"a""b"'],
    ["quotes alone", '""', '""""""'],
    ["LF", "a\nb", '"a\nb"'],
    ["CR", "a\rb", '"a\rb"'],
    ["CRLF", "a\r\n", '"a\r\n"'],
    ["other ends of lines", "a\u2028b\u0085", "a\u2028b\u0085"],
    ["a byte order mark", "\ufeffa", "\ufeffa"],
    ["an apostrophe", "'a", "'a"],
    ["a backslash", "\\", "\\"],
    ["null as a word", "null", "null"],
  ])("writes %s", (_what, text, cell) => {
    expect(content(text)).toBe(cell);
  });

  it.each([
    ["integer", { position: 12 }, ",,,,12,,,,,,\n"],
    ["integer above 2^53", { position: new ExactNumber("-9007199254740993") }, ",,,,-9007199254740993,,,,,,\n"],
    ["JSON null inside", { extra: { a: null } }, ',,,,,,,,,,"{""a"":null}"\n'],
    ["a string for extra", { extra: "text" }, ',,,,,,,,,,"""text"""\n'],
    ["exact numbers", { extra: [new ExactNumber("0.10000000000000000001")] }, ",,,,,,,,,,[0.10000000000000000001]\n"],
  ])("writes %s", (_what, row, text) => {
    expect(line(row)).toBe(text);
  });

  it("writes a value of any type as a string, or as JSON text", () => {
    const cells = ["null", "", 12, true, [1], { a: "b" }].map((error) =>
      readCsv(text(false, "documents", [{ error }]))[0]?.at(-1),
    );
    expect(cells).toEqual(["null", "", "12", "true", "[1]", '{"a":"b"}']);
  });
});

describe("csv for spreadsheets", () => {
  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|'/c calc'!A0", "-", "+"])(
    "guards %j with an apostrophe",
    (text) => {
      expect(readCsv(`${content(text, true)}\n`)).toEqual([[`'${text}`]]);
      expect(readCsv(`${content(text)}\n`)).toEqual([[text]]);
    },
  );

  it.each(["a=1", " =1", "'=1", "1-1", "", "a\n=1"])("leaves %j as it is", (text) => {
    expect(content(text, true)).toBe(content(text));
  });

  it("guards no number and no JSON text", () => {
    const row = { position: -5, word_count: new ExactNumber("-9007199254740993"), extra: { "=1": "=1" } };
    expect(line(row, true)).toBe(line(row));
    const numbers = { error: -5 };
    expect(text(true, "documents", [numbers])).toBe(text(false, "documents", [numbers]));
  });

  it("guards the text in any column", () => {
    const row = Object.fromEntries(
      columns.chunks.filter(({ type }) => type === "text").map(({ name }) => [name, "=1"]),
    );
    const [cells = []] = readCsv(text(true, "chunks", [row]));
    expect(cells.filter((cell) => cell !== null)).toEqual(Object.keys(row).map(() => "'=1"));
  });
});
