import type { Dirent } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ifAbsent, isThere } from "../dump/files/is-there.js";
import { readRegular, refuseLink } from "../dump/files/regular-file.js";
import { isRunId } from "../dump/manifest/run-id.js";
import { StopError } from "../errors.js";
import { exchangesOf, type Hold, type JobFolders, makeFolder, makeOwnFolder } from "../run/work/job-folders.js";
import { removeFrom } from "../run/work/remove-from.js";

/** The folders of the exchange of one run. */
export interface FolderPlace {
  /** `.work/exchange/<run_id>`; beside the other three, it holds the files that the coordinator writes for the workers. */
  readonly folder: string;
  /** A folder for each attempt under way, `<name>.<token>`. */
  readonly attempts: string;
  /** A folder for each document that was read whole, `<name>`: it was that of the attempt. */
  readonly results: string;
  /** A file for each attempt that did not read its document whole. */
  readonly tried: string;
}

/** Names the folders of an exchange; makes none. StopError for a run id that is none, since a broker may give any. */
export function placeOf(folders: Pick<JobFolders, "private">, runId: string): FolderPlace {
  if (!isRunId(runId)) throw new StopError(`${JSON.stringify(runId.slice(0, 80))} is no id of a run`);
  const folder = join(exchangesOf(folders), runId);
  const [attempts, results, tried] = [join(folder, "attempts"), join(folder, "results"), join(folder, "tried")];
  return { folder, attempts, results, tried };
}

/** Refuses links that somebody planted in the place of a folder of the exchange. */
export async function refusePlantedLinks({ folder, attempts, results, tried }: FolderPlace): Promise<void> {
  for (const path of [dirname(folder), folder, attempts, results, tried]) await refuseLink(path);
}

/** Makes the folders by one rename out of our own, so that a fenced run makes none; those of an earlier process stay as they are. */
export async function makePlace(hold: Hold, { folder, attempts, results, tried }: FolderPlace): Promise<void> {
  await makeFolder(dirname(folder));
  if (await isThere(folder)) return;
  const aside = join(hold.own, "exchange");
  await rm(aside, { recursive: true, force: true });
  await makeOwnFolder(aside);
  for (const path of [attempts, results, tried]) await makeOwnFolder(join(aside, path.slice(folder.length + 1)));
  await rename(aside, folder);
}

/** Removes the exchanges of all runs of a job but one, or of all. The caller holds the job. */
export async function removeOtherFolders(hold: Hold, runId: string | undefined): Promise<void> {
  const exchanges = exchangesOf(hold);
  await refuseLink(exchanges);
  for (const name of await readdir(exchanges).catch(ifAbsent<string[]>([])))
    if (name !== runId) await removeFrom(hold, join(exchanges, name));
}

/** The text of a file; undefined where there is none. StopError for a link, or anything else that is no file. */
export async function readText(path: string): Promise<string | undefined> {
  await refuseLink(path);
  const bytes = await readRegular(path).catch(ifAbsent(undefined));
  return bytes?.toString("utf8");
}

/** The entries of a folder; none where it does not exist. Those that are links tell so, and count for nothing. */
export async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(ifAbsent<Dirent[]>([]));
}
