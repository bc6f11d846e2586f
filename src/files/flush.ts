import { open } from "node:fs/promises";

/** Brings what was written to a file, or the names in a folder, down to the disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
