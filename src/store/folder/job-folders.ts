import { readdir, readlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Manifest } from "../../dump/manifest.js";
import { readManifest, readRunFacts } from "../../dump/read-manifest.js";
import { isRunId } from "../../dump/run-id.js";
import { ifAbsent, refuseLink } from "../../files/files.js";
import type { JobLocation, Shard } from "../../job/job.js";

/** The paths of a job. */
export interface JobFolders {
  /** The folder of the job, `output/<job>`; of a shard, `output/<job>/shards/<index>-of-<count>`. */
  readonly folder: string;
  /** The job's folders that contain `folder`; empty unless this is a shard. */
  readonly above: readonly string[];
  /** The database: `output/<job>/<job>.duckdb`. */
  readonly database: string;
  /** The database in messages: its address if the job has a bucket. */
  readonly shownDatabase: string;
  /** The folder of published runs: `output/<job>/runs`. */
  readonly runs: string;
  /** The folder for the work of runs, `output/<job>/.work`. Readers must not use it. */
  readonly private: string;
  /** The folder where `kbdump status` leaves snapshots for the next run. */
  readonly waiting: string;
}

/** The folders of a job and of its owner. */
export interface OwnFolder extends JobFolders {
  /**
   * The folder of this owner, `.work/<token>`, used only by this process. Every rename that publishes starts in it, and every
   * rename that removes something ends in it. A successor first renames and removes this folder (it fences us), so that our
   * late operations fail. This process never makes the folder again.
   */
  readonly own: string;
}

/** The shard whose folder has this name; undefined for any other name. */
export function shardOfFolder(name: string): Shard | undefined {
  const [, index, count] = /^([1-9]\d{0,4})-of-([1-9]\d{0,4})$/.exec(name) ?? [];
  return index === undefined ? undefined : { index: Number(index), count: Number(count) };
}

/** The paths of a job, or of a shard, which has its own lock and runs. Creates nothing. */
export function foldersOf(location: JobLocation): JobFolders {
  const { name, output, shard } = location;
  const whole = join(output.dir, name);
  const folder = shard ? join(whole, "shards", `${shard.index}-of-${shard.count}`) : whole;
  const database = join(folder, `${name}.duckdb`);
  const hidden = join(folder, ".work");
  return {
    folder,
    above: shard ? [whole, dirname(folder)] : [],
    database,
    shownDatabase: shownPath(location, database),
    runs: join(folder, "runs"),
    private: hidden,
    waiting: join(hidden, "indexing_status"),
  };
}

/** Throws StopError for a symbolic link that could lead out of the job folder. */
export async function refuseLinks(folders: JobFolders): Promise<void> {
  const { folder, above, database, runs, private: hidden, waiting } = folders;
  for (const path of [...above, folder, database, runs, hidden, waiting]) await refuseLink(path);
}

/** A shard with a folder, and the id of its newest run; undefined if it has no run. */
export interface ShardRun extends Shard {
  readonly newest: string | undefined;
}

/** The shards that have a folder in the job folder, sorted by count, then index; empty if there are none. */
export async function findShardRuns({ name, output }: JobLocation): Promise<readonly ShardRun[]> {
  const folder = join(output.dir, name, "shards");
  const found: ShardRun[] = [];
  for (const name of await readdir(folder).catch(ifAbsent<string[]>([]))) {
    const shard = shardOfFolder(name);
    if (shard) found.push({ ...shard, newest: (await runIdsIn(join(folder, name, "runs")))[0] });
  }
  return found.sort((one, other) => one.count - other.count || one.index - other.index);
}

/** The ids of the runs in a folder of runs, newest first. With `before`, only older runs. */
export async function runIdsIn(runs: string, before?: string): Promise<readonly string[]> {
  const names = await readdir(runs).catch(ifAbsent<string[]>([]));
  const isWanted = (name: string) => isRunId(name) && (before === undefined || name < before);
  return names.filter(isWanted).sort().reverse();
}

/**
 * The id of the newest complete run, optionally of `job` and older than `before`. Reads manifests from the newest on, and
 * stops at the first complete run. Without `job`, trusts `latest` instead of reading the manifest of its run.
 */
export async function newestComplete(
  { folder, runs }: Pick<JobFolders, "folder" | "runs">,
  { job, before }: { readonly job?: string; readonly before?: string | undefined } = {},
): Promise<string | undefined> {
  const latest = await readlink(join(folder, "latest")).catch(() => undefined);
  for (const id of await runIdsIn(runs, before)) {
    if (job === undefined && latest === join("runs", id)) return id;
    const facts = await readRunFacts(join(runs, id));
    if (facts?.status !== "complete") continue;
    if (job === undefined || (facts.job === job && facts.run_id === id)) return id;
  }
  return undefined;
}

/** The manifest of the newest published run before this one. Skips unreadable manifests. */
export async function runBefore(runs: string, runId: string, job: string): Promise<Manifest | undefined> {
  for (const name of await runIdsIn(runs, runId)) {
    const manifest = (await readManifest(join(runs, name)).catch(() => undefined))?.manifest;
    if (manifest?.job === job && manifest.run_id === name) return manifest;
  }
  return undefined;
}

/** A path in the job folder, for messages. If the job has a bucket, the address there. */
export function shownPath({ output }: JobLocation, path: string): string {
  return output.bucket === undefined ? path : `${output.bucket}/${relative(output.dir, path)}`;
}
