import fc from "fast-check";
import { ExactNumber } from "../../src/rows/exact-json.js";

/** JSON numbers that JavaScript would round. */
const exactTexts = fc.oneof(
  fc.constantFrom("9007199254740993", "-9223372036854775808", "18446744073709551616", "1e400", "1e-400"),
  fc.constantFrom("0.10000000000000000001", "12345678901234567890.5", "-1.00000000000000000005E-7"),
  fc.bigInt({ min: 2n ** 53n + 1n, max: 2n ** 200n }).map(String),
  fc.bigInt({ min: 2n ** 70n, max: 2n ** 90n }).map((digits) => `-0.${digits}1`),
);

/** Texts that break readers: line ends, quotes, control characters, lone surrogates, formulas, escapes. */
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
/**
 * Whether the JSON.parse of this Node reads all names. That of Node 24 does not: after a name with a backslash, it reads the name
 * `"` as that name.
 */
const namesParse = Number(process.versions.node.split(".")[0]) < 24;
export const names = fc.oneof(
  texts.filter((text) => namesParse || !text.includes("\\")),
  fc.constantFrom("__proto__", "constructor", "toString", "toJSON", "hasOwnProperty", "0"),
);
export const exactNumbers = exactTexts.map((text) => new ExactNumber(text));
/** Numbers as parseJson returns them: integers are safe. There is no -0, because JSON.stringify writes it as 0. */
export const numbers = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
);

/** Objects as JSON.parse returns them: `__proto__` is an ordinary name. */
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
