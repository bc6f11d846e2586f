import type { Draft, Label } from "../../job/draft.js";
import type { Job } from "../../job/job.js";
import { jobFromDraft } from "../../job/load-job.js";
import type { RestoreOptions } from "../restore-options.js";

/** A document of the target. */
export interface TargetDocument {
  readonly dataset_id: string;
  readonly document_id: string;
}

export interface TargetJobOptions {
  /** The name of the job and of its folder: the state before the first write, or after the last one. */
  readonly name: "before" | "after";
  /** The folder that its folder is in. */
  readonly dir: string;
  readonly baseUrl: string;
  readonly documents: readonly TargetDocument[];
  /** Whether any of them has child chunks: then every child list is read. */
  readonly hasChildren: boolean;
}

/** The flags that errors name in place of the keys of the job. */
const labels: readonly Label[] = [
  { path: ["service", "base_url"], text: "--to" },
  { path: ["service", "api_key_env"], text: "--key-env" },
  { path: ["service", "concurrency"], text: "--concurrency" },
  { path: ["service", "max_rps"], text: "--max-rps" },
  { path: ["service", "ca_file"], text: "--ca-file" },
  { path: ["output", "memory"], text: "--memory" },
];

/** The job that dumps documents of the target. UsageError when an option cannot be used. */
export function targetJob(
  { name, dir, baseUrl, documents, hasChildren }: TargetJobOptions,
  { keyEnv, allowHttp, concurrency, maxRps, caFile, memory }: RestoreOptions,
): Job {
  const document = {
    name,
    service: {
      base_url: baseUrl,
      api_key_env: keyEnv,
      allow_http: allowHttp,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(maxRps === undefined ? {} : { max_rps: maxRps }),
      ...(caFile === undefined ? {} : { ca_file: caFile }),
    },
    datasets: byDataset(documents),
    child_chunks: hasChildren ? "all" : "auto",
    output: { dir, formats: ["jsonl"], memory },
  };
  const draft: Draft = { what: "the command line", document, written: document, labels, unset: [], problems: [] };
  return jobFromDraft(draft);
}

function byDataset(documents: readonly TargetDocument[]): readonly { id: string; documents: readonly string[] }[] {
  const datasets = new Map<string, string[]>();
  for (const { dataset_id, document_id } of documents) {
    const own = datasets.get(dataset_id) ?? [];
    own.push(document_id);
    datasets.set(dataset_id, own);
  }
  return [...datasets].map(([id, own]) => ({ id, documents: own }));
}
