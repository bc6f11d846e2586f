import { realpathSync } from "node:fs";
import { stat, utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
import { StopError, UsageError } from "../../errors.js";
import { fileErrorText } from "../../file-error.js";
import { ifAbsent } from "../../files/files.js";
import { type BucketPlace, placeFromUrl } from "../../job/s3-url.js";
import { homeFolder } from "../bucket/bucket.js";

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
function rootFrom(env: NodeJS.ProcessEnv, home = homeFolder): string | undefined {
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
  const { bucket, prefix }: BucketPlace = placeFromUrl(url);
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

/** Milliseconds for which a copy counts as in use after its last sign of use. */
const usedFor = 300_000;
const signEvery = 60_000;

/**
 * Marks a copy as used now, and again every minute for as long as this process is at work: by the time of a file of it. Nothing
 * happens while that file is not there.
 */
export async function keepInUse(path: string, signal: AbortSignal): Promise<void> {
  await markUse(path);
  const timer = setInterval(() => markUse(path).catch(() => clearInterval(timer)), signEvery).unref();
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

/** Gives a text with every path of a copy replaced by the address of what was copied. */
export type BucketNames = (text: string) => string;

/** A run that is fetched to be proved: see mirror-run.ts. */
const onItsWay = /\.copy\/[0-9a-f-]{36}\/(\d{8}T\d{9}Z)/;

/**
 * Names what lies in the cache as users know it: `s3://bucket/prefix/nightly/runs/…` for the path of its copy. The folders of restores
 * keep their paths, as they are on this machine alone.
 */
export function bucketNames(env: NodeJS.ProcessEnv, home = homeFolder): BucketNames {
  const root = rootFrom(env, home);
  if (root === undefined) return (text) => text; // no cache, so no copies
  const roots = [...new Set([root, resolved(root)])].map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const copies = new RegExp(`(?:${roots.join("|")})/s3/([^\\s'"<>:;,)]+)`, "g");
  return (text) =>
    text.replace(copies, (path, rest: string) =>
      /\/runs\/\d{8}T\d{9}Z\.restore(?:\/|$)/.test(rest) ? path : `s3://${rest.replace(onItsWay, "runs/$1")}`,
    );
}

/** The same with its folder named as the user knows it. */
export function withFolderName<T extends { readonly folder: string }>(value: T, names: BucketNames): T {
  return { ...value, folder: names(value.folder) };
}

/** The error with the same names in all that it says. */
export function withBucketNames(error: unknown, names: BucketNames): unknown {
  if (!(error instanceof Error)) return error;
  const named: { message: string; path?: string; problems?: UsageError["problems"] } = {
    message: names(error.message),
  };
  if ("path" in error && typeof error.path === "string") named.path = names(error.path);
  if (error instanceof UsageError)
    named.problems = error.problems.map(({ path, message }) => ({ path: names(path), message: names(message) }));
  return Object.assign(error, named);
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it is not there, so no copy is
  }
}
