import { readdir } from "node:fs/promises";

/** Whether a name is the id of a run. */
export function isRunId(name: string): boolean {
  return timeOfRun(name) !== undefined;
}

/** The time in a run id such as `20261120T020000123Z`, in milliseconds since 1970; undefined for any other text. */
export function timeOfRun(runId: string): number | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(runId)?.slice(1);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second, millisecond] = parts;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`;
  const time = new Date(text);
  // Date accepts day 31 in a shorter month and shifts it to the next month.
  return Number.isNaN(time.getTime()) || time.toISOString() !== text ? undefined : time.getTime();
}

const restoreEnding = ".restore";

/** The end of the name of the job that has guard's backups: `nightly-guard`. */
export const guardEnding = "-guard";

/** The job whose documents guard backed up: `nightly` for `nightly-guard`; undefined for other jobs. */
export function guardedJob(job: string): string | undefined {
  return job.endsWith(guardEnding) ? job.slice(0, -guardEnding.length) : undefined;
}

/** The folder for the local copies that a command makes of runs in buckets. It is removed when the command ends. */
export function copiesFolder(id: string): string {
  return `.copies-${id}`;
}

/**
 * The folder next to a run that holds its restores: the journal, and dumps from before and after. For a local copy of a run in a bucket,
 * it is outside of the copies, so that it is kept.
 */
export function restoreFolderOf(runFolder: string): string {
  return runFolder.replace(new RegExp(`/${copiesFolder("[0-9a-f-]{36}")}(?=/)`), "") + restoreEnding;
}

/** Whether a name is the folder of a run's restores. */
export function isRestoreFolder(name: string): boolean {
  return name.endsWith(restoreEnding) && isRunId(name.slice(0, -restoreEnding.length));
}

/** `20261120T020000123Z`: UTC time that sorts and can name a folder. */
export function runIdFrom(time: Date): string {
  return time.toISOString().replace(/[-:.]/g, "");
}

/**
 * The id of a new run: the current time, or one millisecond after the newest run in `runs` if a wrong clock gave that a later
 * time. Runs are always ordered by id.
 */
export async function newRunId(runs: string, now: Date): Promise<string> {
  const names = await readdir(runs).catch(() => []);
  const times = names.flatMap((name) => timeOfRun(name) ?? []);
  const next = new Date(times.reduce((latest, time) => Math.max(latest, time + 1), now.getTime()));
  return isRunId(runIdFrom(next)) ? runIdFrom(next) : runIdFrom(now);
}
