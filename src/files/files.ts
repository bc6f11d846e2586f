import { constants, type Stats } from "node:fs";
import { chmod, type FileHandle, lstat, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StopError } from "../errors.js";
import { jsonText, parseJson } from "../rows/exact-json.js";
import { flush } from "./flush.js";

/** Whether the path exists. Does not follow a link. Rejects for any other disk error, because it does not prove absence. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Whether an error means that the path does not exist. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** For `catch`: returns a value if the path does not exist; rethrows any other error. */
export function ifAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isAbsence(error)) return value;
    throw error;
  };
}

/** Whether an error means that something exists at the path already. */
export function isCollision(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

/** For `catch`: returns a value if something exists at the path already; rethrows any other error. */
export function ifPresent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isCollision(error)) return value;
    throw error;
  };
}

/** A flag for opening files: do not wait for a writer if the path is a named pipe. Windows has no such pipes. */
const noWait = constants.O_NONBLOCK ?? 0;

/**
 * Opens a file, for reading by default. Throws StopError, without waiting, if the path is something else, such as a named pipe.
 * New files get mode 0600.
 */
export async function openRegular(path: string, flags = constants.O_RDONLY): Promise<FileHandle> {
  const file = await open(path, flags | noWait, 0o600);
  const facts = await file.stat();
  if (facts.isFile()) return file;
  await file.close();
  throw new StopError(`${path} is ${kindOf(facts)}, not a file; remove it or move it away`);
}

/** Reads a file. Throws like openRegular. */
export async function readRegular(path: string): Promise<Buffer> {
  const file = await openRegular(path);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Throws StopError if a path is a symbolic link, because a planted one could redirect writes and deletions. */
export async function refuseLink(path: string): Promise<void> {
  const isLink = await lstat(path).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  );
  if (isLink) throw new StopError(`${path} is a symbolic link, which is not followed; remove it`);
}

/** The kind of a file system entry: `a folder`, `a named pipe`, … */
export function kindOf(
  facts: Pick<Stats, "isFile" | "isDirectory" | "isFIFO" | "isSymbolicLink" | "isSocket">,
): string {
  if (facts.isFile()) return "a file";
  if (facts.isDirectory()) return "a folder";
  if (facts.isFIFO()) return "a named pipe";
  if (facts.isSymbolicLink()) return "a symbolic link";
  return facts.isSocket() ? "a socket" : "a device";
}

interface WriteOptions {
  /** The temporary path, on the same disk; default: next to the file. */
  readonly aside?: string;
  /** Whether to flush the content before the file gets its name. Only a power cut makes this necessary, a kill does not. */
  readonly isFlushed?: boolean;
  /** The mode of the file; default: readable by its owner only. */
  readonly mode?: number;
}

/** Writes a file completely or not at all, by writing under a temporary name and renaming. */
export async function writeAside(
  path: string,
  content: string | Uint8Array,
  { aside = `${path}.part`, isFlushed = true, mode = 0o600 }: WriteOptions = {},
): Promise<void> {
  try {
    await writeFile(aside, content, { mode });
    await chmod(aside, mode); // regardless of the umask
    if (isFlushed) await flush(aside);
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => {}); // frees space on a full disk
    throw error;
  }
}

/** Writes a value as JSON, with exact numbers, all or nothing, readable only by the owner. Resolves once flushed to disk. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await writeAside(path, jsonText(value));
}

/** Reads a value that this program wrote in its own folder; undefined if missing or unreadable. */
export async function readJsonFile(path: string): Promise<unknown> {
  return jsonFrom(readFile(path));
}

/** Like readJsonFile, for a folder that others can write to, where the path may be a named pipe. */
export async function readSharedJson(path: string): Promise<unknown> {
  return jsonFrom(readRegular(path));
}

async function jsonFrom(reading: Promise<Buffer>): Promise<unknown> {
  try {
    return parseJson((await reading).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Makes a folder, and its parents, readable only by the owner. Throws StopError if the path is a link. */
export async function makeFolder(path: string): Promise<void> {
  await refuseLink(path);
  await makeWithParents(path);
}

/**
 * Makes a folder and its parents. Does not use Node's `recursive` option, which loops forever on a file system that refuses
 * folders, and hides that one is read-only.
 */
async function makeWithParents(path: string): Promise<void> {
  if (await makeOne(path)) return;
  await makeWithParents(dirname(path));
  if (!(await makeOne(path)))
    throw new StopError(`${path} cannot be made: the file system of ${dirname(path)} does not accept new folders`);
}

/** Makes one folder if it does not exist. Returns false if the system reports that its parent is missing. */
async function makeOne(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    const facts = await stat(path).catch(() => undefined);
    if (!facts?.isDirectory()) throw error;
  }
  return true;
}

/**
 * Makes a folder in an owner's folder, unless it exists. Rejects if the owner's folder is missing, because then another run has
 * taken over.
 */
export async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(ifPresent(undefined));
}

/** Creates the folders of a path within a folder, for the owner only. Rejects if that folder does not exist. */
export async function makeFolders(folder: string, path: string): Promise<void> {
  const inner = dirname(path);
  if (inner === ".") return;
  await makeFolders(folder, inner);
  await makeOwnFolder(join(folder, inner));
}

/** Makes a file written by DuckDB readable by its owner only, and flushes it. */
export async function seal(path: string): Promise<void> {
  await chmod(path, 0o600);
  await flush(path);
}

/** Thrown for a file that is damaged or not in its format. The rows before the damage may have been read already. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

/**
 * Processes at most `atOnce` items at a time. After the first failure, or once `ending` is aborted, starts no more, and aborts the
 * signal of the started ones. Waits for them before rejecting with the reason of `ending`, or with the first error.
 */
export async function forEachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number, signal: AbortSignal) => Promise<void>,
  ending?: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const signal = ending ? AbortSignal.any([ending, failed.signal]) : failed.signal;
  const queue = items.entries();
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const [index, item] of queue) {
      if (signal.aborted) return;
      await work(item, index, signal).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      });
    }
  });
  const outcomes = await Promise.allSettled(workers);
  ending?.throwIfAborted();
  const rejected = outcomes.find((outcome) => outcome.status === "rejected");
  if (rejected) throw rejected.reason;
}
