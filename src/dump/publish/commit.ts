import { lstat, rename } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../../errors.js";
import type { Hold } from "../../run/work/job-folders.js";
import { workspaceIn } from "../../run/work/workspace.js";
import { ifAbsent } from "../files/is-there.js";
import { type Fingerprint, fingerprint } from "../files/join-parts.js";
import { manifestName } from "../manifest/manifest.js";

/**
 * Publishes a run by one rename of its staged folder; everything else follows from it. The stage lies below the folder of the
 * holder, so that the rename fails once a successor has fenced it. Rejects where nothing is published: StopError when there is
 * a run of this id already.
 */
export async function commitRun(hold: Hold, runId: string): Promise<void> {
  const { stage } = workspaceIn(hold, runId);
  const folder = join(hold.runs, runId);
  const manifest = await fingerprint(join(stage, manifestName));
  try {
    await refuseTaken(folder);
    await rename(stage, folder);
  } catch (error) {
    // A disk that reports an error may have done it all the same.
    if (!(await isFile(join(folder, manifestName), manifest).catch(() => false))) throw error;
  }
}

/** A rename takes the place of an empty folder; of one with files it fails by itself, also in the moment after this look. */
async function refuseTaken(folder: string): Promise<void> {
  const facts = await lstat(folder).catch(ifAbsent(undefined));
  if (facts) throw new StopError(`${folder} is there already, so this run cannot be published. Move it away`);
}

/** Whether there is a file with these bytes; anything else that stands there is not opened. */
async function isFile(path: string, { sha256 }: Fingerprint): Promise<boolean> {
  return (await lstat(path)).isFile() && (await fingerprint(path)).sha256 === sha256;
}
