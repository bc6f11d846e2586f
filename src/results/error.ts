import * as v from "valibot";
import { count, listOf, oneOf, result, text } from "./parts.js";

export const problems = v.pipe(
  listOf(result({ path: text, message: text })),
  v.description("with exit code 2: everything that is wrong with the command line or the job file"),
);

/** The object that a command ends with that does not come to its result. */
export const errorResult = result({
  status: v.pipe(
    oneOf("failed", "interrupted", "busy", "partial"),
    v.description("partial: the run is published, but its result could not be written"),
  ),
  exit_code: count,
  error: v.pipe(text, v.description("the message that stands on stderr, too")),
  problems,
});

export type ErrorResult = v.InferOutput<typeof errorResult>;
