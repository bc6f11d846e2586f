import { randomUUID } from "node:crypto";
import { constants, type Dirent } from "node:fs";
import { copyFile, link, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRunId } from "../../dump/run-id.js";
import { StopError } from "../../errors.js";
import { ifAbsent, isThere, readRegular, refuseLink, writeAside } from "../../files/files.js";
import { type Fingerprint, fingerprint } from "../../files/join-segments.js";
import { isToken } from "../../store/folder/fence.js";
import {
  exchangesOf,
  type JobFolders,
  type LeasedJob,
  makeFolder,
  makeOwnFolder,
  refuseLinks,
} from "../../store/folder/job-folders.js";
import { removeFrom } from "../../store/folder/remove-from.js";
import {
  type Attempt,
  type AttemptFile,
  DamagedFileError,
  type Exchange,
  isName,
  nameOfAttempt,
  nameOfReason,
  type OwnExchange,
  requireName,
  type Tried,
  triedFrom,
} from "./exchange.js";

/** Opens the exchange of a run in the folder of its job, for a worker; makes none. StopError where a link was planted in it. */
export async function openFolderExchange(folders: JobFolders, runId: string): Promise<Exchange> {
  const location = foldersFor(folders, runId);
  await refuseLinks(folders);
  await refusePlantedLinks(location);
  return { ...shownAt(location), begin: async (name) => beginInFolder(location, name) };
}

/**
 * Opens it for the coordinator, which holds the job; makes it where there is none. Every change renames something out of the
 * coordinator's own folder or into it, so that a fenced coordinator changes nothing.
 */
export async function ownFolderExchange(leased: LeasedJob, runId: string): Promise<OwnExchange> {
  const location = foldersFor(leased, runId);
  await refusePlantedLinks(location);
  await makeFolders(leased, location);
  return {
    ...shownAt(location),
    write: async (file, content) =>
      writeAside(join(location.folder, requireName(file)), content, { aside: join(leased.own, `exchange.${file}`) }),
    results: async () =>
      (await entriesIn(location.results)).filter((entry) => entry.isDirectory() && isName(entry.name)).map(nameOf),
    result: async (name) => readResult(join(location.results, requireName(name))),
    tried: async () =>
      (await entriesIn(location.tried)).filter((entry) => entry.isFile()).flatMap(({ name }) => triedIn(name)),
    reason: async (tried) => readText(join(location.tried, nameOfReason(tried))),
    forget: async (name) => {
      const aside = join(leased.own, `forgotten-${randomUUID()}`);
      await rename(join(location.results, requireName(name)), aside).catch(ifAbsent(undefined));
      await rm(aside, { recursive: true, force: true });
    },
    take: async (name, _token, { file, ...facts }, path) =>
      takeFile(join(location.results, requireName(name), requireName(file)), path, facts),
    remove: () => removeFrom(leased, location.folder),
  };
}

/** The members that a worker and its coordinator share. */
function shownAt({ folder }: ExchangeFolders): Pick<Exchange, "shown" | "read"> {
  return { shown: folder, read: async (file) => readText(join(folder, requireName(file))) };
}

const nameOf = ({ name }: { readonly name: string }): string => name;

function triedIn(file: string): readonly Tried[] {
  const tried = triedFrom(file);
  return tried ? [tried] : [];
}

/** The result in a folder that was submitted. */
async function readResult(folder: string): Promise<string | undefined> {
  const entries = await entriesIn(folder);
  const found = entries.find(({ name }) => name.endsWith(".json") && isToken(name.slice(0, -".json".length)));
  return found?.isFile() ? readText(join(folder, found.name)) : undefined;
}

