import * as v from "valibot";
import { checkJob } from "./check-job.js";
import { draftFromFile } from "./draft-from-file.js";
import { isWithin, joinFindings } from "./finding.js";
import type { JobPlace } from "./job.js";
import { jobRefusal } from "./load-job.js";
import { outputPlace } from "./output-place.js";
import { readText } from "./read-text.js";
import { placeEntries } from "./schema/job-schema.js";

const placeSchema = v.object(placeEntries);

/**
 * Reads from a job file where its runs are. The rest of the file may be wrong or need variables that are not set: nothing is
 * asked of the service. Throws UsageError with every problem of `name` and `output`.
 */
export async function loadJobPlace(file: string, env: NodeJS.ProcessEnv): Promise<JobPlace> {
  const draft = draftFromFile(file, await readText(file, "the job file"), {}, { env, notifies: false });
  const { unknownKeys, wrongValues } = checkJob(draft.document, draft.written);
  const findings = joinFindings(unknownKeys, draft.unset, wrongValues).filter(
    ({ path }) => path.length === 0 || isWithin(path, ["name"]) || isWithin(path, ["output"]),
  );
  const checked = v.safeParse(placeSchema, draft.document);
  if (findings.length > 0 || !checked.success) throw jobRefusal(draft, findings);
  const { name, output } = checked.output;
  return { name: name ?? "", output: { ...outputPlace(output.dir, output.work_dir), keep: output.keep } };
}
