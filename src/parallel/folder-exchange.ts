import { constants } from "node:fs";
import { copyFile, link, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StopError } from "../errors.js";
import {
  ifAbsent,
  ifPresent,
  isThere,
  makeFolder,
  makeOwnFolder,
  readRegular,
  refuseLink,
  writeAside,
} from "../files/files.js";
import { isFile, removeFrom } from "../store/folder/folder-store.js";
import { type JobFolders, refuseLinks } from "../store/folder/job-folders.js";
import type { LeasedJob } from "../store/lease.js";
import type { Exchange, OwnExchange } from "./exchange.js";

/**
 * The exchange of a run in its job's folder, for a worker: `.work/exchange/<run_id>`. Makes only the folders of attempts, not their
 * parents, so that a removed exchange does not come back. Throws StopError if it contains a planted link.
 */
export async function folderExchange(folders: JobFolders, runId: string): Promise<Exchange> {
  await refuseLinks(folders);
  const folder = await folderOf(folders, runId);
  const folderOfAttempt = (attempt: string) => join(folder, "attempts", attempt);
  return {
    read: (key) => readText(join(folder, key)),
    begin: async (attempt) => {
      const path = folderOfAttempt(attempt);
      return mkdir(path, { mode: 0o700 }).then(() => path, ifAbsent(undefined));
    },
    // Checks only the size. The coordinator checks the hash when it takes the file, which also detects later damage.
    submit: async (attempt, { file, bytes }) => {
      const path = join(folderOfAttempt(attempt), file);
      const facts = await lstat(path).catch(ifAbsent(undefined));
      const [found, expected] = [facts?.isFile() ? `has ${facts.size} bytes` : "is not a file", `has ${bytes} bytes`];
      if (found !== expected)
        throw new StopError(`${path} ${found} right after ${bytes} bytes were written to it. Check the disk`);
    },
    // A hard link appears with its content, and fails if the name exists. Without hard links, a kill may leave a partial copy.
    create: async (attempt, key, content) => {
      const [source, path] = [join(folderOfAttempt(attempt), "result.json"), join(folder, key)];
      await writeFile(source, content, { mode: 0o600 });
      return link(source, path)
        .catch(() => copyFile(source, path, constants.COPYFILE_EXCL))
        .then(() => true, ifPresent(false));
    },
    drop: async (attempt, outcome) => {
      if (outcome !== "first") await rm(folderOfAttempt(attempt), { recursive: true, force: true });
    },
  };
}

/**
 * The exchange of a run in its job's folder, for the coordinator; makes the folder if needed. Every change is a rename out of or
 * into the coordinator's own folder, so that a coordinator that lost its lease, and with it that folder, changes nothing.
 */
export async function ownFolderExchange(leased: LeasedJob, runId: string): Promise<OwnExchange> {
  const folder = await folderOf(leased, runId);
  await makeFolder(dirname(folder));
  const aside = join(leased.own, "exchange");
  if (!(await isThere(folder))) {
    await rm(aside, { recursive: true, force: true });
    for (const path of [aside, join(aside, "attempts"), join(aside, "results")]) await makeOwnFolder(path);
    await rename(aside, folder);
  }
  return {
    read: (key) => readText(join(folder, key)),
    names: (key) => readdir(join(folder, key)).catch(ifAbsent<string[]>([])),
    write: (key, content) => writeAside(join(folder, key), content, { aside: `${aside}.${key}` }),
    take: async (key, path, expected) => {
      const source = join(folder, key);
      await rm(path, { force: true });
      if (!(await isFile(source, expected).catch(ifAbsent(false)))) return false;
      await link(source, path).catch(() => copyFile(source, path, constants.COPYFILE_FICLONE));
      return true;
    },
    remove: () => removeFolders(leased, (name) => name === runId),
  };
}

/** Removes exchanges of a job. */
export async function removeFolders(leased: LeasedJob, isChosen: (runId: string) => boolean): Promise<void> {
  const exchanges = exchangesOf(leased);
  await refuseLink(exchanges);
  for (const name of await readdir(exchanges).catch(ifAbsent<string[]>([])))
    if (isChosen(name)) await removeFrom(leased, join(exchanges, name));
}

/** The folder in which the workers of a run submit results: `.work/exchange`. */
function exchangesOf({ private: hidden }: Pick<JobFolders, "private">): string {
  return join(hidden, "exchange");
}

/** The folder of an exchange. Throws StopError for planted links. */
async function folderOf(folders: Pick<JobFolders, "private">, runId: string): Promise<string> {
  const folder = join(exchangesOf(folders), runId);
  for (const path of [dirname(folder), folder, join(folder, "attempts"), join(folder, "results")])
    await refuseLink(path);
  return folder;
}

async function readText(path: string): Promise<string | undefined> {
  const facts = await lstat(path).catch(ifAbsent(undefined));
  if (!facts?.isFile()) return facts && "";
  return (await readRegular(path).catch(ifAbsent(undefined)))?.toString("utf8");
}
