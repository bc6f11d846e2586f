import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { flush } from "./flush.js";

export interface WriteOptions {
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
