import * as v from "valibot";
import { dumpDifference } from "../compare/proof/prove.js";
import { count, listOf, result, text, truth } from "../schema.js";

/** The result of a comparison of a run with a service. */
export const againstResult = result({
  base_url: text,
  copies: v.pipe(
    truth,
    v.description("true: compared with copies that copy made; false: with the same documents, by ids"),
  ),
  documents: count,
  chunks: count,
  child_chunks: count,
  differences: listOf(dumpDifference),
  notes: v.pipe(listOf(text), v.description("documents and parts that were not compared, and why")),
});
export type Against = v.InferOutput<typeof againstResult>;
