import * as v from "valibot";
import { time } from "../rows/result-rows.js";
import { amount, count, listOf, oneOf, orNull, result, share, text } from "../schema.js";

const remaining = v.pipe(orNull(amount), v.description("null while unknown"));

const progress = {
  step: v.pipe(text, v.description("the current step, in a word or two")),
  done: count,
  of: v.pipe(orNull(count), v.description("null while unknown, and for work without an end")),
  unit: oneOf("byte", "chunk", "document", "request", "row"),
  per_second: v.pipe(amount, v.description("the rate of the last ten seconds")),
  share: v.pipe(orNull(share), v.description("done / of, at most 1")),
  counts: v.pipe(
    v.record(v.string(), count),
    v.description("what else is counted, such as documents_done, documents, chunks, child_chunks and requests"),
  ),
  elapsed_seconds: amount,
  remaining_seconds: remaining,
  silent_seconds: v.pipe(orNull(amount), v.description("time without an answer; null if short")),
};
const reading = {
  dataset_id: text,
  batch: text,
  document_id: orNull(text),
  indexing_status: orNull(text),
  completed_segments: orNull(count),
  total_segments: orNull(count),
  share: orNull(share),
  remaining_seconds: remaining,
};

const line = { time, level: oneOf("info", "warn", "error") };
const progressLine = { ...line, level: v.literal("info"), message: v.literal("progress") };

const problems = v.pipe(
  listOf(result({ path: text, message: text })),
  v.description("with exit code 2: all problems with the command line or the job file"),
);

/** One line of `--log-format json` on stderr. */
export const logLine = v.pipe(
  v.union([
    result({ ...line, message: text }),
    v.pipe(result({ ...progressLine, ...progress }), v.description("the progress, every 10 s")),
    v.pipe(
      result({ ...line, level: v.literal("info"), message: v.literal("reading"), ...reading }),
      v.description("a document whose indexing status changed, from status --watch"),
    ),
    v.pipe(
      result({ ...line, level: v.literal("error"), message: text, exit_code: count, problems, stack: orNull(text) }),
      v.description("the error that ended the command; a stack only for a bug in kbdump"),
    ),
  ]),
  v.title("Line of kbdump --log-format json"),
);

const progressFacts = result(progress);
const readingFacts = result(reading);

export type LogLine = v.InferOutput<typeof logLine>;
export type ProgressFacts = v.InferOutput<typeof progressFacts>;
export type ReadingFacts = v.InferOutput<typeof readingFacts>;

/** The JSON object printed when a command fails before its result. */
export const errorResult = v.pipe(
  result({
    status: v.pipe(
      oneOf("failed", "interrupted", "busy", "partial"),
      v.description("partial: the run is published, but its result could not be written"),
    ),
    exit_code: count,
    error: v.pipe(text, v.description("the same message as on stderr")),
    problems,
  }),
  v.title("Error of kbdump with --json"),
);

export type ErrorResult = v.InferOutput<typeof errorResult>;
