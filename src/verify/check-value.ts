import type { Problem } from "../errors.js";

/** unknown → T; throws CheckError with everything that is wrong. */
export type Check<T> = (value: unknown, path: string) => T;

export class CheckError extends Error {
  override readonly name = "CheckError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super("the value is not as expected");
    this.problems = problems;
  }
}

/** A value of which a guard is true; `expected` says what that is. */
export function value<T>(expected: string, isIt: (value: unknown) => value is T): Check<T> {
  return (given, path) => {
    if (isIt(given)) return given;
    throw new CheckError([{ path, message: `got ${gotText(given)}, expected ${expected}` }]);
  };
}

function gotText(given: unknown): string {
  return given === undefined ? "nothing" : (JSON.stringify(given)?.slice(0, 80) ?? typeof given);
}

export const text = value("a text", (given) => typeof given === "string");
export const truth = value("true or false", (given) => typeof given === "boolean");
export const count = value(
  "a whole number from 0",
  (given): given is number => Number.isSafeInteger(given) && Number(given) >= 0,
);
/** Whatever is there, or nothing. */
export const anything: Check<unknown> = (given) => given;
const mapping = value(
  "an object",
  (given): given is Readonly<Record<string, unknown>> =>
    typeof given === "object" && given !== null && !Array.isArray(given),
);

/** A text that matches. */
export function pattern(expected: string, regexp: RegExp): Check<string> {
  return value(expected, (given): given is string => typeof given === "string" && regexp.test(given));
}

/** One of these words. */
export function oneOf<const Word extends string | number>(...words: readonly Word[]): Check<Word> {
  return value(words.join(" or "), (given): given is Word => words.some((word) => word === given));
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (given, path) => (given === null ? null : check(given, path));
}

/** What takes the place of a member that is not there. */
export function orElse<T>(check: Check<T>, absent: T): Check<T> {
  return (given, path) => (given === undefined ? absent : check(given, path));
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  const list = value("a list", (given): given is readonly unknown[] => Array.isArray(given));
  return (given, path) => allOf(list(given, path).map((item, at) => () => check(item, `${path}[${at}]`)));
}

/** An object with any names. */
export function recordOf<T>(check: Check<T>): Check<Readonly<Record<string, T>>> {
  return (given, path) => {
    const entries = Object.entries(mapping(given, path));
    return Object.fromEntries(
      allOf(
        entries.map(
          ([name, item]) =>
            () =>
              [name, check(item, `${path}.${name}`)] as const,
        ),
      ),
    );
  };
}

/** An object with at least these members; others are left out. */
export function object<Members extends object>(
  members: { readonly [Name in keyof Members]: Check<Members[Name]> },
): Check<Members> {
  return (given, path) => {
    const found = mapping(given, path);
    const names = Object.keys(members) as (keyof Members & string)[];
    const entries = allOf(
      names.map((name) => () => [name, members[name](found[name], path === "" ? name : `${path}.${name}`)] as const),
    );
    return Object.fromEntries(entries) as Members; // every member has passed its check
  };
}

/** Runs every check and throws one CheckError with the problems of all. */
function allOf<T>(checks: readonly (() => T)[]): readonly T[] {
  const problems: Problem[] = [];
  const values: T[] = [];
  for (const check of checks) {
    try {
      values.push(check());
    } catch (error) {
      if (!(error instanceof CheckError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new CheckError(problems);
  return values;
}
