import { runCommandLine } from "../../src/cli/cli.js";
import { outputFlags, printError } from "../../src/cli/output.js";
import { type Finished, withoutTimes } from "./run-kbdump.js";

/**
 * Runs a command line in this process as main.ts would, but much faster. To test signals, pipes or the built program,
 * use `runKbdump`.
 */
export async function runHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin?: AsyncIterable<string | Uint8Array>,
): Promise<Finished> {
  const [stdout, stderr] = [collect(), collect()];
  const ended = new AbortController();
  const interrupt = (error: Error) => ended.abort(error);
  const environment = {
    program: () => "kbdump",
    ...(stdin ? { openStdin: () => stdin } : {}),
    stdout,
    stderr,
    env,
    signal: ended.signal,
    interrupt,
    committing: () => {},
  };
  const code = await runCommandLine(args, environment).catch((error) =>
    printError(error, outputFlags(args), environment),
  );
  return { code, stdout: stdout.text(), stderr: withoutTimes(stderr.text()) };
}

function collect() {
  let collected = "";
  const write = (text: string, written?: () => void) => {
    collected += text;
    written?.();
  };
  return { write, text: () => collected };
}
