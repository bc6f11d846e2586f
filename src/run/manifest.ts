import type { Manifest } from "../dump/manifest/manifest.js";
import type { Job } from "../job/job.js";
import type { RequestSum } from "./work/request-sum.js";

/** The options of a job as the manifest shows them, named as in the job file. */
export function resolvedOptions(job: Job): Manifest["options"] {
  const { service, output } = job;
  return {
    name: job.name,
    service: {
      demo: service.demo,
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
      ...(output.allowUnsafeLock ? { allow_unsafe_lock: true } : {}),
      metrics_file: output.metricsFile ?? null,
      memory: output.memory,
    },
  };
}

/** The counts of requests as the manifest has them. */
export function requestCounts({ sent, retried, throttled, bytes }: RequestSum): Manifest["requests"] {
  return { sent, retried, throttled, bytes };
}
