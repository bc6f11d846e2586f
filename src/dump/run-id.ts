import { readdir } from "node:fs/promises";

/** Whether a name is the id of a run. */
export function isRunId(name: string): boolean {
  return /^\d{8}T\d{9}Z$/.test(name);
}

/** `20261120T020000123Z`: the UTC time in a form that sorts and names a folder. */
export function runIdFrom(time: Date): string {
  return time.toISOString().replace(/[-:.]/g, "");
}

/**
 * The id of a run that begins: its time, or a millisecond after the newest run in the folder `runs` where a clock that went
 * wrong gave that a later one. Runs are told in the order of their ids everywhere.
 */
export async function newRunId(runs: string, now: Date): Promise<string> {
  const names = await readdir(runs).catch(() => []);
  const times = names.filter(isRunId).map(timeOf).filter(Number.isFinite);
  const next = new Date(times.reduce((latest, time) => Math.max(latest, time + 1), now.getTime()));
  return isRunId(runIdFrom(next)) ? runIdFrom(next) : runIdFrom(now);
}

function timeOf(runId: string): number {
  return Date.parse(runId.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/, "$1-$2-$3T$4:$5:$6.$7Z"));
}
