import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, relative } from "node:path";
import { arch, version as node, platform } from "node:process";
import { exitCodes } from "../errors.js";
import { openCopies } from "../store/bucket/copies.js";
import { tool } from "../tool.js";
import { bucketNames, withBucketNames } from "./bucket-names.js";
import { type Command, commonOptions, type Environment, type Surroundings } from "./command.js";
import { printResult } from "./output.js";
import { argumentsFrom, globalOptions, type Line, readLine, wrongLine } from "./parse-command-line.js";
import { openView, type View } from "./progress-view.js";
import { commandsIn, loadAll, type Registry } from "./registry.js";
import { jsonLine, pageFor } from "./text.js";

export const commands = commandsIn(new URL("../commands/", import.meta.url));

/** Flags allowed before the command. */
const leadingOptions = { ...globalOptions, ...commonOptions };

/** Runs a command line and returns its exit code. Rejects with the errors of errors.ts; UsageError for a wrong command line. */
export async function runCommandLine(
  args: readonly string[],
  environment: Surroundings,
  registry = commands,
): Promise<number> {
  if (args[0] === completionKey) return propose(args.slice(1), environment, registry);
  const leading = readLine(args, leadingOptions);
  const [first] = leading.plainArguments;
  if (first === undefined) return runWithoutCommand(args, leading, environment, registry);
  const others = args.toSpliced(first.index, 1);
  if (first.text === "help") return runCommandLine([...others, "--help"], environment, registry);
  const command = await registry.load(first.text);
  const invocation = () => ({ program: environment.program(), args });
  if (command) return runCommand(command, others, { ...environment, invocation });
  const { unknownCommand } = await import("./check-command-line.js");
  throw unknownCommand(first.text, registry.names());
}

/** The first argument when a shell's completion script asks for suggestions. The words of the line follow. */
const completionKey = "--get-yargs-completions";

async function propose(words: readonly string[], { stdout }: Surroundings, registry: Registry): Promise<number> {
  const { proposals } = await import("./completion.js");
  stdout.write(`${await proposals(words, await loadAll(registry))}\n`);
  return exitCodes.complete;
}

async function runWithoutCommand(
  args: readonly string[],
  line: Line,
  environment: Surroundings,
  registry: Registry,
): Promise<number> {
  if (isAsked(line, "version")) return answer(versionText(isAsked(line, "json")), environment);
  const asksHelp = isAsked(line, "help");
  if (args.length > 0 && !asksHelp) {
    const { noCommand } = await import("./check-command-line.js");
    throw noCommand(registry.names());
  }
  const { helpOfAll } = await import("./help.js");
  const all = await loadAll(registry);
  const reader = asksHelp ? environment.stdout : environment.stderr;
  reader.write(`${await helpOfAll(all, reader.columns)}\n`);
  return asksHelp ? exitCodes.complete : exitCodes.usage;
}

async function runCommand(
  command: Command,
  args: readonly string[],
  environment: Surroundings & Pick<Environment, "invocation">,
): Promise<number> {
  const line = readLine(args, { ...globalOptions, ...command.options, ...commonOptions });
  if (isAsked(line, "version")) return answer(versionText(isAsked(line, "json")), environment);
  if (isAsked(line, "help")) {
    const { helpOf } = await import("./help.js");
    return answer(await helpOf(command, environment.stdout.columns), environment);
  }
  const { checkLine, withEnvFiles } = await import("./check-command-line.js");
  const problems = checkLine(line, command, existsSync);
  if (problems.length > 0) throw wrongLine(problems);
  const files = line.flags.filter(({ name }) => name === "env-file").map(({ value }) => value ?? "");
  const env = files.length > 0 ? await withEnvFiles(environment.env, files) : environment.env;
  const { values: given, problems: unread } = await argumentsFrom(line, command, env);
  if (typeof given.caFile === "string") await trust(given.caFile);
  const wrong = [...unread, ...((await command.check?.(given, { ...environment, env })) ?? [])];
  if (wrong.length > 0) throw wrongLine(wrong);
  await using copies = openCopies(env);
  const names = bucketNames(env);
  const { stdout, stderr } = environment;
  const format = given.logFormat === "json" ? "json" : "text";
  const view = openView({ output: stderr, env, format, quiet: given.quiet === true });
  const log: View["log"] = (level, message) => view.log(level, names(message));
  const print: Environment["print"] = (result, render, achieved) =>
    printResult({ stdout }, given.json ? jsonLine(result) : render(pageFor(stdout, env)), achieved);
  try {
    return await command.run(given, { ...environment, env, copies, names, view: { ...view, log }, print });
  } catch (error) {
    throw withBucketNames(error, names);
  }
}

/**
 * Trusts the certificates of a PEM file in every connection of this process, in addition to Node's. Throws UsageError if the file
 * has none.
 */
async function trust(file: string): Promise<void> {
  const { certificatesFrom } = await import("../client/connections.js");
  const { getCACertificates, setDefaultCACertificates } = await import("node:tls");
  setDefaultCACertificates([...getCACertificates("default"), ...certificatesFrom(file, "--ca-file")]);
}

function isAsked({ flags }: Line, option: string): boolean {
  return flags.some(({ name, value }) => name === option && value !== "false");
}

function answer(text: string, { stdout }: Pick<Environment, "stdout">): number {
  stdout.write(`${text}\n`);
  return exitCodes.complete;
}

/** The version, or with `--json` everything that a bug report needs about the installation. Does not load DuckDB itself. */
function versionText(json: boolean): string {
  return json ? JSON.stringify({ ...tool, node, platform, arch, duckdb: duckdbVersion() }) : tool.version;
}

/** The version of the DuckDB package; null if it is not installed. */
function duckdbVersion(): string | null {
  try {
    const content: unknown = createRequire(import.meta.url)("@duckdb/node-api/package.json");
    if (typeof content === "object" && content !== null && "version" in content) return String(content.version);
  } catch {
    // reported as null
  }
  return null;
}

/**
 * The command that starts this program again from the folder `from`: `kbdump` if installed, `node dist/main.js` in a checkout.
 * `script` is the path that Node was given.
 */
export function programText(script: string | undefined, from: string): string {
  if (script === undefined || basename(script) !== "main.js") return "kbdump";
  const near = relative(from, script);
  const path = near.startsWith("..") ? script : near;
  return /^[\w./@%+=:,-]+$/.test(path) ? `node ${path}` : `node '${path.replaceAll("'", "'\\''")}'`;
}
