import * as v from "valibot";
import type { Problem } from "./errors.js";

/** Whether a value is a plain object: a YAML mapping or JSON object, not a list or a date. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** An object with at least these entries. Others are removed. */
export function object<const Entries extends v.ObjectEntries>(entries: Entries) {
  const inner = v.object(entries, (issue) => expectationOf(entries, issue) ?? "an object");
  return v.pipe(v.custom<v.InferInput<typeof inner>>(isMapping, "an object"), inner);
}

/** An object with at least these entries. Others are kept. */
export function openObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  const inner = v.looseObject(entries, (issue) => expectationOf(entries, issue) ?? "an object");
  return v.pipe(v.custom<v.InferInput<typeof inner>>(isMapping, "an object"), inner);
}

/** The value that a missing entry should have had, for the message of its issue. */
export function expectationOf(entries: v.ObjectEntries, issue: v.BaseIssue<unknown>): string | undefined {
  const entry = entries[String(issue.path?.[0].key)];
  return entry && v.safeParse(entry, undefined).issues?.[0].message;
}

export const text = v.string("a text");
export const truth = v.boolean("true or false");
const countText = "a whole number from 0";
export const count = v.pipe(
  v.number(countText),
  v.integer(countText),
  v.safeInteger(countText),
  v.minValue(0, countText),
);
/** Bytes, seconds or rates; may have a fraction. */
export const amount = v.pipe(v.number(), v.minValue(0));
/** A part of the whole, from 0 to 1. */
export const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

/** An object of a result with exactly these entries. Unknown values are null, never absent. */
export const result = v.strictObject;
export const orNull = v.nullable;

/** A text that matches a regular expression. */
export function pattern(expected: string, regexp: RegExp) {
  return v.pipe(v.string(expected), v.regex(regexp, expected));
}

/** One of these words. */
export function oneOf<const Words extends readonly string[]>(...words: Words) {
  return v.picklist(words, words.join(" or "));
}

export function listOf<const Item extends v.GenericSchema>(item: Item) {
  return v.pipe(v.array(item, "a list"), v.readonly());
}

/** Checks a value against a schema. Returns the typed value, or every problem with its path. */
export function check<const Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): { readonly value: v.InferOutput<Schema>; readonly problems: null } | { readonly problems: readonly Problem[] } {
  const result = v.safeParse(schema, value);
  if (result.success) return { value: result.output, problems: null };
  const problems = new Map<string, Problem>();
  for (const issue of result.issues) {
    const path = (v.getDotPath(issue) ?? "").replace(/\.(\d+)(?=\.|$)/g, "[$1]");
    const message = `got ${shownText(issue.input)}, expected ${issue.message}`;
    if (!problems.has(path)) problems.set(path, { path, message }); // each step of a check reports the same expectation: keep it once
  }
  return { problems: [...problems.values()] };
}

/** The value if it matches a schema, otherwise undefined. For files that count as missing if invalid. */
export function valueIf<const Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> | undefined {
  const result = v.safeParse(schema, value);
  return result.success ? result.output : undefined;
}

function shownText(value: unknown): string {
  return value === undefined ? "nothing" : (JSON.stringify(value)?.slice(0, 80) ?? typeof value);
}
