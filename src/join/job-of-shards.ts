import type { Manifest } from "../dump/manifest/manifest.js";
import type { Job } from "../job/job.js";
import { jobFromDraft } from "../job/load-job.js";
import { type JobFlags, mergeFlags, overridingFlags } from "../job/merge-flags.js";
import { isMapping } from "../schema.js";

/**
 * The job that a run was of, from the options in its manifest, with flags over them. It has no key and notifies nobody: a manifest
 * holds no secret. UsageError with every wrong flag.
 */
export function jobOfRun({ options, service }: Pick<Manifest, "options" | "service">, flags: JobFlags): Job {
  const given = overridingFlags(flags);
  const own = isMapping(options.service) && options.service.demo === true ? {} : { base_url: service.base_url };
  const written = withoutNulls({ ...options, service: { ...toMapping(options.service), ...own } });
  const document = mergeFlags(written, given);
  return jobFromDraft({
    what: "the options of the shards",
    document,
    written: document,
    labels: given.map(({ flag, path }) => ({ text: flag, path })),
    unset: [],
    problems: [],
  });
}

function toMapping(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}

/** A manifest has null where a job file leaves an option out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMapping(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
