import { stat, utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
import { StopError, UsageError } from "../../errors.js";
import { fileErrorText } from "../../file-error.js";
import { ifAbsent } from "../../files/files.js";
import { type BucketPrefix, homeFolder, prefixFromUrl } from "../../job/s3-url.js";

/** The folder of this machine that holds copies of what lies in buckets. */
export interface Cache {
  /** Absolute. */
  readonly root: string;
  /** The most bytes that the files of runs and the databases in it may have together. */
  readonly most: number;
}

const usualSize = "20GB";
const sizePattern = /^(\d{1,12}(?:\.\d{1,6})?) ?([kMGT])B$/i;

/**
 * The cache that the environment names: KBDUMP_CACHE, else `kbdump` in XDG_CACHE_HOME, else ~/.cache/kbdump; KBDUMP_CACHE_SIZE
 * bounds it. UsageError where that is no size, and where no variable names a folder and the user has no home.
 */
export function cacheFrom(env: NodeJS.ProcessEnv, home = homeFolder): Cache {
  const root = rootFrom(env, home);
  if (root === undefined)
    throw new UsageError("This user has no home folder to keep copies of buckets in: set KBDUMP_CACHE", []);
  return { root, most: sizeFrom(env.KBDUMP_CACHE_SIZE || usualSize) };
}

/** The folder of the cache alone, whatever its size; undefined where there is none. */
export function rootFrom(env: NodeJS.ProcessEnv, home = homeFolder): string | undefined {
  const { KBDUMP_CACHE, XDG_CACHE_HOME, HOME } = env;
  if (KBDUMP_CACHE) return resolve(KBDUMP_CACHE);
  if (XDG_CACHE_HOME) return resolve(XDG_CACHE_HOME, "kbdump");
  const folder = HOME || home();
  return folder === undefined ? undefined : resolve(folder, ".cache", "kbdump");
}

function sizeFrom(text: string): number {
  const [, amount, unit = ""] = sizePattern.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * 1000 ** ("kMGT".toLowerCase().indexOf(unit.toLowerCase()) + 1);
  throw new UsageError(`KBDUMP_CACHE_SIZE is ${JSON.stringify(text)}; expected a size such as 500MB or 20GB`, []);
}

/** The folder of all copies: `<root>/s3`. */
export function copiesIn({ root }: Pick<Cache, "root">): string {
  return join(root, "s3");
}

/** The folder for the copy of a place: `<root>/s3/<bucket>/<prefix>`. */
export function folderInCache(cache: Cache, url: string): string {
  const { bucket, prefix }: BucketPrefix = prefixFromUrl(url);
  return join(copiesIn(cache), bucket, ...prefix.split("/").filter((name) => name !== ""));
}

/** Settles like the work; says of an error of the disk that it is the cache that cannot be written, and what to do. */
export async function writingCache<T>({ root }: Cache, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof StopError ? undefined : fileErrorText(error)?.replace(/: \/.*$/s, "");
    if (reason === undefined) throw error;
    throw new StopError(
      `copies of buckets cannot be kept in ${root}: ${reason}. Solve that, or let KBDUMP_CACHE name another folder`,
      { cause: error },
    );
  }
}

/** Milliseconds for which a copy counts as in use after it was last marked. */
const usedFor = 300_000;
const markEvery = 60_000;

/**
 * Marks a copy as used now, and again every minute for as long as this process is at work: by the time of a file of it. Nothing
 * happens while that file is not there.
 */
export async function keepInUse(path: string, signal: AbortSignal): Promise<void> {
  await markUse(path);
  const timer = setInterval(() => markUse(path).catch(() => clearInterval(timer)), markEvery).unref();
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

async function markUse(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(ifAbsent(undefined));
}

/** Whether some process uses a copy, by the time of that file. */
export async function isInUse(path: string): Promise<boolean> {
  const facts = await stat(path).catch(ifAbsent(undefined));
  return facts !== undefined && isRecent(facts.mtimeMs, Date.now());
}

/** Whether a copy with this time of last use is in use. */
export function isRecent(usedAt: number, now: number): boolean {
  return now - usedAt < usedFor;
}
