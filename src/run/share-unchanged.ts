import { link, lstat, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { haveSameBytes } from "../dump/files/same-bytes.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import { runBefore } from "./work/run-before.js";
import type { Workspace } from "./work/workspace.js";

/**
 * Lets the staged files that are the same as in the run before share their room on the disk with it: each becomes a second name
 * of the published file. By their manifests, only files of the same size and SHA-256 are looked at; then their bytes are compared, because
 * the published file may have been damaged since. A file stays a copy if the file system refuses the link, or for any other
 * reason: it is sound in both cases. The link is made aside and renamed, so that a kill leaves a whole file.
 */
export async function shareUnchanged(
  { files, job }: Pick<Manifest, "files" | "job">,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<void> {
  const before = await runBefore(workspace, job).catch(() => undefined);
  for (const [index, { path, bytes, sha256 }] of files.entries()) {
    const known = before?.files.find((file) => file.path === path);
    if (!before || known?.bytes !== bytes || known.sha256 !== sha256) continue;
    const aside = join(workspace.scratch, `shared.${index}`);
    await shareFile(join(workspace.runs, before.run_id, path), join(workspace.stage, path), aside, signal).catch(
      () => {},
    );
  }
}

/** The file that is compared is the one that gets the name, whatever happens to the published one meanwhile. */
async function shareFile(published: string, staged: string, aside: string, signal: AbortSignal): Promise<void> {
  await rm(aside, { force: true });
  await link(published, aside);
  try {
    const [shared, copy] = [await lstat(aside), await lstat(staged)];
    const isAlike = shared.isFile() && shared.mode === copy.mode && shared.uid === copy.uid;
    if (isAlike && (await haveSameBytes(aside, staged, signal))) await rename(aside, staged);
  } finally {
    await rm(aside, { force: true });
  }
}
