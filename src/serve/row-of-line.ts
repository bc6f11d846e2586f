import { StopError } from "../errors.js";
import { parseJson } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";

/** The row of a line of JSONL, no number of it rounded; StopError, with its number from 1, when it is none. */
export function rowOfLine(
  line: Buffer,
  fileName: string,
  number: number,
  parse: (text: string) => unknown = parseJson,
): Row {
  try {
    const value = parse(line.toString("utf8"));
    if (isObject(value)) return value;
  } catch {
    // said below; a SyntaxError would quote the line
  }
  throw noRow(fileName, number, "is no JSON object");
}

/** Says that a row is not as a run leaves it. */
export function noRow(fileName: string, number: number, message: string): StopError {
  return new StopError(`${fileName}: row ${number} ${message}; kbdump verify tells more`);
}

function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
