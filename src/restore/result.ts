import { exitCodes } from "../errors.js";
import { listOf, orNull, result, text } from "../schema.js";

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
