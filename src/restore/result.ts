import type * as v from "valibot";
import { exitCodes } from "../errors.js";
import { count, listOf, oneOf, orNull, result, text } from "../schema.js";

/** A row that is not as it should be, and the reason as a sentence. The id of one that should be there is that in the run. */
const rowDifference = result({ level: oneOf("chunk", "child_chunk"), id: text, position: orNull(count), reason: text });
export type RowDifference = v.InferOutput<typeof rowDifference>;

/** The members that say it of a row. */
export const rowMembers = rowDifference.entries;

/** The members that the results of a restore and a copy share. */
export const sharedMembers = {
  run: result({ folder: text, job: text, run_id: text }),
  base_url: text,
  journal: orNull(text),
  warnings: listOf(text),
};

/** The exit code of a restore or a copy. A plan exits with 0, whatever it leaves alone. */
export function exitCodeOf({ status }: { readonly status: string }): number {
  if (status === "different") return exitCodes.differences;
  return status === "partial" ? exitCodes.partial : exitCodes.complete;
}
