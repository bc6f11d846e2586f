import { spawn } from "node:child_process";
import { UsageError } from "../errors.js";
import { fileText } from "./quoted-text.js";

export interface CommandOptions {
  /** The environment of the command; its PATH finds the program. */
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds that it may take; 30 s by default. */
  readonly timeout?: number;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Characters that a key surely does not have. */
const longest = 100_000;

/** The name of a command in messages: its program alone, as arguments may be nobody's business. */
export function commandText([program = ""]: readonly string[]): string {
  return `the key command ${fileText(program)}`;
}

/**
 * Runs a program with its arguments, without a shell, and gives its stdout. UsageError where it cannot be started, fails or
 * takes too long. Nothing of its output gets into an error: it can hold secrets, on stderr, too.
 */
export async function runKeyCommand(command: readonly string[], options: CommandOptions): Promise<string> {
  const { env, timeout = 30_000, signal } = options;
  const [program = "", ...args] = command;
  const what = commandText(command);
  const limit = AbortSignal.timeout(timeout);
  const ends = signal ? AbortSignal.any([signal, limit]) : limit;
  try {
    const { output, code, killedBy } = await outputOf(program, args, env, ends);
    if (killedBy !== null) throw failure(`${what} was ended by ${killedBy}`);
    if (code !== 0) throw failure(`${what} failed with exit code ${code}. Run it yourself to see why`);
    return output;
  } catch (error) {
    signal?.throwIfAborted();
    if (limit.aborted) throw failure(`${what} did not end within ${timeout / 1_000} s`);
    if (error instanceof UsageError) throw error;
    throw failure(`cannot run ${what}: ${reasonOf(error)}`);
  }
}

interface Ended {
  readonly output: string;
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

/** Rejects when the program cannot be started or the signal is aborted, which kills it. */
function outputOf(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, signal, killSignal: "SIGKILL", stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(0, longest);
    });
    child.on("error", (error) => {
      child.stdout.destroy(); // a process that the program started can hold it open
      reject(error);
    });
    child.on("close", (code, killedBy) => resolve({ output, code, killedBy }));
  });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program. Give its whole path, or correct PATH",
  EACCES: "it is not executable",
  ENOEXEC: "it is no program. A script says in its first line what runs it, as in #!/bin/sh",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return reasons[code] ?? `it could not be started (${code})`;
}

function failure(message: string): UsageError {
  return new UsageError(message, []);
}
