#!/usr/bin/env node
import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";
import { programText, runCommandLine } from "./cli/cli.js";
import { outputFlags, printError, printReason, unwritten } from "./cli/output.js";
import { exitCodes, InterruptedError, StopError, workError } from "./errors.js";
import type { CommitState } from "./job/open-service.js";

const args = process.argv.slice(2);

// undici parses answers in WebAssembly. After about ten answers, V8 recompiles its largest function for 100 ms, and the process
// cannot end before that. With this budget, V8 waits for several hundred answers. Later versions of Node may not know the flag, so
// it is set only up to Node 24.
if (Number.parseInt(process.versions.node, 10) <= 24) setFlagsFromString("--wasm-tiering-budget=1000000000");

/** The oldest supported Node, as in package.json. Older versions lack parts of the language and of packages. */
const oldestNode = [22, 19] as const;

/** Milliseconds that a command may take to end after a signal. */
const grace = 4_000;

const interrupted = new AbortController();
let commit: CommitState = "failed"; // nothing is published yet
const endNow = (error: InterruptedError): void => {
  if (commit === "begun") {
    setTimeout(endNow, 50, error); // the run is being published: wait for the outcome, then report it
    return;
  }
  const isPublished = commit === "done";
  if (isPublished)
    printReason("the run is published; the next run does what was left to do", outputFlags(args), process);
  else if (process.stderr.isTTY) process.stderr.write("\r\x1b[J"); // clears the progress
  process.exit(isPublished ? exitCodes.partial : error.exitCode);
};
const interrupt = (error: InterruptedError): void => {
  if (interrupted.signal.aborted) {
    endNow(error);
    return;
  }
  interrupted.abort(error);
  setTimeout(() => endNow(error), grace).unref();
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupt(new InterruptedError(signal)));

let isReported = false;
const report = (error: unknown) => {
  isReported = true;
  process.exitCode = printError(workError(error), outputFlags(args), process);
};
process.stderr.on("error", () => {}); // there is no other place to report it
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return; // the reader closed the pipe, for example `| head`
  process.on("exit", () => {
    if (!isReported) report(unwritten(error));
  });
});

try {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
    const needed = `kbdump needs ${oldestNode.join(".")} or later`;
    throw new StopError(`Node.js ${process.versions.node} is too old: ${needed}; install it from https://nodejs.org`);
  }
  const { stdout, stderr, env } = process;
  const committing = (state: CommitState) => {
    commit = state;
  };
  process.exitCode = await runCommandLine(args, {
    program: () => programText(process.argv[1], process.cwd()),
    openStdin: () => process.stdin, // opened by the command that reads it
    openTerminal: isatty(0) && stderr.isTTY ? () => ({ input: process.stdin, output: stderr }) : undefined,
    stdout,
    stderr,
    env,
    signal: interrupted.signal,
    interrupt,
    committing,
  });
} catch (error) {
  report(error);
}
