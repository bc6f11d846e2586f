import { constants, type Stats } from "node:fs";
import { chmod, type FileHandle, lstat, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StopError } from "../errors.js";
import { jsonText, parseJson } from "../rows/exact-json.js";
import { flush } from "./flush.js";

/**
 * Whether anything has this name; what a link leads to is not looked at. Rejects where the disk does not say: an error is no
 * proof that nothing is there.
 */
export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Whether an error says that nothing has this name. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** For `catch`: what to take instead where nothing has this name; any other error stays one. */
export function ifAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isAbsence(error)) return value;
    throw error;
  };
}

/** Without it, opening a named pipe waits until somebody writes to it. Windows has no such pipes. */
const noWait = constants.O_NONBLOCK ?? 0;

/**
 * Opens a file, to read it by default. Throws StopError, without waiting, if the path is something else, such as a named pipe. New
 * files get mode 0600.
 */
export async function openRegular(path: string, flags = constants.O_RDONLY): Promise<FileHandle> {
  const file = await open(path, flags | noWait, 0o600);
  const facts = await file.stat();
  if (facts.isFile()) return file;
  await file.close();
  throw new StopError(`${path} is ${kindOf(facts)}, not a file; remove it or move it away`);
}

/** The bytes of a file, likewise. */
export async function readRegular(path: string): Promise<Buffer> {
  const file = await openRegular(path);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Throws StopError if a path is a symbolic link: a planted one could redirect writes and deletions. */
export async function refuseLink(path: string): Promise<void> {
  const isLink = await lstat(path).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  );
  if (isLink) throw new StopError(`${path} is a symbolic link, which is not followed; remove it`);
}

/** Names the kind of a file system entry: `a folder`, `a named pipe`, … */
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
  /** The path at which the file is made, on the same disk; beside the file by default. */
  readonly aside?: string;
  /** Whether the content has to be on the disk before the file has its name. A power cut needs that, a kill does not. */
  readonly isFlushed?: boolean;
  /** The mode of the file; by default only its owner may read it. */
  readonly mode?: number;
}

/** Writes a file whole or not at all: makes it aside, and renames it. */
export async function writeAside(
  path: string,
  content: string | Uint8Array,
  { aside = `${path}.part`, isFlushed = true, mode = 0o600 }: WriteOptions = {},
): Promise<void> {
  try {
    await writeFile(aside, content, { mode });
    await chmod(aside, mode); // whatever the umask
    if (isFlushed) await flush(aside);
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => {}); // a full disk needs the room
    throw error;
  }
}

/** Writes a value whole or not at all, numbers exactly, for the owner only; it is on the disk when this resolves. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await writeAside(path, jsonText(value));
}

/** A value that this program wrote in its own folder; undefined where there is none, or none that can be read. */
export async function readJsonFile(path: string): Promise<unknown> {
  return jsonFrom(readFile(path));
}

/** The same in a folder that is for others, too, where a named pipe may have the name of the file. */
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

/** Makes the folders of a path within a folder, for their owner only. Rejects where that folder itself is not there. */
export async function makeFolders(folder: string, path: string): Promise<void> {
  const inner = dirname(path);
  if (inner === ".") return;
  await makeFolders(folder, inner);
  await mkdir(join(folder, inner), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** Makes a file that DuckDB wrote readable by its owner only, and brings it down to the disk. */
export async function seal(path: string): Promise<void> {
  await chmod(path, 0o600);
  await flush(path);
}

/** A file that cannot be read as rows of its kind, from some place on. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

/** Works on at most `atOnce` items at a time; waits for all that were begun before it rejects with the first error. */
export async function forEachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const [index, item] of queue) await work(item, index);
  });
  const outcomes = await Promise.allSettled(workers);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}
