import { lstat, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../../errors.js";
import type { Workspace } from "../../run/workspace.js";
import { ifAbsent } from "../files/is-there.js";
import { readRegular } from "../files/regular-file.js";

/**
 * Publishes the staged run folder by one rename; everything else follows from it. Rejects where nothing is published:
 * StopError when there is a run of this id already.
 */
export async function commitRun(workspace: Workspace): Promise<void> {
  const folder = join(workspace.runs, workspace.runId);
  const text = await readFile(join(workspace.stage, "manifest.json"));
  try {
    await refuseTaken(folder);
    await rename(workspace.stage, folder);
  } catch (error) {
    // A disk that reports an error may have done it all the same.
    const published = await readRegular(join(folder, "manifest.json")).catch(() => undefined);
    if (!published?.equals(text)) throw error;
  }
}

/** A rename takes the place of an empty folder; of one with files it fails by itself, also in the moment after this look. */
async function refuseTaken(folder: string): Promise<void> {
  const facts = await lstat(folder).catch(ifAbsent(undefined));
  if (facts) throw new StopError(`${folder} is there already, so this run cannot be published. Move it away`);
}
