import { isSafeNumber, parse } from "lossless-json";

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

/** Cheap signs of a number that may not survive: many digits in a row, or an exponent. They occur in strings, too. */
const suspicious = /-?\d[\d.]{15,}(?:[eE][+-]?\d+)?|(?<=[:,[]\s*)-?\d[\d.]*[eE][+-]?\d+/g;

/** JSON.parse that rounds no number: what a double cannot hold becomes an ExactNumber. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  for (const [candidate] of text.matchAll(suspicious)) {
    if (!isSafeNumber(candidate)) return parseExactly(text);
  }
  return JSON.parse(text);
}

function parseExactly(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: (number) => (isSafeNumber(number) ? Number(number) : new ExactNumber(number)),
    onDuplicateKey: ({ newValue }) => newValue,
  });
}
