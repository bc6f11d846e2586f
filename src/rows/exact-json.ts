import { createRequire } from "node:module";
import type * as losslessJson from "lossless-json";

const require = createRequire(import.meta.url);
let loaded: typeof losslessJson | undefined;

/** The library for exact numbers. It is loaded for the first number that needs it, because most services never send one. */
function library(): typeof losslessJson {
  loaded ??= require("lossless-json") as typeof losslessJson;
  return loaded;
}

/** A number that JavaScript would round, stored as the service's text. */
export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /**
   * The text that JSON.stringify writes for this number: a lone surrogate, which never occurs in valid text. It tells `jsonText` to
   * write the exact number.
   */
  toJSON(): string {
    return "\ud800";
  }
}

/**
 * Finds numbers that JSON.parse may round: sixteen or more digits, or an exponent. May also match inside strings. It uses no
 * lookbehind, which would take minutes for a megabyte of spaces.
 */
const suspicious = /[:,[]\s*(-?\d(?:[\d.]{15}|[\d.]*[eE])[-+\d.eE]*)/g;

/** JSON.parse without rounding: a number that does not fit a double becomes an ExactNumber. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  if (/^\s*[-\d]/.test(text)) return parseExactly(text); // a bare number, which `suspicious` does not match
  for (const [, number = ""] of text.matchAll(suspicious)) {
    if (!library().isSafeNumber(number)) return parseExactly(text);
  }
  return JSON.parse(text);
}

function parseExactly(text: string): unknown {
  const { isSafeNumber, parse } = library();
  return parse(text, undefined, {
    parseNumber: (number) => (isSafeNumber(number) ? Number(number) : new ExactNumber(number)),
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/**
 * Converts a value to JSON text on one line. Exact numbers keep the service's digits, and a lone surrogate, which no JSON reader
 * accepts, becomes U+FFFD. Both appear as `\ud` in the output of JSON.stringify; a false match only costs time.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes("\\ud") ? exactText(value) : text;
}

function exactText(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactText).join(",")}]`;
  if (typeof value === "string") return JSON.stringify(value.toWellFormed());
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name.toWellFormed())}:${exactText(item)}`,
  );
  return `{${members.join(",")}}`;
}
