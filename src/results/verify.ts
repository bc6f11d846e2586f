import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text } from "./parts.js";

/** The result of `kbdump verify --json`. */
export const verifyResult = result({
  status: oneOf("sound", "differences"),
  findings: v.pipe(
    listOf(result({ file: text, message: text })),
    v.description("of each kind the first 20, and a count of the rest"),
  ),
  finding_count: count,
  checked: result({
    folder: text,
    run_id: orNull(text),
    files: count,
    documents: count,
    chunks: count,
    child_chunks: count,
    originals: v.pipe(orNull(count), v.description("null unless the job asks for originals")),
    database: orNull(result({ path: text, documents: count, read_later: count, passed_over: count })),
    notes: v.pipe(listOf(text), v.description("checks that were not possible, and why")),
  }),
});

export type VerifyResult = v.InferOutput<typeof verifyResult>;
