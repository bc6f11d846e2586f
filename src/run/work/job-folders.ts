import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { refuseLink } from "../../dump/files/regular-file.js";
import { StopError } from "../../errors.js";
import type { JobPlace, Shard } from "../../job/job.js";
import { type Remote, shownPath } from "./remote.js";

/** The paths of a job. */
export interface JobFolders {
  /** `output/<job>`; of a shard, `output/<job>/shards/<index>-of-<count>` */
  readonly folder: string;
  /** The folders of the job that `folder` is in; none but for a shard. */
  readonly above: readonly string[];
  /** `output/<job>/<job>.duckdb` */
  readonly database: string;
  /** The database as users know it: its address where the job has a bucket. */
  readonly shownDatabase: string;
  /** `output/<job>/runs` */
  readonly runs: string;
  /** `output/<job>/.work`: nothing in it is for readers. */
  readonly private: string;
  /** Readings of `kbdump status` that wait for the next run. */
  readonly waiting: string;
}

/** The rights of a process that holds a job. */
export interface Hold extends JobFolders {
  /** Names this hold and no other. */
  readonly token: string;
  /**
   * `.work/<token>`, used by this process alone. Every rename that publishes has its source in it, and every rename that removes
   * something has its target in it. A successor first renames and removes this folder (it fences us), so that our late
   * operations fail. This process never makes the folder again.
   */
  readonly own: string;
  /** Aborted, with a LostError, when the job is no longer ours. */
  readonly lost: AbortSignal;
  /** The bucket that the job publishes into; absent: it publishes into its folder alone. */
  readonly remote?: Remote;
}

/** The folder in that of a job in which each of its shards has one. */
export function shardsFolderOf({ name, output }: JobPlace): string {
  return join(output.dir, name, "shards");
}

/** The folder of a shard among those of its job. */
export function shardFolderName({ index, count }: Shard): string {
  return `${index}-of-${count}`;
}

/** The shard that has a folder of this name; undefined for any other name. */
export function shardOfFolder(name: string): Shard | undefined {
  const [, index, count] = /^([1-9]\d{0,4})-of-([1-9]\d{0,4})$/.exec(name) ?? [];
  return index === undefined ? undefined : { index: Number(index), count: Number(count) };
}

/** Names the folders of a job, or of a shard of it, which has a lock and runs of its own; makes none. */
export function foldersOf(place: JobPlace): JobFolders {
  const { name, output, shard } = place;
  const whole = join(output.dir, name);
  const shards = shardsFolderOf(place);
  const folder = shard ? join(shards, shardFolderName(shard)) : whole;
  const database = join(folder, `${name}.duckdb`);
  const hidden = join(folder, ".work");
  return {
    folder,
    above: shard ? [whole, shards] : [],
    database,
    shownDatabase: shownPath(place, database),
    runs: join(folder, "runs"),
    private: hidden,
    waiting: join(hidden, "indexing_status"),
  };
}

/** The folder of the exchanges, in which the workers of a run leave what they read: `.work/exchange`. */
export function exchangesOf({ private: hidden }: Pick<JobFolders, "private">): string {
  return join(hidden, "exchange");
}

/** Makes a folder that only its owner can read, and those above it. A link in its place is refused. */
export async function makeFolder(path: string): Promise<void> {
  await refuseLink(path);
  await makeFolders(path);
}

/** Node's own way (`recursive`) goes on for ever where a file system takes no folders, and hides that one is read-only. */
async function makeFolders(path: string): Promise<void> {
  if (await makeOne(path)) return;
  await makeFolders(dirname(path));
  if (!(await makeOne(path)))
    throw new StopError(`${path} cannot be made: the file system of ${dirname(path)} takes no new folders`);
}

/** Makes one folder, if there is none; false: the one above it is missing, or so the system says. */
async function makeOne(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    const facts = await stat(path).catch(() => undefined);
    if (!facts?.isDirectory()) throw error;
  }
  return true;
}

/**
 * Makes a folder below that of a holder, but none above it: a holder that was fenced must not bring its folder back. One
 * that is there already is fine.
 */
export async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** Refuses what would lead out of the folder of a job. */
export async function refuseLinks(folders: JobFolders): Promise<void> {
  const { folder, above, database, runs, private: hidden, waiting } = folders;
  for (const path of [...above, folder, database, runs, hidden, waiting]) await refuseLink(path);
}
