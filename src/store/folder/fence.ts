import { constants, type Dirent } from "node:fs";
import { copyFile, lstat, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { manifestName } from "../../dump/manifest.js";
import { isRunId } from "../../dump/run-id.js";
import { StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { ifAbsent, isThere, makeFolder, makeOwnFolder, readSharedJson, refuseLink } from "../../files/files.js";
import { count, object, text, valueIf } from "../../schema.js";
import { asideFolder, clearRemoved, moveAway, pendingDatabase, removedFolder } from "./folder-store.js";
import type { OwnFolder } from "./job-folders.js";
import type { Lock } from "./lock.js";
import { isAlive, type Owner, ownerSchema } from "./lock-owner.js";

/** Yields the name of each step before it is made: one change on the disk, or the removal of a whole folder. */
type Steps = AsyncGenerator<string, void, void>;
type Taken = Pick<Lock, "owner" | "replaced">;

/** Takes over a job: makes all steps of `takeOver`. */
export async function fenceOthers(owned: OwnFolder, lock: Taken, now: Date): Promise<void> {
  for await (const _step of takeOver(owned, lock, now));
}

/**
 * Stops every other owner of a job from publishing (fences it), even an owner that still runs. Afterwards, late operations of
 * those owners fail: their folders are renamed, so that their paths are invalid, then emptied and removed, so that open folder
 * handles fail too. Takes over work that can be resumed: by a rename if the owner is done or its process has certainly ended,
 * otherwise by a copy, because a frozen process may still write to its open files. If this process is killed between two steps, the
 * next owner starts over. Rejects with StopError if a folder cannot be removed, because its owner could then still publish.
 */
export async function* takeOver(owned: OwnFolder, { owner, replaced }: Taken, now: Date): Steps {
  // If the last owner froze before it made its folder, only this mark can tell it that we took over.
  if (replaced && !replaced.isDead) yield* leaveMark(owned, replaced.id, owner, now);
  for (const entry of await readdir(owned.private, { withFileTypes: true })) {
    const { name } = entry;
    const isMetricsFolder = name.startsWith("metrics."); // of a run without the lease
    if (name === basename(owned.own) || !(isToken(name) || isMetricsFolder)) continue;
    const [path, taken] = [join(owned.private, name), join(owned.own, "from", name)];
    const isOwner = isToken(name) && entry.isDirectory();
    // If it was killed before it wrote owner.json, only the lock tells that it is dead.
    const isKnownDead = replaced?.id === name && replaced.isDead;
    if (isOwner && !isKnownDead && !(await isFinished(path))) yield* leaveMark(owned, name, owner, now);
    yield `rename ${path}`;
    if (!(await rename(path, taken).then(() => true, ifAbsent(false)))) continue; // another process took it first
    if (isOwner) yield* absorb(owned, taken);
    else await rm(taken, { recursive: true, force: true });
  }
  await clearRemoved(owned);
  await forgetOldMarks(owned, now);
}

/** Whether a name is a UUID, like the tokens of owners. */
export const isToken = (name: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);

/** Takes over the work in the folder of an earlier owner, and removes the folder. */
async function* absorb(owned: OwnFolder, folder: string): Steps {
  const isDone = await isFinished(folder);
  yield `remove the unfinished copy in ${folder}`;
  // Frees disk space early. If its owner is still copying to it, it is removed later with the whole folder.
  await rm(join(folder, "copy"), { recursive: true, force: true }).catch(() => {});
  for (const entry of await entriesOf(folder)) {
    const isWork = entry.isDirectory() && isRunId(entry.name);
    const isDatabase = entry.isFile() && entry.name === pendingDatabase; // mendDatabase compares its age with the published database
    if ((isWork && !(await isThere(join(owned.own, entry.name)))) || isDatabase)
      yield* take(owned, folder, entry, isDone);
  }
  for (const name of [asideFolder, removedFolder]) yield* takeAll(owned, folder, name);
  // Last, the folders that this owner had taken over itself, because its own copy of their work may be newer.
  for (const entry of await entriesOf(join(folder, "from")))
    if (entry.isDirectory() && isToken(entry.name)) yield* absorb(owned, join(folder, "from", entry.name));
  if (!isDone) return yield* removeWholly(folder);
  yield `move ${folder} away`;
  await moveAway(owned, folder);
}

/** Whether the owner of a folder will never write to it again: it left the file `released`, or its process has certainly ended. */
async function isFinished(folder: string): Promise<boolean> {
  if (await isThere(join(folder, "released"))) return true;
  const owner = valueIf(ownerSchema, await readSharedJson(join(folder, "owner.json")));
  return owner !== undefined && (await isAlive(owner)) === false;
}

/** Takes over a file or folder in the folder of an earlier owner. */
async function* take(owned: OwnFolder, folder: string, entry: Dirent, isDone: boolean): Steps {
  const [source, target] = [join(folder, entry.name), join(owned.own, entry.name)];
  if (isDone) {
    if (entry.isDirectory()) await dropOddFiles(source);
    yield `rename ${source}`;
    return rename(source, target);
  }
  const copy = join(owned.own, "copy"); // under this name, an unfinished copy is never resumed
  try {
    yield* copyEntry(entry, source, copy, await wantedIn(source));
    yield `name the copy of ${source}`;
    await rename(copy, target).catch(entry.isFile() ? ifAbsent(undefined) : undefined);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    throw error;
  }
}

/** Moves everything in the folder `name` into our folder of the same name, except what its owner moves or removes meanwhile. */
async function* takeAll(owned: OwnFolder, folder: string, name: string): Steps {
  const entries = await entriesOf(join(folder, name));
  if (entries.length > 0) await makeOwnFolder(join(owned.own, name));
  for (const entry of entries) {
    const source = join(folder, name, entry.name);
    yield `rename ${source}`;
    await rename(source, join(owned.own, name, entry.name)).catch(ifAbsent(undefined));
  }
}

/**
 * Removes a folder, and retries because its owner may continue and add a file. Do not read published files before this
 * succeeds: a running rename could still publish a remaining file.
 */
async function* removeWholly(folder: string): Steps {
  for (let tries = 1; ; tries++) {
    try {
      yield* renameFolders(folder);
      yield `empty ${folder}`;
      await rm(folder, { recursive: true, force: true });
      yield `remove ${folder}`;
      await rmdir(folder).catch(ifAbsent(undefined));
      return;
    } catch (error) {
      if (tries < 10) await delay(20 * tries);
      else
        throw new StopError(`${folder}, the folder of another run, cannot be removed: ${problemText(error)}`, {
          cause: error,
        });
    }
  }
}

/**
 * Renames the inner folders of a folder, before their files are deleted. Otherwise the owner, which may be publishing a stage
 * with a rename at this time, could publish an incomplete one.
 */
async function* renameFolders(folder: string, depth = 2): Steps {
  const folders = (await entriesOf(folder)).filter((entry) => entry.isDirectory());
  for (const { name } of depth > 0 ? folders : []) {
    const path = join(folder, name.endsWith(".gone") ? name : `${name}.gone`);
    if (!name.endsWith(".gone")) {
      yield `rename ${path}`;
      await rename(join(folder, name), path).catch(ifAbsent(undefined));
    }
    yield* renameFolders(path, depth - 1);
  }
}

/** Milliseconds to keep the notes of `leaveMark`. A process frozen for longer cannot name its successor. */
const keptFor = 30 * 86_400_000;

const marksOf = ({ private: hidden }: OwnFolder) => join(hidden, "fenced");

const markSchema = object({ pid: count, host: text, at: text });

/** Leaves a note that says who took over from an owner. That owner's error message quotes it; nothing else depends on it. */
async function* leaveMark(owned: OwnFolder, token: string, { pid, host }: Owner, now: Date): Steps {
  yield `leave a mark for ${token}`;
  const mark = JSON.stringify({ pid, host, at: now.toISOString() });
  await makeFolder(marksOf(owned))
    .then(() => writeFile(join(marksOf(owned), token), mark, { mode: 0o600 }))
    .catch(() => {});
}

/** Removes the notes older than `keptFor`. Throws StopError if their folder is a link, because its target has other files. */
async function forgetOldMarks(owned: OwnFolder, now: Date): Promise<void> {
  const folder = marksOf(owned);
  await refuseLink(folder);
  for (const { name } of await entriesOf(folder)) {
    const facts = await lstat(join(folder, name)).catch(() => undefined);
    const isOld = facts !== undefined && now.getTime() - facts.mtimeMs > keptFor;
    if (isOld) await rm(join(folder, name), { force: true, recursive: true });
  }
}

/** Says who took over from this owner, and when; undefined if there is no note. */
export async function successorOf(owned: OwnFolder): Promise<string | undefined> {
  const said = valueIf(markSchema, await readSharedJson(join(marksOf(owned), basename(owned.own))));
  return said && `process ${said.pid} on ${said.host} (at ${said.at})`;
}

/** The entries of a folder; none if it does not exist. */
export async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(ifAbsent<Dirent[]>([]));
}

/**
 * Selects the files of an earlier owner's work to copy. Skips the stage and DuckDB's spill files, because the next run makes
 * them again. Copies the database only if the run may already be published: then nothing makes it again.
 */
async function wantedIn(work: string): Promise<(path: string) => boolean> {
  const stage = join(work, "stage");
  // Checked in this order, because the rename that publishes the stage may happen in between.
  const isStaged = (await isThere(join(stage, manifestName))) || !(await isThere(stage));
  const scratch = join(work, "scratch");
  return (path) => {
    if (path.startsWith(scratch)) return isStaged && (path === scratch || path.endsWith(".duckdb"));
    return path !== stage;
  };
}

/** Copies the work of an earlier owner, who may still append to it. The next run uses only the rows that the journal lists. */
async function* copyEntry(entry: Dirent, from: string, to: string, isWanted: (path: string) => boolean): Steps {
  if (!isWanted(from)) return;
  yield `copy ${from}`;
  if (entry.isFile())
    return copyFile(from, to, constants.COPYFILE_FICLONE).catch(async (error: unknown) => {
      // The earlier owner may have begun to rename or remove it before its folder was renamed.
      if (await isThere(from)) throw error;
      ifAbsent(undefined)(error);
    });
  if (!entry.isDirectory()) return;
  await makeOwnFolder(to);
  for (const inner of await entriesOf(from))
    yield* copyEntry(inner, join(from, inner.name), join(to, inner.name), isWanted);
}

/** Removes everything that is neither a file nor a folder: opening a named pipe would block forever, and a link could lead elsewhere. */
async function dropOddFiles(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await dropOddFiles(path);
    else if (!entry.isFile()) await rm(path, { force: true });
  }
}
