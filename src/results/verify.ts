import * as v from "valibot";
import { difference } from "./move.js";
import { count, listOf, oneOf, orNull, result, text, truth } from "./parts.js";

const against = result({
  base_url: text,
  copies: v.pipe(
    truth,
    v.description("true: compared with copies that restore --to made; false: with the same documents, by ids"),
  ),
  documents: count,
  chunks: count,
  child_chunks: count,
  differences: listOf(difference),
  notes: v.pipe(listOf(text), v.description("documents and parts that were not compared, and why")),
});

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
    attachments: v.pipe(
      orNull(count),
      v.description("files attached to chunks; null unless the job asks for originals"),
    ),
    database: orNull(result({ path: text, documents: count, read_later: count, passed_over: count })),
    notes: v.pipe(listOf(text), v.description("checks that were not possible, and why")),
  }),
  against: v.pipe(
    orNull(against),
    v.description("the comparison with a service; null without --against, and where the dump is not sound"),
  ),
});

export type VerifyResult = v.InferOutput<typeof verifyResult>;
