import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bytesText } from "../../amounts.js";
import { manifestName } from "../../dump/manifest.js";
import { isRunId } from "../../dump/run-id.js";
import { UsageError } from "../../errors.js";
import { ifAbsent } from "../../files/files.js";
import { type Cache, copiesIn, isInUse, isRecent } from "./cache.js";
import { asideName } from "./job-copy.js";

/** Something to copy: its address, and the bytes of the whole and of what is still to be fetched. */
interface Subject {
  readonly url: string;
  readonly whole: number;
  readonly missing: number;
}

/**
 * Removes the copies that were not used for the longest time until the missing bytes fit the cache. UsageError where they cannot fit.
 * Manifests and the folders of restores stay, and do not count.
 */
export async function makeRoom(cache: Cache, { url, whole, missing }: Subject): Promise<void> {
  const bound = `KBDUMP_CACHE_SIZE allows ${bytesText(cache.most)}`;
  if (whole > cache.most)
    throw new UsageError(
      `${url} has ${bytesText(whole)}, and ${bound} for copies of buckets. Set KBDUMP_CACHE_SIZE to more`,
      [],
    );
  const copies = await findCopies(copiesIn(cache));
  const chosen = copiesToRemove(copies, { needed: missing, most: cache.most, now: Date.now() });
  if (chosen === undefined)
    throw new UsageError(
      `${url} does not fit beside the copies that commands used within the last 5 minutes: ${bound}. Start again later, or set KBDUMP_CACHE_SIZE to more`,
      [],
    );
  for (const { path } of chosen) await removeCopy(path);
}

/** Finds the copies of runs, and of databases, in a folder and those below it; files on their way count as a copy in use. */
async function findCopies(folder: string): Promise<readonly Copy[]> {
  const copies: Copy[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(ifAbsent([]))) {
    const path = join(folder, entry.name);
    if (entry.isFile() && entry.name.endsWith(".duckdb")) copies.push(await databaseAt(path));
    if (!entry.isDirectory()) continue;
    if (entry.name === asideName) copies.push({ path, bytes: await bytesIn(path), usedAt: Date.now() });
    else if (isRunId(entry.name)) copies.push(await runAt(path));
    else if (!isRestore(entry.name)) copies.push(...(await findCopies(path)));
  }
  return copies.filter(({ bytes }) => bytes > 0);
}

async function databaseAt(path: string): Promise<Copy> {
  const facts = await lstat(path).catch(ifAbsent(undefined));
  return { path, bytes: facts?.size ?? 0, usedAt: facts?.mtimeMs ?? 0 };
}

async function runAt(path: string): Promise<Copy> {
  const manifest = await stat(join(path, manifestName)).catch(ifAbsent(undefined));
  return { path, bytes: (await bytesIn(path)) - (manifest?.size ?? 0), usedAt: manifest?.mtimeMs ?? 0 };
}

/** The folder beside a run that a restore writes its journal into. */
function isRestore(name: string): boolean {
  return name.endsWith(".restore") && isRunId(name.slice(0, -".restore".length));
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ifAbsent([]));
  let bytes = 0;
  for (const entry of entries.filter((each) => each.isFile()))
    bytes += (await lstat(join(entry.parentPath, entry.name)).catch(ifAbsent(undefined)))?.size ?? 0;
  return bytes;
}

/** Removes a copy, unless somebody has begun to use it meanwhile: moves it aside first, so that a part is never taken for the whole. */
async function removeCopy(path: string): Promise<void> {
  const isRun = isRunId(basename(path));
  const job = isRun ? dirname(dirname(path)) : dirname(path);
  const aside = join(job, asideName, randomUUID());
  await mkdir(aside, { recursive: true, mode: 0o700 });
  const names = isRun ? (await readdir(path)).filter((name) => name !== manifestName) : [""];
  if (!(await isInUse(isRun ? join(path, manifestName) : path)))
    for (const name of names)
      await rename(join(path, name), join(aside, name || basename(path))).catch(ifAbsent(undefined));
  await rm(aside, { recursive: true, force: true });
}

/** The copy of a run, or of a database. */
export interface Copy {
  readonly path: string;
  readonly bytes: number;
  /** The time of its last use, in milliseconds since 1970. */
  readonly usedAt: number;
}

/**
 * Chooses the copies to remove so that `needed` bytes more fit `most`: those first that were not used for the longest time, and none
 * that is in use. Undefined where that is not enough.
 */
export function copiesToRemove(
  copies: readonly Copy[],
  { needed, most, now }: { readonly needed: number; readonly most: number; readonly now: number },
): readonly Copy[] | undefined {
  let total = needed + copies.reduce((sum, { bytes }) => sum + bytes, 0);
  const chosen: Copy[] = [];
  for (const copy of copies.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (total <= most) break;
    if (isRecent(copy.usedAt, now)) continue;
    chosen.push(copy);
    total -= copy.bytes;
  }
  return total <= most ? chosen : undefined;
}
