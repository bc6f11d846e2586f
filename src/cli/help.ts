import yargs, { type Argv } from "yargs";
import { tool } from "../tool.js";
import { type Command, commonOptions, descriptionOf, groups, type Option, type Options } from "./command.js";
import { globalOptions, outputOf } from "./parse-command-line.js";

declare module "yargs" {
  interface Argv<T> {
    /** Missing in the type declarations of yargs 17. */
    usageConfiguration(configuration: { readonly "hide-types": boolean }): this;
  }
}

const epilog = `Start with:
  kbdump demo            see a run on sample data
  kbdump init job.yaml   write a job file
  kbdump plan job.yaml   see what a run would take
  kbdump run job.yaml    run it

kbdump <command> --help shows the flags of a command, an example and its exit codes.

Exit codes: 0 complete · 1 failed · 2 wrong usage or job file · 3 partial · 4 verify, diff or a proof found differences · 5 another run is active · 130, 143 interrupted`;

/** The width of the help if the output is not a terminal. */
const usual = 80;
/** The maximum width of the help: longer lines are hard to read. */
const most = 110;

export function helpOfAll(commands: readonly Command[], columns: number | undefined): Promise<string> {
  return outputOf(commands.reduce(addCommand, parserFor(columns)), ["--help"]);
}

export function helpOf(command: Command, columns: number | undefined): Promise<string> {
  const [name = ""] = command.name.split(" ");
  return outputOf(addCommand(parserFor(columns), command), [name, "--help"]);
}

function addCommand(parser: Argv, { name, about, positionals, options, epilog }: Command): Argv {
  return parser.command(name, about, (builder) => {
    for (const [positional, { describe }] of Object.entries(positionals)) builder.positional(positional, { describe });
    return addOptions(builder, options).epilog(epilog);
  });
}

/** Adds the options of a command and the common options, grouped by heading. */
function addOptions(parser: Argv, options: Options): Argv {
  const all = Object.entries({ ...options, ...commonOptions });
  for (const heading of groups)
    for (const [name, option] of all.filter(([, { group = "Options" }]) => group === heading))
      parser.option(shownName(name, option), { ...shown(option), group: `${heading}:` });
  return parser;
}

/** The name of an option with its value, such as `out DIR`. yargs has no separate value name, but prints any name unchanged. */
function shownName(name: string, { type, value, choices, valueIsOptional }: Option): string {
  const word = value ?? choices?.join("|");
  if (type === "boolean" || word === undefined) return name;
  return valueIsOptional ? `${name}[=${word}]` : `${name} ${word}`;
}

function shown(option: Option) {
  const { alias, demandOption } = option;
  const describe = `${descriptionOf(option)}${demandOption ? "; required" : ""}`;
  return { describe, ...(alias === undefined ? {} : { alias }) };
}

/** yargs only renders the help. `parse-command-line.ts` reads the command line, so that all messages name our flags. */
function parserFor(columns = usual): Argv {
  const { help, version } = globalOptions;
  return yargs()
    .scriptName("kbdump")
    .usage("$0 <command>: exports everything in a Dify knowledge base, and proves that nothing is missing")
    .help("help", help.describe)
    .alias("help", help.alias)
    .version("version", version.describe, tool.version)
    .alias("version", version.alias)
    .group(["help", "version"], "Every command:")
    .epilog(epilog)
    .usageConfiguration({ "hide-types": true })
    .wrap(Math.min(most, columns))
    .exitProcess(false);
}
