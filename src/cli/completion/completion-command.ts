import { basename } from "node:path";
import { exitCodes } from "../../errors.js";
import { gotText } from "../../job/findings.js";
import type { CompletionResult } from "../../results/completion.js";
import { jsonLine } from "../../terminal/text.js";
import { type Command, defineCommand } from "../command.js";
import { wrongLine } from "../line/wrong-line.js";
import { printResult } from "../print-result.js";
import { isShell, renderCompletion, type Shell, shells } from "./render-completion.js";

const epilog = `Examples:
  source <(kbdump completion bash)
  kbdump completion zsh > ~/.zfunc/_kbdump
  kbdump completion fish > ~/.config/fish/completions/kbdump.fish

Run it again after an update of kbdump.

Exit codes: 0 printed · 2 wrong usage, or a shell that is not known`;

/** `kbdump completion [shell]`: a script that completes these commands. */
export function completionCommand(load: () => Promise<readonly Command[]>) {
  return defineCommand({
    name: "completion [shell]",
    about: "print a script that completes kbdump's commands and flags in your shell",
    positionals: {
      shell: { describe: "bash, zsh or fish; default: the shell of $SHELL", type: "string", values: shells },
    },
    options: {
      json: { type: "boolean", default: false, describe: "print the result as one JSON object" },
    },
    epilog,
    async run({ shell: given, json }, world) {
      const shell = shellFrom(given, world.env);
      const script = renderCompletion(shell, await load());
      const result: CompletionResult = { status: "complete", shell, script };
      await printResult(world, json ? jsonLine(result) : script);
      return exitCodes.complete;
    },
  });
}

function shellFrom(given: string | undefined, { SHELL = "" }: NodeJS.ProcessEnv): Shell {
  const name = given ?? basename(SHELL);
  if (isShell(name)) return name;
  const expected = `expected ${shells.slice(0, -1).join(", ")} or ${shells.at(-1)}`;
  const got =
    given === undefined ? "missing, and SHELL in the environment names none of them" : `got ${gotText(given, [])}`;
  throw wrongLine([{ path: "<shell>", message: `${got}; ${expected}` }]);
}
