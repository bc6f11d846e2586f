import type { Manifest } from "../dump/manifest.js";
import { isMapping } from "../schema.js";
import type { Job } from "./job.js";
import { defaultKeyVariable } from "./schema/service-schema.js";

/** The options of a job for the manifest, named as in the job file. Leaves out the addresses of `notify`, which are secret. */
export function resolvedOptions(job: Job): Manifest["options"] {
  const { service, output } = job;
  return {
    name: job.name,
    service: {
      demo: service.demo,
      api_key_env: service.apiKeyEnv === defaultKeyVariable ? null : service.apiKeyEnv,
      api_key_file: service.apiKeyFile ?? null,
      api_key_command: service.apiKeyCommand ?? null,
      concurrency: service.concurrency,
      max_rps: service.maxRps ?? null,
      timeout: service.timeout,
      retries: service.retries,
      outage: service.outage,
      max_body: service.maxBody / 1_000_000,
      max_original: service.maxOriginal / 1_000_000,
      ca_file: service.caFile ?? null,
      allow_http: service.allowHttp,
    },
    datasets:
      job.datasets === "all"
        ? "all"
        : job.datasets.map((dataset) => ({ ...dataset, keyword: dataset.keyword ?? null })),
    child_chunks: job.childChunks,
    consistency: job.consistency,
    details: job.details,
    originals: job.originals,
    resume_within: job.resumeWithin,
    output: {
      formats: output.formats,
      keep: output.keep ?? null,
      keep_signatures: output.keepSignatures,
      csv_safe: output.csvSafe,
      compress: output.compress,
      partition: output.partition,
      metrics_file: output.metricsFile ?? null,
      memory: output.memory,
    },
    notify: job.notify !== undefined,
  };
}

/**
 * Converts a manifest's options back to a job file, unchecked: `resolvedOptions` and the service, without `notify`. `dir`: the
 * output folder, which runs do not record.
 */
export function recordedJobFile(
  { options, service }: Pick<Manifest, "options" | "service">,
  dir: string | null = null,
): unknown {
  const { notify: _, ...file } = options;
  const settings = isMapping(file.service) ? file.service : {};
  const address = settings.demo === true ? {} : { base_url: service.base_url };
  return withoutNulls({ ...file, service: { ...settings, ...address }, output: { ...file.output, dir } });
}

/** Removes null keys from a job file, at any depth. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMapping(value)) return value;
  const given = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(given.map(([key, member]) => [key, withoutNulls(member)]));
}
