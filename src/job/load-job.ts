import { type Problem, UsageError } from "../errors.js";
import { checkJob } from "./check-job.js";
import { type Draft, type Label, settingName } from "./draft.js";
import { draftFromFile } from "./draft-from-file.js";
import { draftFromFlags } from "./draft-from-flags.js";
import { type Finding, joinFindings } from "./finding.js";
import type { Job } from "./job.js";
import { jobFromFile } from "./job-from-file.js";
import type { JobFlags } from "./merge-flags.js";
import { missingJobFile } from "./missing-job-file.js";
import { pathText } from "./path-text.js";
import { readText } from "./read-text.js";

/** The source of a job: a file, or the flags alone. */
export type JobSource = { readonly file: string } | { readonly none: true };

/**
 * Reads a job and checks it. Throws UsageError, and nothing else, with every problem of file and flags at once. Without
 * `notifies`, the variables of `notify` need not be set, and a job that lacks one notifies nobody.
 */
export async function loadJob(
  source: JobSource,
  flags: JobFlags,
  env: NodeJS.ProcessEnv,
  { notifies = true }: { readonly notifies?: boolean } = {},
): Promise<Job> {
  if ("none" in source) return jobFromDraft(draftFromFlags(flags));
  const missing = await missingJobFile(source.file);
  if (missing) throw missing;
  const text = await readText(source.file, "the job file");
  return jobFromDraft(draftFromFile(source.file, text, flags, { env, notifies }));
}

/** The job that a draft is, checked. UsageError with every problem. */
export function jobFromDraft(draft: Draft): Job {
  const { file, unknownKeys, wrongValues } = checkJob(draft.document, draft.written);
  const findings = joinFindings(unknownKeys, draft.unset, wrongValues);
  if (draft.problems.length + findings.length === 0 && file) return jobFromFile(file, draft.labels);
  throw jobRefusal(draft, findings);
}

/** The error of a draft that cannot be a job, with every problem. */
export function jobRefusal(draft: Draft, findings: readonly Finding[]): UsageError {
  const problems = [...draft.problems, ...findings.map((finding) => problemFrom(finding, draft.labels))];
  return new UsageError(`${countText(problems.length)} with ${draft.what}:`, problems);
}

function problemFrom({ path, message }: Finding, labels: readonly Label[]): Problem {
  return { path: settingName(labels, path) ?? pathText(path), message };
}

function countText(count: number): string {
  return count === 1 ? "1 problem" : `${count} problems`;
}
