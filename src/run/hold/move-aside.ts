import { readdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { asideFolder } from "./fence.js";
import { isThere } from "./is-there.js";
import { type Hold, makeOwnFolder } from "./job-folders.js";

/**
 * Gives what lies in the folder of the job a name of its own beside it, `<name>.aside`, and gives its path. By way of our own
 * folder: once we are fenced, nothing is taken from the folder of the job any more. Should we end in between, the next
 * holder finds it there.
 */
export async function moveAside(hold: Hold, path: string): Promise<string> {
  await makeOwnFolder(join(hold.own, asideFolder));
  await rename(path, join(hold.own, asideFolder, basename(path)));
  return putBack(hold, basename(path));
}

/** Ends what an earlier holder began: what it had taken from the folder of the job gets its name there. */
export async function endMovesAside(hold: Hold): Promise<void> {
  for (const name of await readdir(join(hold.own, asideFolder)).catch(() => [])) await putBack(hold, name);
}

async function putBack(hold: Hold, name: string): Promise<string> {
  const target = await freeName(join(hold.folder, `${name}.aside`));
  await rename(join(hold.own, asideFolder, name), target);
  return target;
}

async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (!(await isThere(name))) return name;
  }
}
