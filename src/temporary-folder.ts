import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const open = new Set<string>();

/** Removes the folders even if the process ends at once, for example after a second Ctrl-C, and does not reach the end of its scopes. */
process.on("exit", () => {
  for (const path of open) rmSync(path, { recursive: true, force: true });
});

/** Creates `kbdump-<purpose>-…` in the system's temporary folder, which only this user can read. Disposing of it removes the folder. */
export async function makeTemporaryFolder(purpose: string) {
  const path = await mkdtemp(join(tmpdir(), `kbdump-${purpose}-`));
  open.add(path);
  const remove = async () => {
    await rm(path, { recursive: true, force: true });
    open.delete(path);
  };
  return { path, [Symbol.asyncDispose]: remove };
}
