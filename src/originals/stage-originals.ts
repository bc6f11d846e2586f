import { constants } from "node:fs";
import { copyFile, link, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flush } from "../dump/files/flush.js";
import { originalsFolder } from "../dump/manifest/original.js";
import { makeOwnFolder } from "../run/work/job-folders.js";
import type { HeldOriginal } from "./save-originals.js";

/** Gives the files a second name in the folder that becomes the run folder; where that is not possible, copies them. */
export async function stageOriginals(held: readonly HeldOriginal[], stage: string): Promise<void> {
  const folder = join(stage, originalsFolder);
  await rm(folder, { recursive: true, force: true });
  for (const { original, file } of held) {
    if (original.path === null) continue;
    const target = join(stage, original.path);
    await makeOwnFolder(folder);
    await makeOwnFolder(dirname(target));
    await link(file, target).catch(async () => {
      await copyFile(file, target, constants.COPYFILE_FICLONE);
      await flush(target);
    });
    await flush(dirname(target));
  }
  if (held.some(({ original }) => original.path !== null)) await flush(folder);
}
