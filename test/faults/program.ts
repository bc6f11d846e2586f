import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { cleanEnv, finished } from "../cli/run-kbdump.js";
import { threadStates } from "./thread-states.js";

const built = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** After this many milliseconds, a program counts as hanging. */
const bound = 60_000;

/** How a program ended, and its output. */
export interface Ended {
  /** A, B or C: its name in failure texts. */
  readonly name: string;
  readonly pid: number;
  /** The exit code; null if a signal ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves when the program ends; never rejects. */
  readonly ended: Promise<Ended>;
}

/** Starts the built program; with `host`, under that host name. Killed when the test ends. */
export function startProgram(name: string, args: readonly string[], env: NodeJS.ProcessEnv, host?: string): Program {
  const command = [process.execPath, built, ...args];
  // exec keeps the process id: unshare becomes sh, and sh becomes node.
  const renamed = ["unshare", "--uts", "sh", "-c", `hostname ${host} && exec "$@"`, "sh", ...command];
  const [file = "", ...rest] = host === undefined ? command : renamed;
  const child = spawn(file, rest, {
    env: { ...cleanEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const pid = child.pid ?? 0;
  return { name, pid, child, ended: finished(child).then((end) => ({ name, pid, ...end })) };
}

/** Waits until a program ends; kills it if it hangs, so that its code is null. */
export async function endOf({ child, ended }: Program): Promise<Ended> {
  const timer = setTimeout(() => child.kill("SIGKILL"), bound);
  return ended.finally(() => clearTimeout(timer));
}

/** Runs the program and waits until it ends. */
export function runProgram(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  return endOf(startProgram(name, args, env));
}

/**
 * Waits until every thread of a program is stopped; false if the program ended first. Polls, because the kernel sends no
 * event.
 */
export async function isFrozen({ child, pid }: Pick<Program, "child" | "pid">): Promise<boolean> {
  for (const start = performance.now(); performance.now() - start < bound; await sleep(2)) {
    if (child.exitCode !== null || child.signalCode !== null) return false;
    if ((await threadStates(pid)) === "T") return true;
  }
  throw new Error(`process ${pid} neither stopped nor ended within ${bound} ms`);
}
