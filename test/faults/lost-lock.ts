import { spawnSync } from "node:child_process";
import { rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "./environment.js";

/** Whether this machine can start a program with another host name. */
export const canRenameHost =
  process.platform === "linux" && spawnSync("unshare", ["--uts", "hostname", "kbdump-other"]).status === 0;
if (!canRenameHost)
  process.stderr.write("tests of a second host name are skipped: unshare --uts is not allowed here\n");

/** Removes the lock, like a user who believes that its owner is gone. */
export async function removeLock({ job }: Place): Promise<void> {
  await rm(join(job, ".work", "lock"), { force: true });
}

/** Makes the lock look as if its owner had sent no heartbeat for three minutes; does nothing without a lock. */
export async function ageLock({ job }: Place): Promise<void> {
  const then = new Date(Date.now() - 180_000);
  await utimes(join(job, ".work", "lock"), then, then).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
