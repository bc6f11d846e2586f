import * as v from "valibot";
import { amount, count, listOf, oneOf, orNull, requests, result, text, truth } from "./parts.js";

const mode = oneOf("all", "auto", "none");

/** A figure for each mode of `child_chunks`; `this_job` repeats that of the job. */
const byMode = <Figure extends v.GenericSchema>(figure: Figure) =>
  result({ all: figure, auto: figure, none: figure, this_job: figure });

const latency = result({ median_seconds: orNull(amount), p95_seconds: orNull(amount), answers: count });

const document = result({
  dataset_id: text,
  dataset_name: orNull(text),
  document_id: text,
  document_name: orNull(text),
  doc_form: orNull(text),
  chunks: orNull(count),
  child_chunks: orNull(count),
  child_chunks_exact: truth,
  requests: count,
  exact: truth,
  why: listOf(text),
  error: orNull(text),
});

/** The result of `kbdump plan --json`. */
export const planResult = result({
  status: v.pipe(oneOf("complete", "partial"), v.description("partial: some documents or lists could not be asked")),
  job: text,
  service: result({ base_url: text }),
  child_chunks: mode,
  consistency: oneOf("sweeps", "anchored", "counts"),
  counts: result({
    datasets: count,
    batches: count,
    documents: count,
    documents_failed: count,
    chunks: count,
    child_chunks: count,
    child_chunks_exact: truth,
    child_lists_known: count,
  }),
  requests: byMode(count),
  certainty: byMode(result({ exact: truth, at_least: count, why: listOf(text) })),
  time: result({ least_seconds: byMode(amount), latency: result({ chunk_page: latency, child_list: latency }) }),
  received: result({ bytes: byMode(count), sample: result({ chunks: count, child_chunks: count }) }),
  disk: result({
    folder: text,
    needed_bytes: count,
    run_folder_bytes: count,
    database_bytes: count,
    free_bytes: orNull(count),
    enough: orNull(truth),
  }),
  quirks: listOf(result({ name: text, finding: text, detail: text, meaning: text, trouble: truth })),
  documents: listOf(document),
  asked: result({ ...requests, seconds: amount }),
  warnings: listOf(text),
  documents_out: v.pipe(orNull(text), v.description("the file of --documents-out; null without it")),
});

export type PlanResult = v.InferOutput<typeof planResult>;
