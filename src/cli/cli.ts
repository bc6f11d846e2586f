import { existsSync } from "node:fs";
import { exitCodes } from "../errors.js";
import { bucketNames, withBucketNames } from "../store/copy/bucket-names.js";

import type { Command } from "./command.js";
import { argumentsFrom } from "./line/arguments-from.js";
import { globalOptions } from "./line/global-options.js";
import { type Line, readLine } from "./line/read-line.js";
import { versionText } from "./line/version-text.js";
import { wrongLine } from "./line/wrong-line.js";
import { commonOptions } from "./options.js";
import type { World } from "./world.js";

type Commands = Readonly<Record<string, () => Promise<Command>>>;

/** A command is loaded only when it is named, so that none waits for what another needs. */
export const commands: Commands = {
  run: async () => (await import("./run.js")).runCommand,
  plan: async () => (await import("./plan.js")).planCommand,
  status: async () => (await import("./status.js")).statusCommand,
  verify: async () => (await import("./verify.js")).verifyCommand,
  diff: async () => (await import("./diff.js")).diffCommand,
  report: async () => (await import("./report.js")).reportCommand,
  serve: async () => (await import("./serve.js")).serveCommand,
  restore: async () =>
    (await import("./restore/restore-command.js")).restoreCommand({
      // heavy; --help does without
      lost: async () => (await import("../restore/restore-lost.js")).restoreLost,
      move: async () => (await import("../restore/copy/copy-run.js")).moveRun,
    }),
  join: async () => (await import("./join.js")).joinCommand,
  worker: async () => (await import("./worker.js")).workerCommand,
  list: async () => (await import("./list.js")).listCommand,
  sql: async () => (await import("./sql.js")).sqlCommand,
  prune: async () => (await import("./prune.js")).pruneCommand,
  init: async () => (await import("./init.js")).initCommand,
  completion: async () =>
    (await import("./completion/completion-command.js")).completionCommand(() => loadAll(commands)),
};

function loadAll(known: Commands): Promise<readonly Command[]> {
  return Promise.all(Object.values(known).map((load) => load()));
}

/** Flags that may stand before the command. */
const leadingOptions = { ...globalOptions, ...commonOptions };

/** Runs one command line and gives its exit code. Rejects with the errors of errors.ts; UsageError for a wrong command line. */
export async function runCommandLine(
  args: readonly string[],
  world: Omit<World, "args">,
  known = commands,
): Promise<number> {
  const leading = readLine(args, leadingOptions);
  const [first] = leading.places;
  if (first === undefined) return runWithoutCommand(args, leading, world, known);
  const others = args.toSpliced(first.index, 1);
  if (first.text === "help") return runCommandLine([...others, "--help"], world, known);
  const load = Object.hasOwn(known, first.text) ? known[first.text] : undefined;
  if (load) return runCommand(await load(), others, { ...world, args });
  const { unknownCommand } = await import("./line/unknown-command.js");
  throw unknownCommand(first.text, Object.keys(known));
}

async function runWithoutCommand(
  args: readonly string[],
  line: Line,
  world: Omit<World, "args">,
  known: Commands,
): Promise<number> {
  if (isAsked(line, "version")) return answer(versionText(isAsked(line, "json")), world);
  const asksHelp = isAsked(line, "help");
  if (args.length > 0 && !asksHelp) {
    const { noCommand } = await import("./line/unknown-command.js");
    throw noCommand(Object.keys(known));
  }
  const { helpOfAll } = await import("./help.js");
  const all = await loadAll(known);
  const reader = asksHelp ? world.stdout : world.stderr;
  reader.write(`${await helpOfAll(all, reader.columns)}\n`);
  return asksHelp ? exitCodes.complete : exitCodes.usage;
}

async function runCommand(command: Command, args: readonly string[], world: World): Promise<number> {
  const line = readLine(args, { ...globalOptions, ...command.options });
  if (isAsked(line, "version")) return answer(versionText(isAsked(line, "json")), world);
  if (isAsked(line, "help")) {
    const { helpOf } = await import("./help.js");
    return answer(await helpOf(command, world.stdout.columns), world);
  }
  const { checkLine } = await import("./line/check-line.js");
  const problems = checkLine(line, command, existsSync);
  if (problems.length > 0) throw wrongLine(problems);
  const { withEnvFiles } = await import("./line/env-files.js");
  const files = line.flags.filter(({ name }) => name === "env-file").map(({ value }) => value ?? "");
  const env = files.length > 0 ? await withEnvFiles(world.env, files) : world.env;
  return command.run(argumentsFrom(line, command), { ...world, env }).catch((error: unknown) => {
    throw withBucketNames(error, bucketNames(env));
  });
}

function isAsked({ flags }: Line, option: string): boolean {
  return flags.some(({ name, value }) => name === option && value !== "false");
}

function answer(text: string, { stdout }: Pick<World, "stdout">): number {
  stdout.write(`${text}\n`);
  return exitCodes.complete;
}
