import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "../../dump/files/is-there.js";

/** Milliseconds without a change after which a folder aside counts as left behind by a process that was killed. */
const leftAfter = 3_600_000;

/** Removes what killed processes left in the folder for files on their way. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(ifAbsent<string[]>([]))) {
    const path = join(folder, name);
    if (Date.now() - (await lastChange(path)) > leftAfter) await rm(path, { recursive: true, force: true });
  }
}

async function lastChange(path: string): Promise<number> {
  const names = await readdir(path).catch(() => []);
  const times = [path, ...names.map((name) => join(path, name))].map((each) => stat(each).catch(ifAbsent(undefined)));
  return Math.max(0, ...(await Promise.all(times)).map((facts) => facts?.mtimeMs ?? 0));
}
