import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

/** The kinds of calls that the library can tell apart. */
export const callKinds = [
  "rename",
  "link",
  "symlink",
  "write",
  "fsync",
  "open",
  "mkdir",
  "unlink",
  "rmdir",
  "truncate",
  "copy",
] as const;

export type CallKind = (typeof callKinds)[number];

/** Instructions for the library; `preload.c` explains them. */
export interface FaultPlan {
  /** The library counts calls on paths below this folder. */
  readonly folder: string;
  readonly kinds: readonly CallKind[];
  readonly action: "count" | "eio" | "enospc" | "stop" | "stop-after" | "kill";
  /** The number of the call that triggers the action, from 1. */
  readonly at?: number;
  readonly mode?: "once" | "from";
  /** The path of the log, which has a line for each counted call. It must be outside of the folder. */
  readonly log: string;
}

const built = process.platform === "linux" ? buildLibrary() : undefined;

/** Whether the library could be built; it needs Linux, glibc and a C compiler. */
export const canInject = built !== undefined;
if (!canInject) process.stderr.write("tests of faults at file calls are skipped: no library to preload can be built\n");

/** The environment of a program that runs with the library. */
export function faultEnv({ folder, kinds, action, at, mode, log }: FaultPlan): NodeJS.ProcessEnv {
  if (built === undefined) throw new Error("no library to preload could be built");
  return {
    LD_PRELOAD: built,
    UV_USE_IO_URING: "0", // io_uring bypasses the C library
    KBDUMP_FAULT_FOLDER: folder,
    KBDUMP_FAULT_KINDS: kinds.join(","),
    KBDUMP_FAULT_DO: action,
    KBDUMP_FAULT_LOG: log,
    ...(at === undefined ? {} : { KBDUMP_FAULT_AT: String(at) }),
    ...(mode === undefined ? {} : { KBDUMP_FAULT_MODE: mode }),
  };
}

/** Builds the library and loads it once, to detect a compiler for another C library. */
function buildLibrary(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "kbdump-preload-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const library = join(folder, "preload.so");
  const source = fileURLToPath(new URL("preload.c", import.meta.url));
  const { status } = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]);
  if (status !== 0) return undefined;
  const tried = spawnSync("sh", ["-c", "exit 0"], { env: { PATH: process.env.PATH, LD_PRELOAD: library } });
  return tried.status === 0 && tried.stderr.length === 0 ? library : undefined;
}
