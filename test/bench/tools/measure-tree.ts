import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** The time and memory of a command, including all processes that it starts. */
export interface TreeUsage {
  /** Seconds from start to end. */
  readonly wall: number;
  /** Processor seconds of all processes and threads, in user and system mode. */
  readonly cpu: number;
  /** Peak resident memory of all processes, in bytes. Memory shared by two processes counts twice. NaN on systems without /proc. */
  readonly rss: number;
  readonly stdout: string;
}

/** Milliseconds between memory samples. */
const lookEvery = 50;

/** Makes bash measure the command, and write the seconds in user and system mode to descriptor 3. */
const timing = 'TIMEFORMAT="%U %S"; { time "$@" 2>&4; } 2>&3';

/** Runs a command and measures it. If it fails, rejects with the end of its output. */
export async function measureTree(command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<TreeUsage> {
  const start = performance.now();
  const child = spawn("bash", ["-c", timing, "bash", ...command], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit", "pipe", "pipe"],
  });
  const collected = ["", "", "", "", ""];
  child.stdio.forEach((stream, at) => {
    stream?.on("data", (data) => {
      collected[at] += data;
    });
  });
  let rss = 0;
  const looking = setInterval(() => {
    rss = Math.max(rss, residentBytes(child.pid ?? 0));
  }, lookEvery);
  const exited = once(child, "exit").then(([code]) => ({ code, wall: (performance.now() - start) / 1000 }));
  await once(child, "close");
  clearInterval(looking);
  const { code, wall } = await exited;
  const [, stdout = "", , times = "", stderr = ""] = collected;
  if (code !== 0)
    throw new Error(`${command.join(" ").slice(0, 300)} ended with ${code}: ${(stdout + stderr).slice(-2000)}`);
  const [user, system] = times.trim().split("\n").at(-1)?.split(" ").map(Number) ?? [];
  return { wall, cpu: (user ?? Number.NaN) + (system ?? Number.NaN), rss: rss > 0 ? rss : Number.NaN, stdout };
}

/** The total resident memory of a process and its descendants, in bytes. */
function residentBytes(root: number): number {
  const parents = new Map(processIds().map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === root || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).reduce((bytes, pid) => bytes + residentOf(pid), 0);
}

/** The ids of all processes on this machine; empty on systems without /proc. */
function processIds(): readonly number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | undefined {
  const [, parent] = /\) \w (\d+) /.exec(textOf(`/proc/${pid}/stat`)) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function residentOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}

/** The text of a file in /proc; empty if the process has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
