import { randomUUID } from "node:crypto";
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent, isThere } from "../dump/files/is-there.js";
import { StopError } from "../errors.js";
import type { Attempt, AttemptFile } from "./exchange.js";
import type { FolderPlace } from "./folder-place.js";
import { nameOfAttempt, nameOfReason, requireName } from "./names.js";

/** Begins an attempt: makes its folder, and none above it, so that a place that was removed does not come back. */
export async function beginInFolder(place: FolderPlace, name: string): Promise<Attempt | undefined> {
  const token = randomUUID();
  const folder = join(place.attempts, nameOfAttempt({ name, token }));
  const isMade = await mkdir(folder, { mode: 0o700 }).then(() => true, ifAbsent(false));
  if (!isMade) return undefined;
  return {
    token,
    folder,
    hand: (files, result) => handOver({ folder, token, target: join(place.results, name) }, files, result),
    giveUp: async (reason) => {
      const aside = join(folder, "reason-aside");
      await writeFile(aside, reason, { mode: 0o600 })
        .then(() => rename(aside, join(place.tried, nameOfReason({ name, token }))))
        .catch(ifAbsent(undefined));
    },
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The file with the result, in the folder of the attempt that has it. No file of an attempt can have this name. */
export function resultFile(token: string): string {
  return `${token}.json`;
}

interface HandOver {
  readonly folder: string;
  readonly token: string;
  readonly target: string;
}

/**
 * Renames the folder of an attempt to that of the result. It is whole or not there, and only one can be the first: a folder does not
 * take the place of one with files in it (ENOTEMPTY or EEXIST: https://pubs.opengroup.org/onlinepubs/9799919799/functions/rename.html).
 */
async function handOver(
  { folder, token, target }: HandOver,
  files: readonly AttemptFile[],
  result: string,
): Promise<"first" | "late"> {
  const isOurs = () => isThere(join(target, resultFile(token)));
  try {
    for (const file of files) await requireBytes(folder, file);
    await writeFile(join(folder, resultFile(token)), result, { mode: 0o600 });
    await rename(folder, target);
    return "first";
  } catch (error) {
    if (await isOurs()) return "first"; // a network drive may send a rename twice, and report the second try
    if ((await isThere(target)) || !(await isThere(folder))) return "late";
    throw error;
  }
}

/** Looks at the size alone: the coordinator checks the hash when it takes the file, which finds what happens later, too. */
async function requireBytes(folder: string, { file, bytes }: AttemptFile): Promise<void> {
  const path = join(folder, requireName(file));
  const facts = await lstat(path).catch(ifAbsent(undefined));
  if (facts?.isFile() && facts.size === bytes) return;
  throw new StopError(
    `${path} ${facts?.isFile() ? `has ${facts.size} bytes` : "is no file"} right after ${bytes} bytes were written to it. Check the disk`,
  );
}
