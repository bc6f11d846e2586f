import type { Problem } from "../../errors.js";
import { gotText, looksLikeKey } from "../../job/findings.js";
import { isNamedLikeKey, nearestName } from "../../job/schema/shapes.js";
import { type Command, meaningOf, type Options } from "../command.js";
import { globalOptions } from "./global-options.js";
import { placeProblems } from "./place-problems.js";
import { type Flag, isSwitch, type Line } from "./read-line.js";

/** Every problem of a command line that can be told before the command starts. `isThere` asks for a file of that name. */
export function checkLine(line: Line, command: Command, isThere: (path: string) => boolean): readonly Problem[] {
  const options = { ...globalOptions, ...command.options };
  const unknown = unknownFlags(line.flags, options, commandNameOf(command));
  return [
    ...unknown,
    ...line.flags.flatMap((flag) => valueProblems(flag, options)),
    ...repeatedFlags(line.flags, options),
    ...conflictingFlags(line.flags, options),
    // An argument may be the value of an unknown flag, so that nobody can tell whether one is missing.
    ...(unknown.length > 0 ? [] : placeProblems(line.places, command, isThere)),
  ];
}

/** `run` of `run [job]`. */
function commandNameOf({ name }: Pick<Command, "name">): string {
  return name.split(" ")[0] ?? "";
}

/** The flags that no option stands for. */
function unknownFlags(flags: readonly Flag[], options: Options, command: string): readonly Problem[] {
  const written = new Set(flags.filter(({ name }) => name === undefined).map((flag) => flag.written));
  return [...written].map((flag) => ({ path: "", message: unknownText(flag, options, command) }));
}

function unknownText(written: string, options: Options, command: string): string {
  const name = written.replace(/^-+/, "");
  const shown = /^[\w-]{1,60}$/.test(written) && !looksLikeKey(written) ? written : gotText(written, []);
  if (isNamedLikeKey(name))
    return `unknown flag ${shown}; the key is never on the command line: put it in the environment, as KNOWLEDGE_API_KEY`;
  const nearest = name.length > 1 ? nearestName(name, Object.keys(options)) : undefined;
  if (nearest) return `unknown flag ${shown}; did you mean --${nearest}?`;
  return `unknown flag ${shown}; kbdump ${command} --help lists the flags`;
}

function valueProblems({ name, written, value }: Flag, options: Options): readonly Problem[] {
  const option = name === undefined ? undefined : options[name];
  if (option === undefined) return [];
  const path = name === undefined ? written : `--${name}`;
  const got = value === undefined ? "nothing" : gotText(value, []);
  const choices = isSwitch(option) ? ["true", "false"] : option.choices;
  const isLacking = value === undefined && !isSwitch(option) && !option.valueIsOptional;
  if (choices && (isLacking || (value !== undefined && !choices.includes(value))))
    return [{ path, message: `got ${got}, expected ${listText(choices)}` }];
  if (isLacking || (!isSwitch(option) && looksLikeFlag(value)))
    return [{ path, message: `expected a value: ${meaningOf(option)}` }];
  return [];
}

/** A word that begins with a dash is a forgotten value and the next flag; `--out=-x` still says it. */
function looksLikeFlag(value: string | undefined): boolean {
  return value !== undefined && /^-[^\d.]/.test(value);
}

function repeatedFlags(flags: readonly Flag[], options: Options): readonly Problem[] {
  const names = flags.flatMap(({ name }) => (name === undefined ? [] : [name]));
  return Object.entries(options)
    .filter(([name, option]) => !isSwitch(option) && !option.array && names.filter((one) => one === name).length > 1)
    .map(([name]) => ({ path: `--${name}`, message: "given more than once" }));
}

function conflictingFlags(flags: readonly Flag[], options: Options): readonly Problem[] {
  const given = new Set(flags.filter(({ value }) => value !== "false").map(({ name }) => name));
  return Object.entries(options)
    .filter(([name, { conflicts }]) => conflicts !== undefined && given.has(name) && given.has(conflicts))
    .map(([name, { conflicts }]) => ({ path: `--${name}`, message: `not together with --${conflicts}` }));
}

/** `a, b or c`. */
function listText(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
