import { basename, dirname } from "node:path";

/** The folder of the job that a run folder lies in, `output/nightly` of `output/nightly/runs/<run_id>`; undefined where it lies elsewhere. */
export function jobFolderOf(
  folder: string,
  { job, run_id }: { readonly job: string; readonly run_id: string },
): string | undefined {
  const runs = dirname(folder);
  const isOfJob = basename(folder) === run_id && basename(runs) === "runs" && basename(dirname(runs)) === job;
  return isOfJob ? dirname(runs) : undefined;
}
