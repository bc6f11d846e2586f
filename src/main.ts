#!/usr/bin/env node
import { runCommandLine } from "./cli/cli.js";
import { outputFlags } from "./cli/output-flags.js";
import { unwritten } from "./cli/print-result.js";
import { tellError } from "./cli/tell-error.js";
import { InterruptedError } from "./errors.js";

/** How long a command may take to end itself after a signal, in milliseconds. */
const grace = 4_000;

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    const error = new InterruptedError(signal);
    if (interrupted.signal.aborted) process.exit(error.exitCode);
    interrupted.abort(error);
    setTimeout(() => process.exit(error.exitCode), grace).unref();
  });
}

const args = process.argv.slice(2);
let told = false;
const tell = (error: unknown) => {
  told = true;
  process.exitCode = tellError(error, outputFlags(args), process);
};
process.stderr.on("error", () => {}); // nobody is left to be told
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return; // whoever read us has gone, as `| head` does
  process.on("exit", () => {
    if (!told) tell(unwritten(error));
  });
});

try {
  const { stdout, stderr, env } = process;
  process.exitCode = await runCommandLine(args, { stdout, stderr, env, signal: interrupted.signal });
} catch (error) {
  tell(error);
}
