import yargs from "yargs";
import { UsageError } from "../errors.js";
import { tool } from "../tool.js";
import type { Command } from "./command.js";
import type { World } from "./world.js";

/** Each command is loaded where it is named, so that none waits for what another needs. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import("./run.js")).runCommand,
  plan: async () => (await import("./plan.js")).planCommand,
  status: async () => (await import("./status.js")).statusCommand,
  verify: async () => (await import("./verify.js")).verifyCommand,
  diff: async () => (await import("./diff.js")).diffCommand,
  serve: async () => (await import("./serve.js")).serveCommand,
  prune: async () => (await import("./prune.js")).pruneCommand,
  init: async () => (await import("./init.js")).initCommand,
};

/** The command that the first argument names; all of them for --help and for what is misspelt, none for --version. */
async function commandsFor([first = ""]: readonly string[]): Promise<readonly Command[]> {
  if (first === "--version") return [];
  const named = Object.hasOwn(commands, first) ? commands[first] : undefined;
  return Promise.all((named ? [named] : Object.values(commands)).map((load) => load()));
}

const epilog = `Start with:
  kbdump init job.yaml       write a job file
  kbdump plan job.yaml       see what a run would take
  kbdump run job.yaml        run it

Exit codes: 0 complete · 1 failed · 2 wrong usage or job file · 3 partial · 4 verify or diff found differences · 5 another run is at work · 130, 143 interrupted`;

/** Runs one command line and gives its exit code. Rejects with the errors of errors.ts; UsageError for a wrong command line. */
export async function runCommandLine(args: readonly string[], world: World): Promise<number> {
  let exitCode = 0;
  const named = await commandsFor(args);
  const parser = named.reduce(
    (parent, command) =>
      command.register(parent, world, (code) => {
        exitCode = code;
      }),
    yargs()
      .scriptName("kbdump")
      .usage("$0 <command>: exports everything a knowledge base holds, and proves that it is everything")
      .version(tool.version)
      .epilog(epilog)
      .strict()
      .demandCommand(1, "name a command")
      .recommendCommands()
      .parserConfiguration({ "duplicate-arguments-array": true })
      .wrap(Math.min(110, world.stdout.columns ?? 100))
      .exitProcess(false)
      .fail((message, error) => {
        // yargs throws an error of its own where an option lacks its value
        if (error && error.name !== "YError") throw error;
        const what = String(message ?? error?.message);
        throw new UsageError(/[.?!]$/.test(what) ? what : `${what}.`, [
          { path: "", message: "kbdump --help lists what there is" },
        ]);
      }),
  );
  await parser.parseAsync(args, {}, (_error, _argv, output) => {
    if (output) world.stdout.write(`${output}\n`);
  });
  return exitCode;
}
