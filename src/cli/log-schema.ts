import * as v from "valibot";
import { amount, count, listOf, oneOf, orNull, result, share, text, time } from "./result-schema.js";

const remaining = v.pipe(orNull(amount), v.description("null as long as nothing can be said"));

const runProgress = {
  step: text,
  documents: count,
  documents_done: count,
  chunks: count,
  child_chunks: count,
  requests: count,
  requests_per_second: amount,
  share: orNull(share),
  elapsed_seconds: amount,
  remaining_seconds: remaining,
  in_flight: count,
  silent_seconds: v.pipe(orNull(amount), v.description("time without an answer; null where it is short")),
};
const readProgress = { step: text, share, elapsed_seconds: amount, remaining_seconds: remaining };
const moveProgress = {
  step: text,
  documents: count,
  documents_done: count,
  documents_failed: count,
  chunks: count,
  chunks_done: count,
  writes: v.pipe(count, v.description("write requests sent")),
  share: orNull(share),
  elapsed_seconds: amount,
  remaining_seconds: remaining,
};
const watchProgress = {
  documents: count,
  completed: count,
  failed: count,
  elapsed_seconds: amount,
  remaining_seconds: remaining,
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
  v.description("with exit code 2: everything that is wrong with the command line or the job file"),
);

/** One line of `--log-format json` on stderr. */
export const logLine = v.pipe(
  v.union([
    result({ ...line, message: text }),
    v.pipe(result({ ...progressLine, ...runProgress }), v.description("how far run or plan is, every 10 s")),
    v.pipe(
      result({ ...progressLine, ...readProgress }),
      v.description("how far verify, diff, serve or restore --lost is, every 10 s"),
    ),
    v.pipe(result({ ...progressLine, ...moveProgress }), v.description("how far restore --to is, every 10 s")),
    v.pipe(result({ ...progressLine, ...watchProgress }), v.description("how far status --watch is, every 10 s")),
    v.pipe(
      result({ ...line, level: v.literal("info"), message: v.literal("reading"), ...reading }),
      v.description("a document whose indexing status changed, as status --watch read it"),
    ),
    v.pipe(
      result({ ...line, level: v.literal("error"), message: text, exit_code: count, problems, stack: orNull(text) }),
      v.description("the error that ended the command; a stack only where kbdump itself is at fault"),
    ),
  ]),
  v.title("Line of kbdump --log-format json"),
);

const runFacts = result(runProgress);
const readFacts = result(readProgress);
const moveFacts = result(moveProgress);
const watchFacts = result(watchProgress);
const readingFacts = result(reading);

export type LogLine = v.InferOutput<typeof logLine>;
export type RunFacts = v.InferOutput<typeof runFacts>;
export type ReadFacts = v.InferOutput<typeof readFacts>;
export type MoveFacts = v.InferOutput<typeof moveFacts>;
export type WatchFacts = v.InferOutput<typeof watchFacts>;
export type ReadingFacts = v.InferOutput<typeof readingFacts>;

/** The object that a command ends with that does not come to its result. */
export const errorResult = v.pipe(
  result({
    status: v.pipe(
      oneOf("failed", "interrupted", "busy", "partial"),
      v.description("partial: the run is published, but its result could not be written"),
    ),
    exit_code: count,
    error: v.pipe(text, v.description("the message that stands on stderr, too")),
    problems,
  }),
  v.title("Error of kbdump with --json"),
);

export type ErrorResult = v.InferOutput<typeof errorResult>;
