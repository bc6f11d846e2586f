import { readdir } from "node:fs/promises";
import { isRunId, runIdFrom } from "./earlier-work.js";
import type { JobFolders } from "./job-folders.js";

/** The id of a run that begins: its time, or a later one where a clock that went wrong has made a run of the future. */
export async function newRunId({ runs }: Pick<JobFolders, "runs">, now: Date): Promise<string> {
  const newest = (await readdir(runs).catch(() => [])).filter(isRunId).sort().at(-1);
  const id = runIdFrom(now);
  return newest === undefined || id > newest ? id : runIdFrom(new Date(timeOf(newest) + 1));
}

function timeOf(runId: string): number {
  const [, date = "", hour, minute, second, milliseconds] =
    /^(\d{8})T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(runId) ?? [];
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
  return Date.parse(`${day}T${hour}:${minute}:${second}.${milliseconds}Z`);
}
