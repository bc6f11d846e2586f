import type { Draft, Label } from "../../job/draft.js";
import type { Job } from "../../job/job.js";
import { jobFromDraft } from "../../job/load-job.js";
import type { TargetDocument, TargetService } from "../target-service.js";

/** The documents that are read of a target, how much of them, and the place of their dump. */
export interface TargetReading {
  /** The name of the job and of its folder: the state before the first write, after the last one, or without any. */
  readonly name: "before" | "after" | "live";
  /** The folder that its folder is in. */
  readonly dir: string;
  readonly documents: readonly TargetDocument[];
  /** Whether any of them has child chunks: then every child list is read. */
  readonly hasChildren: boolean;
  /** Whether settings and metadata values are read, too; false by default. */
  readonly details?: boolean;
  /** Whether the files are saved, too, that the documents were made from; false by default. */
  readonly originals?: boolean;
}

/** The flags that errors name in place of the keys of the job; some keys have none. */
export const targetLabels: readonly Label[] = [
  { path: ["service", "base_url"], text: "--to" },
  { path: ["service", "api_key_env"], text: "--key-env" },
  { path: ["service", "concurrency"], text: "--concurrency" },
  { path: ["service", "max_rps"], text: "--max-rps" },
  { path: ["service", "ca_file"], text: "--ca-file" },
  { path: ["service", "max_body"], text: null },
  { path: ["service", "outage"], text: null },
  { path: ["output", "memory"], text: "--memory" },
];

/** The job that dumps documents of the target. UsageError when an option cannot be used. */
export function targetJob(
  { name, dir, documents, hasChildren, details = false, originals = false }: TargetReading,
  { baseUrl, addressFlag = "--to", keyEnv, allowHttp, concurrency, maxRps, caFile, memory }: TargetService,
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
    details,
    originals,
  };
  const draft: Draft = {
    ...{ what: "the command line", document, written: document, unset: [], problems: [] },
    labels: [{ path: ["service", "base_url"], text: addressFlag }, ...targetLabels],
  };
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
