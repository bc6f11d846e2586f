import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Makes the folders of a path within a folder, for their owner only. Rejects where that folder itself is not there. */
export async function makeFolders(folder: string, path: string): Promise<void> {
  const inner = dirname(path);
  if (inner === ".") return;
  await makeFolders(folder, inner);
  await mkdir(join(folder, inner), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
