import { link, lstat, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { haveSameBytes } from "../dump/files/same-bytes.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import { namesBefore } from "./work/run-before.js";
import type { Workspace } from "./work/workspace.js";

/**
 * Lets the staged files that are the same as in the run before share their room on the disk with it: each becomes a second name
 * of the published file. Their bytes are compared, whatever the manifest of that run says: the published file may have been damaged
 * since, and the manifest of very many documents takes long to read. A file stays a copy if the file system refuses the link, or for
 * any other reason: it is sound in both cases. The link is made aside and renamed, so that a kill leaves a whole file.
 */
export async function shareUnchanged(
  { files }: Pick<Manifest, "files">,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<void> {
  const [before] = await namesBefore(workspace).catch(() => []);
  if (before === undefined) return;
  for (const [index, { path }] of files.entries()) {
    const aside = join(workspace.scratch, `shared.${index}`);
    await shareFile(join(workspace.runs, before, path), join(workspace.stage, path), aside, signal).catch(() => {});
  }
}

/** The file that is compared is the one that gets the name, whatever happens to the published one meanwhile. */
async function shareFile(published: string, staged: string, aside: string, signal: AbortSignal): Promise<void> {
  await rm(aside, { force: true });
  await link(published, aside);
  try {
    const [shared, copy] = [await lstat(aside), await lstat(staged)];
    const isAlike =
      shared.isFile() && shared.size === copy.size && shared.mode === copy.mode && shared.uid === copy.uid;
    if (isAlike && (await haveSameBytes(aside, staged, signal))) await rename(aside, staged);
  } finally {
    await rm(aside, { force: true });
  }
}
