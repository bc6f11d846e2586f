import fc from "fast-check";
import { ExactNumber } from "../../src/rows/exact-json.js";

/** Numbers of a service's JSON that JavaScript would round. */
const exactTexts = fc.oneof(
  fc.constantFrom("9007199254740993", "-9223372036854775808", "18446744073709551616", "1e400", "1e-400"),
  fc.constantFrom("0.10000000000000000001", "12345678901234567890.5", "-1.00000000000000000005E-7"),
  fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 200n }).map(String),
  fc.bigInt({ min: 2n ** 70n, max: 2n ** 90n }).map((digits) => `-0.${digits}1`),
);

/** Texts that break readers: ends of lines, quotes, control characters, halves of surrogate pairs, formulas, escapes. */
const nastyTexts = fc.constantFrom(
  ...[
    "",
    "\n",
    "\r\n",
    "\u2028",
    "\ufeff",
    "\0",
    "\u001f",
    "\u007f",
    '"',
    "\\",
    "\\ud800",
    "\ud800",
    "x\udc00",
    "👩‍👧",
  ],
  ...["null", "=1+1", ",", "'", " a ", "مرحبا\u200f", "\\u0000", "/files/"],
);

export const texts = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), nastyTexts);
/** Node 24's own JSON.parse takes the name `"` for one that it has seen before with a backslash in its place. */
const namesParse = Number(process.versions.node.split(".")[0]) < 24;
export const names = fc.oneof(
  texts.filter((text) => namesParse || !text.includes("\\")),
  fc.constantFrom("__proto__", "constructor", "toString", "toJSON", "hasOwnProperty", "0"),
);
export const exactNumbers = exactTexts.map((text) => new ExactNumber(text));
/** Numbers as parseJson makes them: whole ones are safe. JSON.stringify writes -0 as 0, so there is none. */
export const numbers = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
);

/** Objects as JSON.parse makes them: `__proto__` is a name like any other. */
export function objectsOf<T>(values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(names, values), { maxLength: 6 }).map((entries) => Object.fromEntries(entries));
}

/** Any value that a service can send. */
export const jsonValues: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom(null, true, false),
    texts,
    numbers,
    exactNumbers,
    fc.array(tie("value"), { maxLength: 5 }),
    objectsOf(tie("value")),
  ),
})).value;
