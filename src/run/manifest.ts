import type { Job } from "../job/job.js";
import type { Counts } from "../rows/columns.js";
import type { DocumentRow } from "../rows/document-row.js";
import type { StagedFile } from "../sinks/sink.js";
import type { DiscoveredIds } from "./discover/discovered.js";
import type { ChildLists } from "./documents/child-lists-read.js";
import type { DocumentProof } from "./documents/proof.js";
import type { RequestSum } from "./request-sum.js";

/** What a run was and what it left; the last file of a run folder. */
export interface Manifest {
  readonly format: 1;
  readonly tool: { readonly name: string; readonly version: string };
  readonly job: string;
  readonly run_id: string;
  readonly status: "complete" | "partial";
  readonly started_at: string;
  readonly finished_at: string;
  readonly service: { readonly base_url: string };
  /** The job as it was understood, defaults filled in; it holds no secret. */
  readonly options: Readonly<Record<string, unknown>>;
  /** document_info is there only where the service was asked which documents there are. */
  readonly counts: Counts;
  /** Over all the processes of a run that broke off and was continued. */
  readonly requests: {
    readonly sent: number;
    readonly retried: number;
    readonly throttled: number;
    readonly bytes: number;
  };
  /** The requests that were sent again, by the reason: a status, `timeout`, `connection` or `broken answer`. */
  readonly retries: Readonly<Record<string, number>>;
  readonly documents: readonly DocumentRow[];
  /** One for each document that was read, in the order of the job; none with `child_chunks: none`. */
  readonly child_lists: readonly ChildLists[];
  /** The proofs that documents are whole; one for each, in the order of the job. */
  readonly proofs: readonly DocumentProof[];
  readonly files: readonly StagedFile[];
  /** Fields of an unexpected type or without a place, by `table.field`, with how often. */
  readonly drift: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  /** Documents that came and went; only where the service was asked which there are. */
  readonly discovered?: DiscoveredIds;
}

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
      ca_file: service.caFile ?? null,
      allow_http: service.allowHttp,
    },
    datasets:
      job.datasets === "all"
        ? "all"
        : job.datasets.map((dataset) => ({ ...dataset, keyword: dataset.keyword ?? null })),
    child_chunks: job.childChunks,
    consistency: job.consistency,
    resume_within: job.resumeWithin,
    output: {
      formats: output.formats,
      keep: output.keep ?? null,
      keep_signatures: output.keepSignatures,
      csv_safe: output.csvSafe,
      memory: output.memory,
    },
  };
}

/** The counts of requests as the manifest has them. */
export function requestCounts({ sent, retried, throttled, bytes }: RequestSum): Manifest["requests"] {
  return { sent, retried, throttled, bytes };
}
