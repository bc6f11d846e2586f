import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;

/** The environment that tests give the program, so that no key of this machine leaks in. */
export const cleanEnv: NodeJS.ProcessEnv = { PATH, HOME, NODE_COMPILE_CACHE };

/** Starts the built program with the given variables. */
export function startKbdump(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd?: string): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    env: { ...cleanEnv, ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Waits until the program ends; returns its output and exit code. */
export async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr: withoutTimes(stderr) };
}

/** Removes the time of day from the start of each log line; test/cli/progress-view.test.ts checks the times. */
export function withoutTimes(stderr: string): string {
  return stderr.replace(/^\d\d:\d\d:\d\d /gm, "");
}

/** Runs the built program and waits until it ends. */
export function runKbdump(args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): Promise<Finished> {
  return finished(startKbdump(args, env, cwd));
}
