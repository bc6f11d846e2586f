import yargs, { type Argv } from "yargs";
import { tool } from "../tool.js";
import type { Command } from "./command.js";
import { globalOptions } from "./read-line.js";

declare module "yargs" {
  interface Argv<T> {
    /** The declarations of yargs 17 lack it. */
    usageConfiguration(configuration: { readonly "hide-types": boolean }): this;
  }
}

const epilog = `Start with:
  kbdump init job.yaml   write a job file
  kbdump plan job.yaml   see what a run would take
  kbdump run job.yaml    run it

kbdump <command> --help shows the flags of a command, an example and its exit codes.

Exit codes: 0 complete · 1 failed · 2 wrong usage or job file · 3 partial · 4 verify, diff or restore found differences · 5 another run is at work · 130, 143 interrupted`;

/** Columns for a reader that is no terminal, and the most that can be read with ease. */
const usual = 80;
const most = 110;

/** The help of the program: all commands. */
export function helpOfAll(commands: readonly Command[], columns: number | undefined): Promise<string> {
  return helpText(["--help"], commands.reduce(addCommand, parserFor(columns)));
}

/** The help of one command. */
export function helpOf(command: Command, columns: number | undefined): Promise<string> {
  const [name = ""] = command.name.split(" ");
  return helpText([name, "--help"], addCommand(parserFor(columns), command));
}

async function helpText(args: readonly string[], parser: Argv): Promise<string> {
  let text = "";
  await parser.parseAsync(args, {}, (_error, _parsed, output) => {
    text = output;
  });
  return text;
}

function addCommand(parser: Argv, { name, about, positionals, options, epilog }: Command): Argv {
  return parser.command(name, about, (builder) => {
    for (const [positional, declared] of Object.entries(positionals)) builder.positional(positional, declared);
    return builder.options(options).epilog(epilog);
  });
}

/** yargs renders the help; the line itself is read in `line`, where all messages name our flags. */
function parserFor(columns = usual): Argv {
  const { help, version } = globalOptions;
  return yargs()
    .scriptName("kbdump")
    .usage("$0 <command>: exports everything a knowledge base holds, and proves that nothing is missing")
    .help("help", help.describe)
    .alias("help", help.alias)
    .version("version", version.describe, tool.version)
    .alias("version", version.alias)
    .epilog(epilog)
    .usageConfiguration({ "hide-types": true })
    .wrap(Math.min(most, columns))
    .exitProcess(false);
}
