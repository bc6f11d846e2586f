#!/usr/bin/env node
import { runCommandLine } from "./cli/cli.js";
import { describeError } from "./cli/describe-error.js";
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
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error; // whoever read us has gone, as `| head` does
  });
}

const args = process.argv.slice(2);
try {
  const { stdout, stderr, env } = process;
  process.exitCode = await runCommandLine(args, { stdout, stderr, env, signal: interrupted.signal });
} catch (error) {
  const { message, exitCode, unexpected } = describeError(error);
  process.stderr.write(`kbdump: ${message}\n`);
  if (unexpected && error instanceof Error) process.stderr.write(`This is a fault of kbdump.\n${error.stack}\n`);
  if (args.includes("--json"))
    process.stdout.write(`${JSON.stringify({ status: "failed", exit_code: exitCode, error: message })}\n`);
  process.exitCode = exitCode;
}
