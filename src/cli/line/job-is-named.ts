import { existsSync } from "node:fs";
import { UsageError } from "../../errors.js";

/** The arguments that say which job is meant; each of them is enough to be checked as one. */
interface Named {
  readonly job?: unknown;
  readonly baseUrl?: unknown;
  readonly dataset?: unknown;
  readonly document?: unknown;
  readonly batch?: unknown;
}

/** File names that `kbdump init` and its readers use. */
const usualNames = ["job.yaml", "job.yml", "job.json"];

/** UsageError if a command line names no job at all, with the job file that lies beside it. */
export function checkJobIsNamed(command: string, { job, baseUrl, dataset, document, batch }: Named): void {
  if ([job, baseUrl, dataset, document, batch].some((value) => value !== undefined)) return;
  const found = usualNames.find((name) => existsSync(name));
  const advice = found
    ? `did you mean kbdump ${command} ${found}?`
    : `kbdump init writes one; without a file, give --base-url, --dataset and --document`;
  throw new UsageError(`no job file given; ${advice}`, []);
}
