import type * as v from "valibot";
import { exitCodes } from "../errors.js";
import { count, listOf, oneOf, orNull, result, text } from "../schema.js";

/** A row that differs from the expected one, and the reason as a sentence. For a row of the run, the id is the one in the run. */
const rowDifference = result({ level: oneOf("chunk", "child_chunk"), id: text, position: orNull(count), reason: text });
export type RowDifference = v.InferOutput<typeof rowDifference>;

/** The members that describe a row difference. */
export const rowMembers = rowDifference.entries;

/** The members shared by the results of a restore and a copy. */
export const sharedMembers = {
  run: result({ folder: text, job: text, run_id: text }),
  base_url: text,
  journal: orNull(text),
  warnings: listOf(text),
};

/** The exit code of a restore or a copy. A plan exits with 0, even if it skips rows. */
export function exitCodeOf({ status }: { readonly status: string }): number {
  if (status === "different") return exitCodes.differences;
  return status === "partial" ? exitCodes.partial : exitCodes.complete;
}
