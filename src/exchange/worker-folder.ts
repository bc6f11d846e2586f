import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "../dump/files/is-there.js";
import { readRegular } from "../dump/files/regular-file.js";
import { isToken } from "../run/work/fence.js";
import { type JobFolders, makeFolder, refuseLinks } from "../run/work/job-folders.js";
import { holderFrom, isAlive, thisHolder } from "../run/work/lock-holder.js";

/** Milliseconds after which the folder of a worker counts as left behind although nobody can tell whether its process lives. */
const keptFor = 7 * 86_400_000;

const prefix = "worker-";
const holderFile = "holder.json";

/**
 * Makes a folder of this worker alone, `.work/worker-<token>`, for what it reads before it is uploaded. Removes those of killed
 * workers of this machine.
 */
export async function openWorkerFolder(folders: JobFolders, now: Date): Promise<string> {
  await refuseLinks(folders);
  await makeFolder(folders.private);
  await removeLeftFolders(folders, now);
  const folder = join(folders.private, `${prefix}${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, holderFile), JSON.stringify(await thisHolder(now)), { mode: 0o600 });
  return folder;
}

/** Removes the folders of workers whose process is proved dead, or that were not used for days. */
async function removeLeftFolders({ private: hidden }: JobFolders, now: Date): Promise<void> {
  for (const entry of await readdir(hidden, { withFileTypes: true })) {
    const { name } = entry;
    if (!entry.isDirectory() || !name.startsWith(prefix) || !isToken(name.slice(prefix.length))) continue;
    if (await isLeft(join(hidden, name), now)) await rm(join(hidden, name), { recursive: true, force: true });
  }
}

async function isLeft(folder: string, now: Date): Promise<boolean> {
  const content = await readRegular(join(folder, holderFile)).catch(() => Buffer.alloc(0));
  const holder = holderFrom(content.toString("utf8"));
  const lives = holder && (await isAlive(holder));
  if (lives !== undefined) return !lives;
  const facts = await lstat(folder).catch(ifAbsent(undefined));
  return facts !== undefined && now.getTime() - facts.mtimeMs > keptFor;
}
