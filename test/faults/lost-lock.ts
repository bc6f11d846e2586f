import { spawnSync } from "node:child_process";
import { rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "./environment.js";

/** Whether a program can be given a host name of its own here. */
export const canRenameHost =
  process.platform === "linux" && spawnSync("unshare", ["--uts", "hostname", "kbdump-other"]).status === 0;
if (!canRenameHost)
  process.stderr.write("tests of a second host name are skipped: unshare --uts is not allowed here\n");

/** Removes the lock, as a person does who believes that its holder is gone. */
export async function removeLock({ job }: Place): Promise<void> {
  await rm(join(job, ".work", "lock"), { force: true });
}

/** Makes a lock look as if its holder had been silent for three minutes; nothing where there is no lock yet. */
export async function ageLock({ job }: Place): Promise<void> {
  const then = new Date(Date.now() - 180_000);
  await utimes(join(job, ".work", "lock"), then, then).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
