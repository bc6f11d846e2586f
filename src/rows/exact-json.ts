import { createRequire } from "node:module";
import type * as losslessJson from "lossless-json";

const require = createRequire(import.meta.url);
let loaded: typeof losslessJson | undefined;

/** Loads the library for the first number that needs it; most services never send one. */
function library(): typeof losslessJson {
  loaded ??= require("lossless-json") as typeof losslessJson;
  return loaded;
}

/** A number that JavaScript would round, kept as the text that the service sent. */
export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  /** Marks JSON text that `jsonText` has to write again with the exact number: lone surrogates occur in no sound text. */
  toJSON(): string {
    return "\ud800";
  }
}

/**
 * Finds numbers that JSON.parse may round: sixteen digits or more, or an exponent. It also matches inside
 * strings. Nothing looks back, which would take minutes for a megabyte of blanks.
 */
const suspicious = /[:,[]\s*(-?\d(?:[\d.]{15}|[\d.]*[eE])[-+\d.eE]*)/g;

/** JSON.parse that rounds no number: what a double cannot hold becomes an ExactNumber. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  if (/^\s*[-\d]/.test(text)) return parseExactly(text); // a number alone, with nothing before it
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
 * JSON text of a value, on one line: exact numbers as the service wrote them, and a lone surrogate, which no reader of
 * JSON takes, as U+FFFD. JSON.stringify marks both cases with an escape that sound text never has.
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
