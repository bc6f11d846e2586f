import type { DatasetJob, Job, Keep, OutputOptions, ServiceOptions } from "./job.js";
import type { JobFile } from "./schema/job-schema.js";
import { defaultKeyVariable } from "./schema/service-schema.js";

const bytesPerMegabyte = 1_000_000;

type Listed = Exclude<JobFile["datasets"], "all">;

/**
 * Job file → Job: names, units and defaults of the program. A file without a name is named after its first dataset.
 * Throws on the word all, which has to be refused or resolved before.
 */
export function jobFromFile(file: JobFile): Job {
  const datasets = listed(file.datasets);
  return {
    name: file.name ?? datasets[0]?.id ?? "",
    service: serviceFromFile(file.service),
    datasets: datasets.map(datasetFromFile),
    childChunks: file.child_chunks,
    consistency: file.consistency,
    resumeWithin: file.resume_within,
    output: outputFromFile(file.output),
  };
}

function serviceFromFile(service: JobFile["service"]): ServiceOptions {
  return {
    demo: service.demo,
    baseUrl: service.base_url ?? "",
    apiKeyEnv: service.api_key_env ?? defaultKeyVariable,
    apiKeyFile: service.api_key_file,
    concurrency: service.concurrency,
    maxRps: service.max_rps,
    timeout: service.timeout,
    retries: service.retries,
    maxBody: service.max_body * bytesPerMegabyte,
    caFile: service.ca_file,
    allowHttp: service.allow_http,
  };
}

function datasetFromFile(dataset: Listed[number]): DatasetJob {
  return {
    id: dataset.id,
    documents: listed(dataset.documents),
    batches: dataset.batches,
    status: dataset.status,
    keyword: dataset.keyword,
  };
}

function outputFromFile(output: JobFile["output"]): OutputOptions {
  const keep: Keep | undefined = output.keep;
  return {
    dir: output.dir,
    formats: output.formats,
    keep,
    keepSignatures: output.keep_signatures,
    csvSafe: output.csv_safe,
    memory: output.memory,
  };
}

/** A name for everything must never end up as a list of nothing. */
function listed<Item>(items: "all" | readonly Item[]): readonly Item[] {
  if (items === "all") throw new Error("a job cannot be made of the word all: nothing has resolved it");
  return items;
}
