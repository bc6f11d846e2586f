import type { Manifest } from "../dump/manifest.js";
import type { Job } from "../job/job.js";

export type ChildMode = Job["childChunks"];

/** The forecast of a run, made from a few requests to the service. Sizes are in bytes. */
export interface JobPlan {
  /** partial: some documents or lists could not be asked. */
  readonly status: "complete" | "partial";
  readonly job: string;
  readonly service: { readonly base_url: string };
  /** The mode of this job; forecasts of the other modes stand beside it. */
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
  /** The requests of the plan itself. */
  readonly asked: Manifest["requests"] & { readonly seconds: number };
  readonly warnings: readonly string[];
  /** The file that lists the documents; null where none was asked for. */
  readonly documents_out: string | null;
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

/** Measured, not predicted: the latency of the plan's requests, and the lower bound that follows from it. */
export interface PlanTime {
  /** Seconds of a run if every request takes the median latency of its kind, with full concurrency throughout. */
  readonly least_seconds: ByMode<number>;
  readonly latency: Readonly<Record<"chunk_page" | "child_list", Latency>>;
}

/** Seconds from sending a request to the last byte of its answer; null without an answer. */
export interface Latency {
  readonly median_seconds: number | null;
  readonly p95_seconds: number | null;
  readonly answers: number;
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
  /** While the run is at work: parts, files, the new database and a copy of the old one. */
  readonly needed_bytes: number;
  /** The run folder and the database, which stay. */
  readonly run_folder_bytes: number;
  readonly database_bytes: number;
  readonly free_bytes: number | null;
  /** null where it cannot be told. */
  readonly enough: boolean | null;
}

/** Behaviour in which services differ. */
export interface Quirk {
  /** docs/plan.md lists all names, and the findings of each. */
  readonly name: string;
  /** One word for programs; `unknown` if nothing showed it. */
  readonly finding: string;
  /** The observation, and how much was looked at. */
  readonly detail: string;
  /** The consequence for a run; empty if there is none. */
  readonly meaning: string;
  /** Whether it makes a run slower, larger or incomplete. */
  readonly trouble: boolean;
}

export interface PlannedDocument {
  readonly dataset_id: string;
  /** Null where the job names the documents, and the service did not have to list them. */
  readonly dataset_name: string | null;
  readonly document_id: string;
  readonly document_name: string | null;
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
