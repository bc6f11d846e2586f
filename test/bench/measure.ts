import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Served } from "./served.js";
import type { ServeOptions } from "./server.js";

/** The time and memory of a whole process. */
export interface Measured {
  /** Seconds from start to end. */
  readonly wall: number;
  /** Processor seconds of all threads, in user and system mode. */
  readonly cpu: number;
  /** Peak resident memory in bytes. */
  readonly rss: number;
  readonly stdout: string;
}

/** Runs Node with these arguments and measures the process. If it fails, rejects with its stderr. */
export async function measure(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Measured> {
  const start = performance.now();
  const child = spawn(process.execPath, ["--import", `${import.meta.dirname}/usage.mjs`, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const collected = ["", "", ""];
  [child.stdout, child.stderr, child.stdio[3]].forEach((stream, at) => {
    stream?.on("data", (data) => {
      collected[at] += data;
    });
  });
  const exited = once(child, "exit").then(([code]) => ({ code, wall: (performance.now() - start) / 1000 }));
  await once(child, "close");
  const { code, wall } = await exited;
  const [stdout = "", stderr = "", usage = ""] = collected;
  if (code !== 0) throw new Error(`${args.join(" ").slice(0, 300)} ended with ${code}: ${stderr.slice(-2000)}`);
  return { wall, ...(JSON.parse(usage) as { cpu: number; rss: number }), stdout };
}

/** A service of the benchmark in a separate process. */
export interface Service {
  /** The scheme, host and port of the service. */
  readonly origin: string;
  /** Returns what the service has done so far. */
  readonly served: () => Promise<Served>;
}

/** Runs `work` with a service of the benchmark, and stops the service afterwards. */
export async function withService<T>(options: ServeOptions, work: (service: Service) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [`${import.meta.dirname}/server.mjs`, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const served = async () => {
    const answer = once(child, "message");
    child.send("served");
    const [message] = await answer;
    return message as Served;
  };
  try {
    const [port] = await once(child.stdout as Readable, "data");
    return await work({ origin: `http://127.0.0.1:${String(port).trim()}`, served });
  } finally {
    child.kill();
  }
}
