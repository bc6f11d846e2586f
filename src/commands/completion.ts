import { basename } from "node:path";
import * as v from "valibot";
import { defineCommand } from "../cli/command.js";
import { wrongLine } from "../cli/parse-command-line.js";
import { exitCodes } from "../errors.js";
import { gotText } from "../job/got-text.js";
import { oneOf, result, text } from "../schema.js";

const epilog = `Examples:
  source <(kbdump completion bash)
  kbdump completion zsh > ~/.zfunc/_kbdump

The script asks kbdump itself what fits, so it knows every command and flag of the installed version.

Exit codes: 0 printed · 2 wrong usage, or an unknown shell`;

const shells = ["bash", "zsh"] as const;

/** `kbdump completion [shell]`: prints a completion script. */
export const command = defineCommand({
  name: "completion [shell]",
  about: "print a script that completes commands and flags in your shell",
  positionals: {
    shell: { describe: "bash or zsh; default: the shell of $SHELL", type: "string", values: shells },
  },
  options: {},
  epilog,
  results: () => ({ completion: completionResult }),
  async run({ shell: given }, { env, print }) {
    const shell = shellFrom(given, env);
    const { completionScript } = await import("../cli/completion.js"); // slow to load; --help does not need it
    const script = await completionScript(shell);
    await print({ status: "complete", shell, script }, () => script);
    return exitCodes.complete;
  },
});

function shellFrom(given: string | undefined, { SHELL = "" }: NodeJS.ProcessEnv): (typeof shells)[number] {
  const shell = shells.find((known) => known === (given ?? basename(SHELL)));
  if (shell !== undefined) return shell;
  const got =
    given === undefined ? "missing, and SHELL in the environment names none of them" : `got ${gotText(given, [])}`;
  throw wrongLine([{ path: "<shell>", message: `${got}; expected ${shells.join(" or ")}` }]);
}

/** The result of `kbdump completion --json`. */
const completionResult = result({ status: v.literal("complete"), shell: oneOf(...shells), script: text });
