import { type ColumnType, columns, type Kind } from "../../../src/rows/columns.js";
import { ExactNumber } from "../../../src/rows/exact-json.js";
import type { Row } from "../../../src/rows/row.js";
import type { Tables } from "./stage.js";

const texts = [
  ...["plain", "", null, "\n", "\r", "\r\n", "a\nb", "a\rb", "a\r\nb\r\n", "\n\n", "\u2028\u2029\u0085", "\v\f"],
  ...['"', '""', '"a"', 'a"b', '",', '","', ",", ",,", "'", "''", "a;b|c\td", " lead", "trail ", " ", "\t"],
  ...[
    "\ufeff",
    "\ufeffid",
    "\0",
    "a\0b",
    "\u0001\u0008\u001b\u001f\u007f",
    "\\",
    "\\n",
    '\\"',
    "\\u0000",
    "\\N",
    "\ufffd",
  ],
  ...[
    "😀",
    "👩‍👧‍👦",
    "漢字、仮名",
    "مرحبا\u200f",
    "e\u0301",
    "\ud800",
    "x\udc00y",
    "\ud83d",
    "\ude00\ud83d",
    "😀\ud800",
  ],
  ...["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|'/c calc'!A0", "\t=1", "\r=1", "#comment", "--", "'=1"],
  ...[
    "null",
    "NULL",
    "NaN",
    "true",
    "12",
    "1e5",
    "{}",
    "[]",
    '{"a":1}',
    '"json"',
    "2025-03-06T13:20:00Z",
    "id",
    "$$",
    "%s",
  ],
  `long "${"lorem, ipsum\ndolor 'sit' 漢字 😀 ".repeat(250)}"`,
];

const exact = (text: string) => new ExactNumber(text);
const exactNumbers = [
  ...["9007199254740993", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e400", "1e-400"],
  ...["123456789012345678901234567890", "0.10000000000000000001", "12345678901234567890.5", "-1.00E+400"],
  ...["3.14159265358979323846264338327950288", "12345678901234567890e2", "-0.30000000000000004441"],
].map(exact);
const longNumbers = [0.30000000000000004, 1.7976931348623157e-300, Number.MAX_SAFE_INTEGER, ...exactNumbers];
const longIntegers = [
  ...[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, exact("9007199254740993")],
  ...[exact("9223372036854775807"), exact("-9223372036854775808")],
];
const shortNumbers = [0, -1, 1.5, -0.1, 1e-7, 5e-324, 123456789.123, 12e20 / 1e15];
const strings = texts.filter((text) => text !== null);
const proto: unknown = JSON.parse('{"__proto__":{"a":[1]},"constructor":null,"toJSON":"x"}');
const nested = {
  a: [null, true, [], {}, [[""]]],
  "": { extra: { extra: "extra" } },
  'k"ey,\n': "v",
  "\ud800": ["\udc00"],
};

/** Test values for each column type. DuckDB reads rows without long numbers in a different way. */
function valuesOf(long: boolean): Readonly<Record<ColumnType, readonly unknown[]>> {
  const numbers = [...shortNumbers, ...(long ? longNumbers : [])];
  const someStrings = strings.slice(0, -1);
  return {
    text: texts,
    integer: [1, null, 0, -1, 123456789012345, ...(long ? longIntegers : [])],
    boolean: [true, null, false],
    time: [
      ...["2025-03-06T13:20:00Z", null, "1970-01-01T00:00:00Z", "2025-03-06T13:20:00.123Z", "2025-03-30T01:30:00.500Z"],
      ...["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z", "2000-02-29T23:59:59Z"],
    ],
    strings: [["a", "b"], null, [], [""], ["", ""], ["null", "NULL"], someStrings, ["a, b", "[c]", "'d'"], [" "]],
    list: [
      ...[[], null, [{ id: "f", source_url: "/files/f", size: 3 }], [null], [[]], ["]"]],
      ...[someStrings, numbers, [nested, proto]],
    ],
    object: [
      null,
      { a: null },
      { a: "" },
      { text: someStrings },
      { numbers },
      nested,
      proto,
      { "0": 1, b: numbers.at(-1) },
    ],
    any: [
      ...[null, "", "null", "\n", '{"a":1}', "[]", '"quoted"', "12", "true", "=1", "\ud800", "1.5"],
      ...[true, false, [], {}, [null], ["a"], { text: someStrings }, nested, proto, ...numbers, { deep: [numbers] }],
    ],
  };
}

/** Enough rows for every column to have every value of its type, in changing combinations. */
function nastyRows(kind: Kind, values: ReturnType<typeof valuesOf>): readonly Row[] {
  const count = Math.max(...columns[kind].map(({ type }) => values[type].length));
  return Array.from({ length: count }, (_row, index) =>
    Object.fromEntries(
      columns[kind].map(({ name, type }, at) => [name, values[type][(index + at) % values[type].length]]),
    ),
  );
}

function tablesOf(values: ReturnType<typeof valuesOf>): Tables {
  return {
    chunks: nastyRows("chunks", values),
    child_chunks: nastyRows("child_chunks", values),
    documents: nastyRows("documents", values),
    indexing_status: nastyRows("indexing_status", values),
    metadata_fields: nastyRows("metadata_fields", values),
    document_info: nastyRows("document_info", values),
    datasets: nastyRows("datasets", values),
    document_details: nastyRows("document_details", values),
  };
}

/** Rows of every kind with all values that break readers or writers. */
export const nastyTables = tablesOf(valuesOf(true));

/** Like `nastyTables`, but without numbers that are too long for a double. */
export const shortNumberTables = tablesOf(valuesOf(false));
