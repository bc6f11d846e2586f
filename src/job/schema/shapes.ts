import leven from "leven";
import * as v from "valibot";
import { expectationOf, isMapping } from "../../schema.js";

const uuidText = "a UUID, 8-4-4-4-12 hexadecimal digits";

/** Valid job names. They name the job's folder and database. */
export const jobName = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** A UUID in any case, converted to lower case. */
export const uuid = v.pipe(
  v.string(uuidText),
  v.regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, uuidText),
  v.toLowerCase(),
);

export const all = v.literal("all", "the word all");

/** A non-empty text; `expected` describes it. */
export function text(expected: string) {
  return v.pipe(v.string(expected), v.nonEmpty(expected));
}

/** A path valid for the operating system. The file need not exist. */
export function filePath(expected: string) {
  return v.pipe(text(expected), v.check(hasNoControls, expected));
}

/** A whole number from `min` to `max`, inclusive. */
export function wholeNumber(min: number, max: number, what = "a whole number") {
  const expected = `${what} from ${min} to ${max}`;
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(min, expected), v.maxValue(max, expected));
}

/** A number above 0, possibly with a fraction. */
export function positiveNumber(max: number, what = "a number") {
  const expected = `${what} above 0, at most ${max}`;
  return v.pipe(v.number(expected), v.gtValue(0, expected), v.maxValue(max, expected));
}

const memoryText = "a size such as 800MB or 2GB";

/** A memory size as DuckDB writes it, such as `800MB`. */
export const memorySize = v.pipe(v.string(memoryText), v.regex(/^[1-9]\d*(\.\d+)? ?[KMGTkmgt][iI]?[bB]$/, memoryText));

/** true or false. yes and no are strings in YAML 1.2. */
export const trueOrFalse = v.boolean("true or false");

function hasNoControls(path: string): boolean {
  return !/\p{Cc}/u.test(path);
}

/** A list of distinct texts. `name` is the name of the list, `noun` of an item; `expected` describes the list. */
export function list<const Item extends v.GenericSchema<unknown, string>>(
  name: string,
  noun: string,
  expected: string,
  item: Item,
) {
  return v.pipe(
    v.array(item, expected),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!Array.isArray(dataset.value)) return;
      const input: unknown[] = dataset.value;
      for (const { key, first } of repeats(input)) {
        const message = `each ${noun} once; ${name}[${first}] is the same`;
        addIssue({ message, path: [{ type: "array", origin: "value", input, key, value: input[key] }] });
      }
    }),
    v.metadata({ uniqueItems: true }),
  );
}

/**
 * A mapping with exactly these entries. Each unknown key is a separate issue (`expected: "never"`). A missing key is reported with
 * the expectation of its entry.
 */
export function mapping<const Entries extends v.ObjectEntries>(expected: string, entries: Entries) {
  const names = Object.keys(entries);
  const object = v.strictObject(entries, (issue) =>
    issue.expected === "never" ? unknownKeyText(issue.input, names) : (expectationOf(entries, issue) ?? issue.message),
  );
  return v.pipe(
    // strictObject also accepts arrays, so anything but a mapping is rejected here.
    v.custom<v.InferInput<typeof object>>(isMapping, expected),
    object,
    // strictObject reports only one unknown key; the others are added here.
    v.rawCheck(({ dataset, addIssue }) => {
      const place = dataset.issues?.find(({ expected, path }) => expected === "never" && path?.length === 1)?.path?.[0];
      if (place?.type !== "object") return;
      const others = Object.keys(place.input).filter((key) => key !== place.key && !Object.hasOwn(entries, key));
      for (const key of others) {
        addIssue({ expected: "never", message: unknownKeyText(key, names), path: [{ ...place, key }] });
      }
    }),
  );
}

/** An item that already occurred in the list. */
interface Repeat {
  readonly key: number;
  readonly first: number;
}

/** Finds every text of a list that repeats an earlier one. Ignores anything that is not text. */
export function repeats(items: readonly unknown[]): readonly Repeat[] {
  const firsts = new Map<string, number>();
  return items.flatMap((item, key) => {
    if (typeof item !== "string") return [];
    const first = firsts.get(item);
    if (first !== undefined) return [{ key, first }];
    firsts.set(item, key);
    return [];
  });
}

/** The known name that a misspelt one most likely means: a few letters off, or part of it; undefined if none is close. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  const ranked = known.map((candidate) => ({ candidate, distance: distanceOf(given, plain(candidate)) }));
  const [best] = ranked.sort((a, b) => a.distance - b.distance);
  if (best && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))) return best.candidate;
  const parts = known.filter((candidate) => isPart(given, plain(candidate)));
  return parts.length === 1 ? parts[0] : undefined;
}

/** The number of typos between two names. Two swapped letters count as one. */
function distanceOf(given: string, candidate: string): number {
  const distance = leven(given, candidate);
  return distance === 2 && sorted(given) === sorted(candidate) ? 1 : distance;
}

function isPart(given: string, candidate: string): boolean {
  const [short, long] = given.length < candidate.length ? [given, candidate] : [candidate, given];
  return short.length >= 3 && long.startsWith(short);
}

function sorted(text: string): string {
  return [...text].sort().join("");
}

/** A name in the form for comparison: Base-url, baseUrl and base_url become the same. */
function plain(name: string): string {
  return name.slice(0, 100).toLowerCase().replace(/[-_ ]/g, "");
}

/** Says what to do about an unknown key: the nearest known name, or all of them. Never shows its value. */
export function unknownKeyText(key: unknown, known: readonly string[]): string {
  const name = String(key).slice(0, 100);
  if (isNamedLikeKey(name))
    return "the key itself is never in the file: use api_key_env, api_key_file or api_key_command";
  const nearest = nearestName(name, known);
  return nearest ? `unknown key; did you mean ${nearest}?` : `unknown key; expected one of ${known.join(", ")}`;
}

/** Whether a name suggests the key itself, such as api_key or --token. */
export function isNamedLikeKey(name: string): boolean {
  const plain = name.slice(0, 100).toLowerCase().replace(/[-_ ]/g, "");
  return /^(api|access|auth|bearer|secret)?(key|token|password|secret|authorization)$/.test(plain);
}