/** Begins an attempt: makes its folder, and none above it, so that a place that was removed does not come back. */
async function beginInFolder(location: ExchangeFolders, name: string): Promise<Attempt | undefined> {
  const token = randomUUID();
  const folder = join(location.attempts, nameOfAttempt({ name, token }));
  const isMade = await mkdir(folder, { mode: 0o700 }).then(() => true, ifAbsent(false));
  if (!isMade) return undefined;
  return {
    token,
    folder,
    submit: (files, result) => submitResult({ folder, token, target: join(location.results, name) }, files, result),
    giveUp: async (reason) => {
      const aside = join(folder, "reason-aside");
      await writeFile(aside, reason, { mode: 0o600 })
        .then(() => rename(aside, join(location.tried, nameOfReason({ name, token }))))
        .catch(ifAbsent(undefined));
    },
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The file with the result, in the folder of the attempt that has it. No file of an attempt can have this name. */
function resultFile(token: string): string {
  return `${token}.json`;
}

interface Submission {
  readonly folder: string;
  readonly token: string;
  readonly target: string;
}

/**
 * Renames the folder of an attempt to that of the result. It is whole or not there, and only one can be the first: a folder does not
 * take the place of one with files in it (ENOTEMPTY or EEXIST: https://pubs.opengroup.org/onlinepubs/9799919799/functions/rename.html).
 */
async function submitResult(
  { folder, token, target }: Submission,
  files: readonly AttemptFile[],
  result: string,
): Promise<"first" | "late"> {
  const isOurs = () => isThere(join(target, resultFile(token)));
  try {
    for (const file of files) await requireBytes(folder, file);
    await writeFile(join(folder, resultFile(token)), result, { mode: 0o600 });
    await rename(folder, target);
    return "first";
  } catch (error) {
    if (await isOurs()) return "first"; // a network drive may send a rename twice, and report the second try
    if ((await isThere(target)) || !(await isThere(folder))) return "late";
    throw error;
  }
}

/** Looks at the size alone: the coordinator checks the hash when it takes the file, which finds what happens later, too. */
async function requireBytes(folder: string, { file, bytes }: AttemptFile): Promise<void> {
  const path = join(folder, requireName(file));
  const facts = await lstat(path).catch(ifAbsent(undefined));
  if (facts?.isFile() && facts.size === bytes) return;
  throw new StopError(
    `${path} ${facts?.isFile() ? `has ${facts.size} bytes` : "is no file"} right after ${bytes} bytes were written to it. Check the disk`,
  );
}

/** The folders of the exchange of one run. */
interface ExchangeFolders {
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
function foldersFor(folders: Pick<JobFolders, "private">, runId: string): ExchangeFolders {
  if (!isRunId(runId)) throw new StopError(`${JSON.stringify(runId.slice(0, 80))} is no id of a run`);
  const folder = join(exchangesOf(folders), runId);
  const [attempts, results, tried] = [join(folder, "attempts"), join(folder, "results"), join(folder, "tried")];
  return { folder, attempts, results, tried };
}

/** Refuses links that somebody planted in the place of a folder of the exchange. */
async function refusePlantedLinks({ folder, attempts, results, tried }: ExchangeFolders): Promise<void> {
  for (const path of [dirname(folder), folder, attempts, results, tried]) await refuseLink(path);
}

/** Makes the folders by one rename out of our own, so that a fenced run makes none; those of an earlier process stay as they are. */
async function makeFolders(leased: LeasedJob, { folder, attempts, results, tried }: ExchangeFolders): Promise<void> {
  await makeFolder(dirname(folder));
  if (await isThere(folder)) return;
  const aside = join(leased.own, "exchange");
  await rm(aside, { recursive: true, force: true });
  await makeOwnFolder(aside);
  for (const path of [attempts, results, tried]) await makeOwnFolder(join(aside, path.slice(folder.length + 1)));
  await rename(aside, folder);
}

/** Removes the exchanges of all runs of a job but one, or of all. The caller holds the job. */
export async function removeOtherFolders(leased: LeasedJob, runId: string | undefined): Promise<void> {
  const exchanges = exchangesOf(leased);
  await refuseLink(exchanges);
  for (const name of await readdir(exchanges).catch(ifAbsent<string[]>([])))
    if (name !== runId) await removeFrom(leased, join(exchanges, name));
}

/** The text of a file; undefined where there is none. StopError for a link, or anything else that is no file. */
async function readText(path: string): Promise<string | undefined> {
  await refuseLink(path);
  const bytes = await readRegular(path).catch(ifAbsent(undefined));
  return bytes?.toString("utf8");
}

/** The entries of a folder; none where it does not exist. Those that are links tell so, and count for nothing. */
async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(ifAbsent<Dirent[]>([]));
}

/**
 * Gives a file a second name, or copies it where the file system has no hard links; a file that has this name is replaced. DamagedFileError,
 * and no file, where its bytes are others.
 */
async function takeFile(source: string, path: string, expected: Fingerprint): Promise<void> {
  await rm(path, { force: true });
  const facts = await lstat(source).catch(ifAbsent(undefined));
  if (!facts?.isFile()) throw new DamagedFileError(source, facts ? "it is no file" : "it is not there");
  await link(source, path).catch(() => copyFile(source, path, constants.COPYFILE_FICLONE));
  const { bytes, sha256 } = await fingerprint(path);
  if (bytes === expected.bytes && sha256 === expected.sha256) return;
  await rm(path, { force: true });
  const difference =
    bytes === expected.bytes ? "its SHA-256 is another" : `it has ${bytes} bytes, not ${expected.bytes}`;
  throw new DamagedFileError(source, difference);
}
