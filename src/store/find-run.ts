import { readdir, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readRunFacts } from "../dump/read-manifest.js";
import { isRunId } from "../dump/run-id.js";
import { UsageError } from "../errors.js";
import { ifAbsent, isThere } from "../files/files.js";
import type { BucketRun } from "./bucket/head.js";
import { copyDatabase } from "./copy/copy-database.js";
import { copyRun } from "./copy/copy-run.js";
import type { JobCopy } from "./copy/job-copy.js";
import { type FindOptions, type FoundJob, findNamed, lookAt } from "./find-named.js";
import { foldersOf, type JobFolders, shardOfFolder } from "./folder/job-folders.js";

/**
 * The run folder that a word stands for: the folder itself, or the newest complete run of a job that is given by its name, its
 * folder or its job file, or the run behind the `@`. Of a run in a bucket, the folder of its copy, which is fetched. UsageError where
 * there is none.
 */
export async function findRun(word: string, options: FindOptions): Promise<string> {
  return fetched(await findRunToFetch(word, options), options);
}

/** The same of a job that was found, whose newest complete run or named run the word means. */
export async function findRunOf(job: FoundJob, word: string, options: FindOptions): Promise<string> {
  return fetched(await runToFetch(job, word), options);
}

/** A run folder; of a run in a bucket, the folder of its copy, and what to copy. */
export interface RunToFetch {
  readonly folder: string;
  readonly inBucket?: RunInBucket;
}

export interface RunInBucket {
  readonly copy: JobCopy;
  readonly run: BucketRun;
}

/** The run folder that `findRun` finds; the files of a run in a bucket are not fetched. */
export async function findRunToFetch(word: string, options: FindOptions): Promise<RunToFetch> {
  const thing = await findNamed(word, options);
  if (thing.kind === "run folder") return thing;
  if (thing.kind === "database") {
    const message = "it is a file; expected the folder of a run, a job file, or the name of a job";
    throw new UsageError("Not a finished run folder:", [{ path: word, message }]);
  }
  return runToFetch(thing, word);
}

async function runToFetch(job: FoundJob, word: string): Promise<RunToFetch> {
  const runs = new JobRuns(job);
  return runs.toFetch(await (job.run === undefined ? runs.newest(word) : runs.named(word, job.run)));
}

/** The run folder, with the files of a run in a bucket in the cache, and the database of its job where that is asked for. */
async function fetched({ folder, inBucket }: RunToFetch, { withDatabase = false }: FindOptions): Promise<string> {
  if (inBucket) await copyRun(inBucket.copy, inBucket.run);
  if (inBucket && withDatabase) await copyDatabase(inBucket.copy);
  return folder;
}

/** The run that a word stands for, and the complete run of the same job before it. UsageError where there are not two. */
export async function findRunAndOneBefore(
  word: string,
  options: FindOptions,
): Promise<readonly [before: string, run: string]> {
  const thing = await findNamed(word, options);
  if (thing.kind !== "job")
    throw noRun(word, "it is one run; name a second one, or a job whose two newest runs to compare");
  const runs = new JobRuns(thing);
  const run = await (thing.run === undefined ? runs.newest(word) : runs.named(word, thing.run));
  const before = await runs.newestComplete(basename(run));
  if (before !== undefined)
    return [await fetched(runs.toFetch(before), options), await fetched(runs.toFetch(run), options)];
  throw noRun(word, `no complete run before ${basename(run)}; two are needed to compare`);
}

/**
 * The older run that a word stands for: as `findRun` finds it, but of a job the newest complete run before another run.
 * UsageError where there is none, and where it is that run itself.
 */
export async function findRunBefore(word: string, run: string, options: FindOptions): Promise<string> {
  const thing = await findNamed(word, options);
  if (thing.kind === "job" && thing.run === undefined) {
    const { run_id } = (await readRunFacts(await realpath(run))) ?? {};
    const runs = new JobRuns(thing);
    const before = await runs.newestComplete(run_id);
    if (before !== undefined) return fetched(runs.toFetch(before), options);
    throw noRun(word, `no complete run before ${run_id ?? run}; an older run is needed to compare with`);
  }
  const found = await findRun(word, options);
  if ((await realpath(found)) !== (await realpath(run))) return found;
  throw noRun(word, "it is the run itself; name an older one");
}

/** The newest run of a job, complete or not: its folder, with the manifest in it. UsageError where the job has none. */
export async function findNewestRun(job: FoundJob, word: string): Promise<string> {
  return new JobRuns(job).newestOfAll(word);
}

/** The published runs of one job. A manifest is only read where it has to be known whether its run is complete. */
class JobRuns {
  readonly #folders: JobFolders;
  readonly #copy: JobCopy | undefined;
  /** The folder of the runs as the user knows it. */
  readonly #name: string;

