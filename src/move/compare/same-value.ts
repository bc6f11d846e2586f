import { ExactNumber } from "../../rows/exact-json.js";
import { isMapping } from "../../schema.js";

/**
 * Whether two values say the same thing, maybe in other words: null, an absent member, and an empty text, list or object are all
 * nothing, and the order of members means nothing.
 */
export function isSameValue(one: unknown, other: unknown): boolean {
  return plainText(one) === plainText(other);
}

/** Whether a value is nothing, in any of these words. */
export function isNothing(value: unknown): boolean {
  return plainText(value) === "";
}

/** The same for values of metadata: a service may show a number as its text. */
export function isSameMetadata(one: unknown, other: unknown): boolean {
  return isSameValue(one, other) || isTextOf(one, other) || isTextOf(other, one);
}

function isTextOf(text: unknown, number: unknown): boolean {
  if (typeof text !== "string" || text.trim() === "") return false;
  return number instanceof ExactNumber ? number.text === text.trim() : Number(text) === number;
}

/**
 * The members that differ, as paths such as `rules.segmentation.max_tokens`. With `onlyKnown`, members that are nothing in `one` do not
 * count: a newer service shows members that an older one did not have.
 */
export function differingMembers(one: unknown, other: unknown, onlyKnown: boolean): readonly string[] {
  const [left, right] = [membersOf(one), membersOf(other)];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].flatMap((name) => {
    const [mine, theirs] = [left[name], right[name]];
    if (isSameValue(mine, theirs) || (onlyKnown && isNothing(mine))) return [];
    if (!isMapping(mine) || !isMapping(theirs)) return [name];
    return differingMembers(mine, theirs, onlyKnown).map((path) => `${name}.${path}`);
  });
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}

/** JSON text with members in the order of their names, and without those that are nothing; the empty text for nothing. */
function plainText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return value.length === 0 ? "" : `[${value.map(plainText).join(",")}]`;
  if (!isMapping(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .map(([name, member]) => [name, plainText(member)] as const)
    .filter(([, text]) => text !== "")
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return members.length === 0 ? "" : `{${members.join(",")}}`;
}
