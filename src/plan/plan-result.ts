import * as v from "valibot";
import { requests } from "../rows/result-rows.js";
import { amount, count, listOf, oneOf, orNull, result, text, truth } from "../schema.js";

const mode = oneOf("all", "auto", "none");

/** Median seconds from sending a request to the last byte of its answer; null without answers. */
const latency = result({ chunk_page: orNull(amount), child_list: orNull(amount), answers: count });

const document = result({
  dataset_id: text,
  dataset_name: v.pipe(orNull(text), v.description("null if the job names the documents")),
  document_id: text,
  document_name: orNull(text),
  doc_form: orNull(text),
  chunks: orNull(count),
  child_chunks: v.pipe(orNull(count), v.description("estimated from a sample")),
  requests: v.pipe(count, v.description("of a run of this job, for this document")),
  error: orNull(text),
});

/** The result of `kbdump plan --json`: what the service has, and what a run would need. Sizes are in bytes. */
export const planResult = result({
  status: v.pipe(oneOf("complete", "partial"), v.description("partial: some documents or lists could not be read")),
  job: text,
  service: result({ base_url: text }),
  child_chunks: mode,
  consistency: oneOf("sweeps", "anchored", "counts"),
  details: v.union([v.literal("auto"), truth]),
  counts: result({
    datasets: count,
    batches: count,
    documents: count,
    documents_failed: count,
    chunks: count,
    child_chunks: v.pipe(count, v.description("estimated from a sample")),
    document_details: v.pipe(
      count,
      v.description("documents whose details a run reads; with details: auto, estimated from a sample"),
    ),
  }),
  requests: v.pipe(
    result({ all: count, auto: count, none: count, this_job: count }),
    v.description("requests of an undisturbed run, for each value of child_chunks"),
  ),
  least_seconds: v.pipe(amount, v.description("if every request takes the median latency; a run takes longer")),
  latency,
  disk: result({
    folder: v.pipe(text, v.description("output.dir, or its nearest existing parent folder")),
    needed_bytes: v.pipe(count, v.description("during the run: segments, files, the new database, the old one")),
    run_folder_bytes: count,
    database_bytes: count,
    free_bytes: orNull(count),
    enough: v.pipe(orNull(truth), v.description("null if unknown")),
  }),
  quirks: v.pipe(
    listOf(result({ name: text, finding: text, meaning: text })),
    v.description("quirks of this service that matter to a run"),
  ),
  documents: listOf(document),
  asked: v.pipe(result({ ...requests, seconds: amount }), v.description("the requests of the plan itself")),
  warnings: listOf(text),
  documents_out: v.pipe(orNull(text), v.description("the file of --documents-out; null without it")),
});

export type JobPlan = v.InferOutput<typeof planResult>;

export type PlannedDocument = JobPlan["documents"][number];
export type PlanDisk = JobPlan["disk"];
export type Quirk = JobPlan["quirks"][number];
