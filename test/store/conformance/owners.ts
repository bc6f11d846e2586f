import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Machine } from "./adapters.js";

/** The steps of an owner that publishes, in order. */
export const steps: readonly string[] = [
  "lease",
  "stage",
  "fetch",
  "build",
  "upload",
  "commit",
  "follow",
  "database",
  "latest",
  "remove",
  "release",
];

interface Line {
  readonly before?: string;
  readonly done?: string;
  readonly failed?: string;
  readonly error?: string;
  readonly runId?: string;
}

/** A process that owns the lease of a job and publishes runs, step by step: see owner.mjs. */
export interface Owner {
  /** The lines that the owner has printed so far. */
  readonly lines: readonly Line[];
  readonly runId: () => string | undefined;
  /** Lets the owner continue until just before this step; false if it ends first. */
  readonly until: (step: string) => Promise<boolean>;
  readonly signal: (name: "SIGSTOP" | "SIGCONT" | "SIGKILL") => void;
  /** Lets the owner continue until it ends. */
  readonly end: () => Promise<void>;
}

let count = 0;

/** Starts an owner on a machine, for one test; if `gated`, it waits before each step. */
export function startOwner({ file, env }: Machine, { gated = false } = {}): Owner {
  const args = [join(import.meta.dirname, "owner.mjs"), file, `rows of owner ${++count}`];
  const child = spawn(process.execPath, gated ? [...args, "gated"] : args, {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => {}); // the process may be killed while this writes to it
  const lines: Line[] = [];
  const read = createInterface({ input: child.stdout });
  read.on("line", (line) => lines.push(JSON.parse(line)));
  let isEnded = false;
  const ended = once(child, "close").then(() => {
    isEnded = true;
  });
  const goOn = () => void child.stdin.write("\n");
  return {
    lines,
    runId: () => lines.find(({ runId }) => runId !== undefined)?.runId,
    until: async (step) => {
      for (let told = 0; !isEnded; await sleep(5)) {
        const begun = lines.filter(({ before }) => before !== undefined);
        if (begun.at(-1)?.before === step) return true;
        if (begun.length <= told) continue;
        told = begun.length;
        goOn();
      }
      return false;
    },
    signal: (name) => void child.kill(name),
    end: async () => {
      for (const _ of steps) goOn();
      await ended;
    },
  };
}
