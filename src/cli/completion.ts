import { env } from "node:process";
import yargs, { type Argv } from "yargs";
import { type Command, commonOptions, meaningOf, type Options } from "./command.js";
import { isSwitch } from "./parse-command-line.js";

/** The completion script for a shell, without a final line break. It calls `kbdump` for every suggestion. */
export async function completionScript(shell: "bash" | "zsh"): Promise<string> {
  const before = env.SHELL;
  env.SHELL = shell; // yargs reads it
  const parser = yargs().scriptName("kbdump").completion("completion");
  if (before === undefined) delete env.SHELL;
  else env.SHELL = before;
  let script = "";
  await parser.parseAsync(["completion"], {}, (_error, _parsed, output) => {
    script = output;
  });
  return script.trimEnd();
}

/** The first argument when a script asks for suggestions. The words of the line follow. */
const completionKey = "--get-yargs-completions";

/** Suggestions for the end of a line, one per line: commands, flags and allowed values. Empty if the shell should suggest files. */
export async function proposals(words: readonly string[], commands: readonly Command[]): Promise<string> {
  const line = [completionKey, ...words];
  const parser = commands.reduce(addCommand, yargs(line));
  let text = "";
  await parser
    .completion("proposals", false) // the name of yargs' own command, which none of ours may use
    .exitProcess(false)
    .parseAsync(line, {}, (_error, _parsed, output) => {
      text = output;
    });
  return text;
}

function addCommand(parser: Argv, { name, about, positionals, options }: Command): Argv {
  return parser.command(name, about, (builder) => {
    for (const [positional, { values }] of Object.entries(positionals))
      builder.positional(positional, values ? { choices: values } : {});
    return addOptions(builder, { ...options, ...commonOptions });
  });
}

function addOptions(parser: Argv, options: Options): Argv {
  for (const [name, option] of Object.entries(options)) {
    const { choices, values } = option;
    const words = choices ?? values;
    parser.option(name, {
      describe: meaningOf(option),
      type: isSwitch(option) ? "boolean" : "string",
      ...(words ? { choices: words } : {}),
    });
  }
  return parser;
}
