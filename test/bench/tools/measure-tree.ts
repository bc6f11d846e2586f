import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** The time and memory of a command and of all processes that it starts. */
export interface TreeUsage {
  /** Seconds. */
  readonly wall: number;
  /** Seconds of all processes and threads, in user and system mode. */
  readonly cpu: number;
  /** Bytes resident at the most, as the sum of all processes; NaN on systems without /proc. Memory that two of them share counts twice. */
  readonly rss: number;
  readonly stdout: string;
}

/** Milliseconds between two looks at the memory. */
const lookEvery = 50;

/** bash measures the command, and writes the seconds in user and system mode to descriptor 3. */
const timing = 'TIMEFORMAT="%U %S"; { time "$@" 2>&4; } 2>&3';

/** Runs a command to its end and measures it. Rejects with the end of what it wrote when it fails. */
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

/** Bytes that all processes below this one have in memory together. */
function residentBytes(root: number): number {
  const parents = new Map(processIds().map((pid) => [pid, parentOf(pid)]));
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === root || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow).reduce((bytes, pid) => bytes + residentOf(pid), 0);
}

/** The processes of this machine; none on systems without /proc. */
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

/** The text of a file; empty if the process has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
