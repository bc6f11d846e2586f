import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { StopError } from "../../errors.js";

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
