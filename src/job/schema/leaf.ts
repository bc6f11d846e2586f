import * as v from "valibot";

const uuidText = "a UUID, 8-4-4-4-12 hexadecimal digits";

/** A UUID in any case; it comes out in lower case. */
export const uuid = v.pipe(
  v.string(uuidText),
  v.regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, uuidText),
  v.toLowerCase(),
);

/** The word all. */
export const all = v.literal("all", "the word all");

/** Text that is not empty; `expected` says of what. */
export function text(expected: string) {
  return v.pipe(v.string(expected), v.nonEmpty(expected));
}

/** A path that can be given to the operating system. Nothing is looked up. */
export function filePath(expected: string) {
  return v.pipe(text(expected), v.check(hasNoControls, expected));
}

/** A whole number within bounds, both included. */
export function wholeNumber(min: number, max: number, what = "a whole number") {
  const expected = `${what} from ${min} to ${max}`;
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(min, expected), v.maxValue(max, expected));
}

/** A number above 0, fractions included. */
export function positiveNumber(max: number, what = "a number") {
  const expected = `${what} above 0, at most ${max}`;
  return v.pipe(v.number(expected), v.gtValue(0, expected), v.maxValue(max, expected));
}

const memoryText = "a size such as 800MB or 2GB";

/** Memory for DuckDB, as DuckDB reads it. */
export const memorySize = v.pipe(v.string(memoryText), v.regex(/^[1-9]\d*(\.\d+)? ?[KMGTkmgt][iI]?[bB]$/, memoryText));

/** true or false. The words yes and no are texts in YAML 1.2. */
export const trueOrFalse = v.boolean("true or false");

function hasNoControls(path: string): boolean {
  return !/\p{Cc}/u.test(path);
}
