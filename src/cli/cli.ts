import yargs, { type Argv } from "yargs";
import { exitCodes, UsageError } from "../errors.js";
import { tool } from "../tool.js";
import type { Command } from "./command.js";
import type { World } from "./world.js";

type Commands = Readonly<Record<string, () => Promise<Command>>>;

/** A command is loaded only when it is named, so that none waits for what another needs. */
export const commands: Commands = {
  run: async () => (await import("./run.js")).runCommand,
  plan: async () => (await import("./plan.js")).planCommand,
  status: async () => (await import("./status.js")).statusCommand,
  verify: async () => (await import("./verify.js")).verifyCommand,
  diff: async () => (await import("./diff.js")).diffCommand,
  serve: async () => (await import("./serve.js")).serveCommand,
  list: async () => (await import("./list.js")).listCommand,
  sql: async () => (await import("./sql.js")).sqlCommand,
  prune: async () => (await import("./prune.js")).pruneCommand,
  init: async () => (await import("./init.js")).initCommand,
};

const epilog = `Start with:
  kbdump init job.yaml       write a job file
  kbdump plan job.yaml       see what a run would take
  kbdump run job.yaml        run it

Exit codes: 0 complete · 1 failed · 2 wrong usage or job file · 3 partial · 4 verify or diff found differences · 5 another run is at work · 130, 143 interrupted`;

/** Runs one command line and gives its exit code. Rejects with the errors of errors.ts; UsageError for a wrong command line. */
export async function runCommandLine(args: readonly string[], world: World, known = commands): Promise<number> {
  const loaded = await loadCommands(args, known);
  const parser = [...loaded.values()].reduce(addCommand, parserFor(world));
  let answer = "";
  const parsed = await parser.parseAsync(args, {}, (_error, _parsed, output) => {
    answer = output;
  });
  if (answer) world.stdout.write(`${answer}\n`);
  const command = answer ? undefined : loaded.get(String(parsed._[0]));
  return command ? command.run(parsed, world) : exitCodes.complete;
}

/** Loads the command that the first argument names; all of them for --help and for a misspelt name, none for --version. */
async function loadCommands([first]: readonly string[], known: Commands): Promise<ReadonlyMap<string, Command>> {
  if (first === "--version") return new Map();
  const all = Object.entries(known);
  const named = all.filter(([name]) => name === first);
  const wanted = named.length > 0 ? named : all;
  return new Map(await Promise.all(wanted.map(async ([name, load]) => [name, await load()] as const)));
}

function addCommand(parser: Argv, { name, about, positionals, options, epilog }: Command): Argv {
  return parser.command(name, about, (builder) => {
    for (const [positional, declared] of Object.entries(positionals)) builder.positional(positional, declared);
    return builder.options(options).epilog(epilog);
  });
}

function parserFor({ stdout }: World): Argv {
  return yargs()
    .scriptName("kbdump")
    .usage("$0 <command>: exports everything a knowledge base holds, and proves that it is everything")
    .version(tool.version)
    .epilog(epilog)
    .strict()
    .demandCommand(1, "name a command")
    .recommendCommands()
    .parserConfiguration({ "duplicate-arguments-array": true })
    .wrap(Math.min(110, stdout.columns ?? 100))
    .exitProcess(false)
    .fail((message, error) => {
      // yargs throws an error of its own where an option lacks its value
      if (error && error.name !== "YError") throw error;
      const what = String(message ?? error?.message);
      throw new UsageError(/[.?!]$/.test(what) ? what : `${what}.`, [
        { path: "", message: "kbdump --help lists what there is" },
      ]);
    });
}
