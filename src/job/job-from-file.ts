import { homedir } from "node:os";
import type { Label } from "./draft.js";
import type { DatasetJob, Job, Keep, Notify, OutputOptions, ServiceOptions } from "./job.js";
import { outputPlace } from "./output-place.js";
import type { JobFile } from "./schema/job-schema.js";
import { defaultKeyVariable } from "./schema/service-schema.js";

const bytesPerMegabyte = 1_000_000;

type Named = Exclude<JobFile["datasets"], "all">[number];

/**
 * Job file → Job: names, units and defaults of the program. A file without a name is named after its first dataset. `labels`: the flags
 * that settings came from.
 */
export function jobFromFile(file: JobFile, labels: readonly Label[]): Job {
  const { datasets } = file;
  return {
    name: file.name ?? (datasets === "all" ? "all" : (datasets[0]?.id ?? "")),
    service: serviceFromFile(file.service),
    datasets: datasets === "all" ? "all" : datasets.map(datasetFromFile),
    childChunks: file.child_chunks,
    consistency: file.consistency,
    details: file.details,
    originals: file.originals,
    resumeWithin: file.resume_within,
    output: outputFromFile(file.output),
    notify: file.notify && notifyFromFile(file.notify),
    labels,
    shard: undefined,
    documentsFrom: undefined,
  };
}

function notifyFromFile({ style = "json", ...urls }: NonNullable<JobFile["notify"]>): Notify {
  return { urls, style };
}

function serviceFromFile(service: JobFile["service"]): ServiceOptions {
  return {
    demo: service.demo,
    baseUrl: service.base_url ?? "",
    apiKeyEnv: service.api_key_env ?? defaultKeyVariable,
    apiKeyFile: atHome(service.api_key_file),
    apiKeyCommand: service.api_key_command,
    concurrency: service.concurrency,
    maxRps: service.max_rps,
    timeout: service.timeout,
    retries: service.retries,
    outage: service.outage,
    maxBody: service.max_body * bytesPerMegabyte,
    maxOriginal: service.max_original * bytesPerMegabyte,
    caFile: atHome(service.ca_file),
    allowHttp: service.allow_http,
  };
}

/** As a shell would have it; a job file meets no shell. */
function atHome(path: string | undefined): string | undefined {
  return path?.replace(/^~(?=\/|$)/, () => homedir());
}

function datasetFromFile(dataset: Named): DatasetJob {
  return {
    id: dataset.id,
    documents: dataset.documents,
    batches: dataset.batches,
    status: dataset.status,
    keyword: dataset.keyword,
  };
}

function outputFromFile(output: JobFile["output"]): OutputOptions {
  const keep: Keep | undefined = output.keep;
  return {
    ...outputPlace(output.dir, output.work_dir),
    allowUnsafeLock: output.allow_unsafe_lock,
    formats: output.formats,
    keep,
    keepSignatures: output.keep_signatures,
    csvSafe: output.csv_safe,
    compress: output.compress,
    partition: output.partition,
    metricsFile: output.metrics_file,
    memory: output.memory,
  };
}
