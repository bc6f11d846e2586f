import type { DatasetJob, Job } from "./job.js";

/** The datasets that a job names by id; none where it says all. */
export function namedDatasets({ datasets }: Pick<Job, "datasets">): readonly DatasetJob[] {
  return datasets === "all" ? [] : datasets;
}
