import { env } from "node:process";
import yargs, { type Argv } from "yargs";
import { type Command, commonOptions, meaningOf, type Options } from "./command.js";
import { isSwitch } from "./read-line.js";

/** The script for a shell, without a line break at its end. It asks `kbdump` for every proposal. */
export async function completionScript(shell: "bash" | "zsh"): Promise<string> {
  const before = env.SHELL;
  env.SHELL = shell; // yargs looks there
  const parser = yargs().scriptName("kbdump").completion("completion");
  if (before === undefined) delete env.SHELL;
  else env.SHELL = before;
  let script = "";
  await parser.parseAsync(["completion"], {}, (_error, _parsed, output) => {
    script = output;
  });
  return script.trimEnd();
}

/** The first argument by which a script asks for proposals; the words of its line follow. */
const completionKey = "--get-yargs-completions";

/** The proposals for the end of a line, one per line: commands, flags, values to choose from. None where the shell proposes files. */
export async function proposals(words: readonly string[], commands: readonly Command[]): Promise<string> {
  const line = [completionKey, ...words];
  const parser = commands.reduce(addCommand, yargs(line));
  let text = "";
  await parser
    .completion("proposals", false) // the name of its own command, which none of ours may have
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
