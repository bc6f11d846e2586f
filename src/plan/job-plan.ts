import type { Job } from "../job/job.js";
import type { Quirk } from "./quirk.js";
import type { ChildMode } from "./request-counts.js";

/** What a run of a job will read, send and need, as far as a few questions to the service tell. Bytes, seconds, counts. */
export interface JobPlan {
  /** partial: some documents or lists could not be asked. */
  readonly status: "complete" | "partial";
  readonly job: string;
  readonly service: { readonly base_url: string };
  /** What the job says of child chunks; forecasts of the other modes stand beside it. */
  readonly child_chunks: ChildMode;
  readonly consistency: Job["consistency"];
  readonly counts: PlanCounts;
  /** Requests of a run that nothing disturbs: no retries, nothing moved, nothing continued. */
  readonly requests: ByMode<number>;
  readonly certainty: ByMode<Certainty>;
  readonly time: PlanTime;
  readonly received: PlanReceived;
  readonly disk: PlanDisk;
  readonly quirks: readonly Quirk[];
  /** In the order of the job. */
  readonly documents: readonly PlannedDocument[];
  /** What this plan itself sent. */
  readonly asked: {
    readonly sent: number;
    readonly retried: number;
    readonly throttled: number;
    readonly bytes: number;
    readonly seconds: number;
  };
  readonly warnings: readonly string[];
}

/** A figure for each mode of child_chunks; this_job repeats that of the job. */
export type ByMode<T> = Readonly<Record<ChildMode | "this_job", T>>;

export interface PlanCounts {
  readonly datasets: number;
  readonly batches: number;
  readonly documents: number;
  readonly documents_failed: number;
  readonly chunks: number;
  readonly child_chunks: number;
  /** Whether child_chunks was counted: every child list was asked, or its chunk carries it. */
  readonly child_chunks_exact: boolean;
  /** Chunks of which the number of children is known, on which child_chunks is based. */
  readonly child_lists_known: number;
}

export interface Certainty {
  readonly exact: boolean;
  /** A run sends no fewer requests than these. */
  readonly at_least: number;
  /** Why it is not exact; empty where it is. */
  readonly why: readonly string[];
}

export interface PlanTime {
  /** Seconds that a run takes. */
  readonly seconds: ByMode<number>;
  /** What bounds the time of this job. */
  readonly bound_by: "latency" | "max_rps" | "this machine";
  /** Milliseconds of one request in the median, and of how many; null where none was sent. */
  readonly latency: {
    readonly chunk_page: number | null;
    readonly chunk_pages: number;
    readonly child_list: number | null;
    readonly child_lists: number;
  };
}

export interface PlanReceived {
  /** Bytes received, compressed as the service sends them. */
  readonly bytes: ByMode<number>;
  /** Rows of which the mean size is taken. */
  readonly sample: { readonly chunks: number; readonly child_chunks: number };
}

export interface PlanDisk {
  /** The folder whose disk is looked at: output.dir, or what there is of the path to it. */
  readonly folder: string;
  /** Bytes while the run is at work: parts, files, the new database and a copy of the old one. */
  readonly needed: number;
  /** Bytes of the run folder, and of the database, that stay. */
  readonly run_folder: number;
  readonly database: number;
  readonly free: number | null;
  /** null where it cannot be told. */
  readonly enough: boolean | null;
}

export interface PlannedDocument {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly doc_form: string | null;
  readonly chunks: number | null;
  readonly child_chunks: number | null;
  readonly child_chunks_exact: boolean;
  /** Requests of this job for the document. */
  readonly requests: number;
  readonly exact: boolean;
  readonly why: readonly string[];
  readonly error: string | null;
}
