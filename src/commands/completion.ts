import { basename } from "node:path";
import * as v from "valibot";
import { type Command, defineCommand } from "../cli/command.js";
import { printResult } from "../cli/output.js";
import { wrongLine } from "../cli/read-line.js";
import { jsonLine } from "../cli/text.js";
import { exitCodes } from "../errors.js";
import { gotText } from "../job/findings.js";
import { oneOf, result, text } from "../schema.js";
import { renderBash } from "./completion/bash.js";
import { candidatesFrom } from "./completion/candidates.js";
import { renderFish } from "./completion/fish.js";
import { renderZsh } from "./completion/zsh.js";

const epilog = `Examples:
  source <(kbdump completion bash)
  kbdump completion zsh > ~/.zfunc/_kbdump
  kbdump completion fish > ~/.config/fish/completions/kbdump.fish

Run it again after an update of kbdump.

Exit codes: 0 printed · 2 wrong usage, or a shell that is not known`;

/** `kbdump completion [shell]`: a script that completes these commands. */
export const command = defineCommand({
  name: "completion [shell]",
  about: "print a script that completes kbdump's commands and flags in your shell",
  positionals: {
    shell: {
      describe: "bash, zsh or fish; default: the shell of $SHELL",
      type: "string",
      values: ["bash", "zsh", "fish"],
    },
  },
  options: {
    json: { type: "boolean", default: false, describe: "print the result as one JSON object" },
  },
  epilog,
  results: () => ({ completion: completionResult }),
  async run({ shell: given, json }, environment) {
    const shell = shellFrom(given, environment.env);
    const script = renderCompletion(shell, await environment.commands());
    const result: CompletionResult = { status: "complete", shell, script };
    await printResult(environment, json ? jsonLine(result) : script);
    return exitCodes.complete;
  },
});

function shellFrom(given: string | undefined, { SHELL = "" }: NodeJS.ProcessEnv): Shell {
  const name = given ?? basename(SHELL);
  if (isShell(name)) return name;
  const expected = `expected ${shells.slice(0, -1).join(", ")} or ${shells.at(-1)}`;
  const got =
    given === undefined ? "missing, and SHELL in the environment names none of them" : `got ${gotText(given, [])}`;
  throw wrongLine([{ path: "<shell>", message: `${got}; ${expected}` }]);
}

/** The result of `kbdump completion --json`. */
const completionResult = result({
  status: v.literal("complete"),
  shell: oneOf("bash", "zsh", "fish"),
  script: text,
});

type CompletionResult = v.InferOutput<typeof completionResult>;

const renderings = { bash: renderBash, zsh: renderZsh, fish: renderFish };

/** A shell that can complete the commands. */
type Shell = keyof typeof renderings;

export const shells: readonly string[] = Object.keys(renderings);

/** Whether there is a script for a shell of this name. */
export function isShell(name: string): name is Shell {
  return Object.hasOwn(renderings, name);
}

/** The script that completes the commands in a shell, without a call back into the program. */
export function renderCompletion(shell: Shell, commands: readonly Command[]): string {
  return renderings[shell](candidatesFrom(commands));
}
