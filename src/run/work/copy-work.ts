import { constants, type Dirent } from "node:fs";
import { copyFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent, isThere } from "../../dump/files/is-there.js";
import { manifestName } from "../../dump/manifest/manifest.js";
import { makeOwnFolder } from "./job-folders.js";

/** The entries of a folder; none if it does not exist. */
export async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(ifAbsent<Dirent[]>([]));
}

/**
 * Selects the files to copy. The stage and DuckDB's spill are left out, since the next run makes them anew. The database is
 * copied if the run may have been published: then nobody else has it.
 */
async function wantedIn(work: string): Promise<(path: string) => boolean> {
  const stage = join(work, "stage");
  // In this order: the rename that publishes the stage may happen between the two looks.
  const isStaged = (await isThere(join(stage, manifestName))) || !(await isThere(stage));
  const scratch = join(work, "scratch");
  return (path) => {
    if (path.startsWith(scratch)) return isStaged && (path === scratch || path.endsWith(".duckdb"));
    return path !== stage;
  };
}

/**
 * Copies the work of a run that is fenced; its holder may still add to files that it has open. That does no harm: when the work is
 * continued, rows count where they are as their journal says. What lies behind them is cut off, or passed over in a shared file.
 */
export async function copyWork(source: string, target: string): Promise<void> {
  await copyFolder(source, target, await wantedIn(source));
}

async function copyFolder(source: string, target: string, isWanted: (path: string) => boolean): Promise<void> {
  await makeOwnFolder(target);
  for (const entry of await entriesOf(source)) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (!isWanted(from)) continue;
    if (entry.isDirectory()) await copyFolder(from, to, isWanted);
    else if (entry.isFile()) await copyIfThere(from, to);
  }
}

/** A rename or removal that was under way when its holder was fenced may still take the file away. */
export async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (await isThere(from)) throw error;
    ifAbsent(undefined)(error);
  }
}

/** Removes what is neither a file nor a folder: opening a named pipe would wait for good, a link would lead elsewhere. */
export async function dropOddFiles(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await dropOddFiles(path);
    else if (!entry.isFile()) await rm(path, { force: true });
  }
}
