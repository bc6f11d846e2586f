import { env } from "node:process";
import yargs, { type Argv } from "yargs";
import { type Command, commonOptions, meaningOf, type Option } from "./command.js";
import { isSwitch, outputOf } from "./parse-command-line.js";

/** The completion script for a shell, without a final line break. It calls `kbdump` for every suggestion. */
export async function completionScript(shell: "bash" | "zsh"): Promise<string> {
  const before = env.SHELL;
  env.SHELL = shell; // yargs takes the name of the shell from this variable
  const parser = yargs().scriptName("kbdump").completion("completion");
  if (before === undefined) delete env.SHELL;
  else env.SHELL = before;
  return (await outputOf(parser, ["completion"])).trimEnd();
}

/** The first argument when a script asks for suggestions. The words of the line follow. */
const completionKey = "--get-yargs-completions";

/** Suggestions for the end of a line, one per line: commands, flags and allowed values. Empty if the shell should suggest files. */
export async function proposals(words: readonly string[], commands: readonly Command[]): Promise<string> {
  const line = [completionKey, ...words];
  const parser = commands.reduce(addCommand, yargs(line));
  // "proposals" is the name of yargs' own command, which none of ours may use
  return outputOf(parser.completion("proposals", false).exitProcess(false), line);
}

function addCommand(parser: Argv, { name, about, positionals, options }: Command): Argv {
  return parser.command(name, about, (builder) => {
    for (const [positional, { values }] of Object.entries(positionals))
      builder.positional(positional, values ? { choices: values } : {});
    for (const [name, option] of Object.entries<Option>({ ...options, ...commonOptions })) {
      const words = option.choices ?? option.values;
      const type = isSwitch(option) ? "boolean" : "string";
      builder.option(name, { describe: meaningOf(option), type, ...(words ? { choices: words } : {}) });
    }
    return builder;
  });
}
