import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the built program. Its environment holds PATH and what is given, so that no key of the machine gets in. */
export function startKbdump(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd?: string): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Waits for the end of a program; gives its output and its exit code. */
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

/** Log lines without the time of day that they begin with; test/cli/view.test.ts looks at that. */
export function withoutTimes(stderr: string): string {
  return stderr.replace(/^\d\d:\d\d:\d\d /gm, "");
}

/** Runs the built program to its end. */
export function runKbdump(args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string): Promise<Finished> {
  return finished(startKbdump(args, env, cwd));
}
