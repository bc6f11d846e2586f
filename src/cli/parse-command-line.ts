import { parseArgs } from "node:util";
import type { Argv } from "yargs";
import { type Problem, UsageError } from "../errors.js";
import { type Command, commonOptions, type Option, type Options } from "./command.js";

/** A flag of a command line. */
export interface Flag {
  /** The flag as the user wrote it, without its value: `--base-url`, `-o`. */
  readonly written: string;
  /** The option's name; undefined if the command has no such option. */
  readonly name: string | undefined;
  /** The value that the user gave; undefined if there is none. */
  readonly value: string | undefined;
}

export interface PlainArgument {
  readonly text: string;
  /** The position of this argument among all arguments, from 0. */
  readonly index: number;
  /** The flag before it on the line, whose value it may have been meant to be. */
  readonly after: Flag | undefined;
}

/** A command line, split by the options of its command but not checked. */
export interface Line {
  readonly flags: readonly Flag[];
  readonly plainArguments: readonly PlainArgument[];
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

/** Whether a flag takes no value: it means true, or false with `--no-`. */
export function isSwitch({ type }: Option): boolean {
  return type === "boolean";
}

/** Splits a command line by POSIX and GNU rules: `--out x`, `--out=x`, `-o x`, `-ox`, `-qo x`, `--no-json`, `--`. */
export function readLine(args: readonly string[], options: Options): Line {
  const names = namesOf(options);
  const switches = [...names].map(
    ([name, { option, letter }]) => [name, { type: kindOf(option), ...(letter ? { short: name } : {}) }] as const,
  );
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(switches),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return joinTokens(tokens, args, names);
}

interface Named {
  readonly name: string;
  readonly option: Option;
  readonly letter: boolean;
}

/** Every spelling of every option. */
function namesOf(options: Options): ReadonlyMap<string, Named> {
  const spellings = Object.entries(options).flatMap(([name, option]) => {
    const spelled = [name, ...[option.alias ?? []].flat()];
    return spelled.map((spelling) => [spelling, { name, option, letter: spelling !== name }] as const);
  });
  return new Map(spellings);
}

function kindOf(option: Option): "boolean" | "string" {
  return isSwitch(option) || option.valueIsOptional ? "boolean" : "string";
}

function joinTokens(tokens: readonly Token[], args: readonly string[], names: ReadonlyMap<string, Named>): Line {
  const flags: Flag[] = [];
  const plainArguments: PlainArgument[] = [];
  for (const [at, token] of tokens.entries()) {
    const [before, last] = [tokens[at - 1], flags.at(-1)];
    if (token.kind === "option" && /\s/.test(token.name)) {
      plainArguments.push({ text: args[token.index] ?? "", index: token.index, after: last }); // SQL may start with a comment
    } else if (token.kind === "option") {
      const flag = flagOf(token, args[token.index] ?? "", names);
      if (flag.name !== undefined || before?.index !== token.index) flags.push(flag);
    } else if (token.kind === "positional") {
      const isValue = last !== undefined && before?.kind === "option" && takesWord(last, token.value, names);
      if (isValue) flags[flags.length - 1] = { ...last, value: token.value };
      else plainArguments.push({ text: token.value, index: token.index, after: last });
    }
  }
  return { flags, plainArguments };
}

type OptionToken = Extract<Token, { kind: "option" }>;

function flagOf(token: OptionToken, arg: string, names: ReadonlyMap<string, Named>): Flag {
  const isShort = !token.rawName.startsWith("--");
  if (isShort && lettersOf(arg, names).some((letter) => !names.has(letter)))
    return { written: arg, name: undefined, value: undefined }; // -json for --json: report one wrong word, not four wrong letters
  const named = names.get(token.name);
  if (named)
    return { written: token.rawName, name: named.name, value: isShort ? token.value?.replace(/^=/, "") : token.value };
  const negated = token.name.startsWith("no-") ? names.get(token.name.slice(3)) : undefined;
  if (negated && isSwitch(negated.option) && token.value === undefined)
    return { written: token.rawName, name: negated.name, value: "false" };
  return { written: token.rawName, name: undefined, value: token.value };
}

/** The letters of `-qo/backup` up to the one that takes the rest as its value. */
function lettersOf(arg: string, names: ReadonlyMap<string, Named>): readonly string[] {
  const letters = [...(arg.slice(1).split("=")[0] ?? "")];
  const takesRest = (letter: string) => {
    const option = names.get(letter)?.option;
    return option !== undefined && kindOf(option) === "string";
  };
  const end = letters.findIndex(takesRest);
  return end < 0 ? letters : letters.slice(0, end + 1);
}

/** Whether the next word is the value of a switch: `--json true` is read as `--json=true`. */
function takesWord({ name, value }: Flag, text: string, names: ReadonlyMap<string, Named>): boolean {
  const option = names.get(name ?? "")?.option;
  return option !== undefined && isSwitch(option) && value === undefined && /^(true|false)$/.test(text);
}

/** The arguments of a command, and the problems with those that cannot be read. */
interface Given {
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/** The arguments of a command from a checked line, under their names in code: `--base-url x` is `baseUrl: "x"`. */
export async function argumentsFrom(
  { flags, plainArguments }: Line,
  { options, positionals }: Command,
  env: NodeJS.ProcessEnv,
): Promise<Given> {
  const texts = plainArguments.map(({ text }) => text);
  const placed = Object.entries(positionals).map(([name, { array, default: otherwise, read }], at) => {
    const value = array ? texts.slice(at) : (texts[at] ?? otherwise);
    return { name, path: `<${name}>`, value, read };
  });
  const flagged = Object.entries({ ...options, ...commonOptions }).map(([name, option]: [string, Option]) => {
    const given = flags.filter((flag) => flag.name === name).map(({ value }) => value);
    const value = given.length > 0 ? valueFrom(given, option) : option.default;
    return { name: camelCase(name), path: `--${name}`, value, read: option.read };
  });
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const { name, path, value, read } of [...placed, ...flagged]) {
    const found = read && typeof value === "string" ? await read(value, path, env) : value;
    if (isProblem(found)) problems.push(found);
    else values[name] = found;
  }
  return { values, problems };
}

/** Whether a value is a problem with the text that it was read from. */
export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "path" in value && "message" in value;
}

function valueFrom(given: readonly (string | undefined)[], option: Option) {
  if (isSwitch(option)) return given.at(-1) !== "false";
  const texts = given.map((value) => value ?? "");
  return option.array ? texts : texts.at(-1);
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Flags that the program handles before any command. */
export const globalOptions = {
  help: { type: "boolean", alias: "h", group: "Every command", describe: "show this help" },
  version: { type: "boolean", alias: ["V", "v"], group: "Every command", describe: "print the version" },
} as const satisfies Options;

/** The error for a wrong command line, with one problem or several. */
export function wrongLine(problems: readonly Problem[]): UsageError {
  const [first] = problems;
  if (first === undefined || problems.length > 1)
    return new UsageError(`${problems.length} problems with the command line:`, problems);
  return new UsageError(first.path === "" ? first.message : `${first.path}: ${first.message}`, problems, []);
}

/** The text that yargs prints for a command line. */
export async function outputOf(parser: Argv, args: readonly string[]): Promise<string> {
  let text = "";
  await parser.parseAsync(args, {}, (_error, _parsed, output) => {
    text = output;
  });
  return text;
}