  constructor({ location, copy }: FoundJob) {
    this.#folders = foldersOf(location);
    this.#copy = copy;
    this.#name = copy ? `${copy.url}/runs` : this.#folders.runs;
  }

  /** The run in a folder, with what is to be copied of a run in a bucket. */
  toFetch(folder: string): RunToFetch {
    const run = this.#copy?.head.runs.find(({ run_id }) => run_id === basename(folder));
    return this.#copy && run ? { folder, inBucket: { copy: this.#copy, run } } : { folder };
  }

  /** The newest complete run; UsageError where there is none. */
  async newest(word: string): Promise<string> {
    const found = await this.newestComplete();
    if (found !== undefined) return found;
    if ((await lookAt(join(this.#folders.folder, "latest"))) === "run") return join(this.#folders.folder, "latest"); // a copy without `runs`
    const [partial] = await this.#ids();
    if (partial === undefined) throw noRun(word, `no run in ${this.#name} yet`);
    const path = `${this.#name}/${partial}`;
    throw noRun(word, `no complete run, so there is no latest. The newest run is partial or cannot be read: ${path}`);
  }

  /** The newest run, complete or not; UsageError where there is none. */
  async newestOfAll(word: string): Promise<string> {
    const [id] = await this.#ids();
    if (id === undefined) throw noRun(word, `no run in ${this.#name} yet`);
    return this.#pathOf(id);
  }

  /** The newest complete run, older than one where that is given. The run that `latest` leads to counts as complete, whatever its manifest says. */
  async newestComplete(before?: string): Promise<string | undefined> {
    const latest = basename(await readlink(join(this.#folders.folder, "latest")).catch(() => ""));
    for (const id of await this.#ids()) {
      if (before !== undefined && id >= before) continue;
      if (id === latest || (await readRunFacts(this.#pathOf(id)))?.status === "complete") return this.#pathOf(id);
    }
    return undefined;
  }

  /** The run of that id, or the only one whose id begins so. */
  async named(word: string, beginning: string): Promise<string> {
    const ids = await this.#ids();
    const found = ids.filter((id) => id.startsWith(beginning));
    const [only] = found;
    if (only !== undefined && found.length === 1) return this.#pathOf(only);
    const [folder, sample] = [this.#name, (found.length > 0 ? found : ids).slice(0, 5).join(", ")];
    if (only !== undefined) throw noRun(word, `${found.length} runs begin with ${beginning}: ${sample}`);
    throw noRun(word, `no run ${beginning} in ${folder}${sample === "" ? "" : `; the newest there: ${sample}`}`);
  }

  #pathOf(id: string): string {
    return join(this.#folders.runs, id);
  }

  /** Newest first. */
  async #ids(): Promise<readonly string[]> {
    if (this.#copy) return this.#copy.head.runs.map(({ run_id }) => run_id).reverse();
    const names = await readdir(this.#folders.runs).catch(ifAbsent<string[]>([]));
    return names.filter(isRunId).sort().reverse();
  }
}

function noRun(word: string, message: string): UsageError {
  return new UsageError("No such run:", [{ path: word, message }]);
}

/**
 * Finds what SQL can ask under a word: the database of a job, a database file, or a run folder. UsageError where there is
 * none.
 */
export async function findDatabase(
  word: string,
  options: FindOptions,
): Promise<{ readonly database: string } | { readonly folder: string }> {
  const found = await findNamed(word, options);
  if (found.kind === "database") return { database: found.file };
  if (found.kind === "run folder") return { folder: found.folder };
  if (found.run !== undefined) return { folder: await findRunOf(found, word, options) };
  const { copy, location } = found;
  const { database } = foldersOf(location);
  if (copy) {
    if ((await copyDatabase(copy)) !== undefined) return { database };
    const message = `there is no ${copy.url}/${copy.job}.duckdb. Put duckdb into output.formats and run the job, or name a run`;
    throw new UsageError("The job has no database:", [{ path: word, message }]);
  }
  if (await isThere(database)) return { database };
  const [copied, ...others] = (await readdir(dirname(database)).catch(ifAbsent<string[]>([]))).filter((name) =>
    name.endsWith(".duckdb"),
  );
  if (copied !== undefined && others.length === 0) return { database: join(dirname(database), copied) }; // a copy of a job's folder
  const message = shardOfFolder(location.name)
    ? "it is a shard, which has no database. Name a run folder of it, or join the shards and name the job"
    : `there is no ${database}. Put duckdb into output.formats and run the job, or name a run folder`;
  throw new UsageError("The job has no database:", [{ path: word, message }]);
}
