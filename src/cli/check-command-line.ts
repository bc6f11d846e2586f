import { parseEnv } from "node:util";
import { type Problem, UsageError } from "../errors.js";
import { gotText } from "../job/got-text.js";
import { readText } from "../job/read-key.js";
import { isNamedLikeKey, nearestName } from "../job/schema/shapes.js";
import { looksLikeKey } from "../safe-text.js";
import { listText } from "../words.js";
import { type Command, commonOptions, meaningOf, type Options, type Positional } from "./command.js";
import { type Flag, globalOptions, isSwitch, type Line, type PlainArgument } from "./parse-command-line.js";

/** Finds every problem of a command line before the command starts. `isThere` returns whether a file exists. */
export function checkLine(line: Line, command: Command, isThere: (path: string) => boolean): readonly Problem[] {
  const options = { ...globalOptions, ...command.options, ...commonOptions };
  const unknown = unknownFlags(line.flags, options, commandNameOf(command));
  return [
    ...unknown,
    ...line.flags.flatMap((flag) => valueProblems(flag, options)),
    // Not after an unknown flag: an argument that seems to be missing may have been read as the value of that flag.
    ...(unknown.length > 0 ? [] : argumentProblems(line.plainArguments, command, isThere)),
    ...brokenRules(line.flags, options, unknown.length === 0),
  ];
}

/** `run` of `run [job]`. */
function commandNameOf({ name }: Pick<Command, "name">): string {
  return name.split(" ")[0] ?? "";
}

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
    return [{ path, message: `got ${got}, expected ${listText(choices, "or")}` }];
  if (isLacking || (!isSwitch(option) && looksLikeFlag(value)))
    return [{ path, message: `expected a value: ${meaningOf(option)}` }];
  return [];
}

/** Whether a value looks like the next flag: then the value was probably forgotten. `--out=-x` still works. */
function looksLikeFlag(value: string | undefined): boolean {
  return value !== undefined && /^-[^\d.]/.test(value);
}

/** Flags that are given twice, exclude each other, lack the flag that they need, or are missing. */
function brokenRules(flags: readonly Flag[], options: Options, areKnown: boolean): readonly Problem[] {
  const names = flags.flatMap(({ name }) => name ?? []);
  const on = new Set(flags.flatMap(({ name, value }) => (name === undefined || value === "false" ? [] : [name])));
  return Object.entries(options).flatMap(([name, option]) => {
    const { conflicts = "", needs, array, demandOption } = option;
    const isRepeated = !isSwitch(option) && !array && names.filter((one) => one === name).length > 1;
    const messages = [
      isRepeated && "given more than once",
      on.has(name) && on.has(conflicts) && `not together with --${conflicts}`,
      on.has(name) && needs !== undefined && !on.has(needs) && `only together with --${needs}`,
      areKnown && demandOption && !names.includes(name) && `missing: ${meaningOf(option)}`,
    ];
    return messages.flatMap((message) => (message ? [{ path: `--${name}`, message }] : []));
  });
}

/** Problems of the positional arguments: missing, or too many. */
function argumentProblems(
  plainArguments: readonly PlainArgument[],
  command: Command,
  isThere: (path: string) => boolean,
): readonly Problem[] {
  const stray = plainArguments.filter(
    (plainArgument) => isStray(plainArgument, command) && !isThere(plainArgument.text),
  );
  if (stray.length > 0) return strayProblems(stray);
  const declared = Object.entries(command.positionals);
  const isOpen = declared.some(([, { array }]) => array);
  if (plainArguments.length > declared.length && !isOpen)
    return plainArguments
      .slice(declared.length)
      .map((plainArgument) => ({ path: "", message: surplusText(plainArgument, command) }));
  return declared
    .slice(plainArguments.length)
    .filter(([, { demandOption }]) => demandOption)
    .map(([name, positional]) => ({ path: "", message: `<${name}> is missing: ${missingText(positional, command)}` }));
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether an argument was meant as another value of the flag before it, like `parquet` in `--format csv parquet`. */
function isStray({ text, after }: PlainArgument, { options }: Command): boolean {
  const option = after?.name === undefined ? undefined : options[after.name];
  if (option?.array !== true) return false;
  const { values } = option;
  return text.split(",").every((one) => (values ? values.includes(one) : uuid.test(one)));
}

function strayProblems(stray: readonly PlainArgument[]): readonly Problem[] {
  const flags = new Set(stray.flatMap(({ after }) => after ?? []));
  return [...flags].map((flag) => {
    const more = stray.filter(({ after }) => after === flag).map(({ text }) => text);
    const path = `--${flag.name}`;
    return { path, message: `write ${path} ${[flag.value, ...more].join(",")}` };
  });
}

function surplusText({ text, after }: PlainArgument, { name, options }: Command): string {
  const unexpected = `unexpected argument ${gotText(text, [])}`;
  if (wantsEquals(after, options))
    return `${unexpected}; a value of --${after?.name} follows =, as in --${after?.name}=PATH`;
  return `${unexpected}; expected kbdump ${name}`;
}

function wantsEquals(flag: Flag | undefined, options: Command["options"]): boolean {
  return flag?.name !== undefined && flag.value === undefined && options[flag.name]?.valueIsOptional === true;
}

function missingText({ describe }: Positional, { epilog }: Command): string {
  const [example] = /(?<=^ *)kbdump .*$/m.exec(epilog) ?? [];
  return `${describe}${example ? `. Example: ${example}` : ""}`;
}

/** The error for a line that does not start with a command. */
export function unknownCommand(name: string, known: readonly string[]): UsageError {
  const unknown = `unknown command ${/^[\w-]{1,60}$/.test(name) && !looksLikeKey(name) ? name : gotText(name, [])}`;
  if (Object.hasOwn(globalOptions, name)) return new UsageError(`${unknown}; did you mean kbdump --${name}?`, []);
  if (/\.(ya?ml|json)$/i.test(name))
    return new UsageError(`${unknown}; did you mean kbdump run ${gotText(name, [])}?`, []);
  const nearest = nearestName(name, [...known, "help"]);
  const advice = nearest ? `did you mean ${nearest}?` : `expected one of ${known.join(", ")}`;
  return new UsageError(`${unknown}; ${advice}`, []);
}

/** The error for a line without a command. */
export function noCommand(known: readonly string[]): UsageError {
  return new UsageError(`no command; expected one of ${known.join(", ")}. kbdump --help describes them`, []);
}

/**
 * The environment plus the variables of these files. A later file overrides an earlier one; variables that are already set
 * override all files. Throws UsageError if a file cannot be read.
 */
export async function withEnvFiles(env: NodeJS.ProcessEnv, files: readonly string[]): Promise<NodeJS.ProcessEnv> {
  const texts = await Promise.all(files.map((file) => readText(file, "the environment file")));
  return Object.assign({}, ...texts.map((text) => parseEnv(text)), env);
}
