import { chmod } from "node:fs/promises";
import { flush } from "./flush.js";

/** Makes a file that DuckDB wrote readable by its owner only, and brings it down to the disk. */
export async function seal(path: string): Promise<void> {
  await chmod(path, 0o600);
  await flush(path);
}
