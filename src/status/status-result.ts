import * as v from "valibot";
import { drift, rowOf } from "../rows/result-rows.js";
import { amount, count, listOf, oneOf, result, text, truth } from "../schema.js";

const place = {
  rows: v.pipe(listOf(rowOf("indexing_status")), v.description("the columns of indexing_status")),
  drift,
  database: text,
  added: v.pipe(truth, v.description("false: the rows wait beside the database until the next run adds them")),
};

/** The result of `kbdump status --json`. */
export const statusResult = result({
  status: v.pipe(oneOf("complete", "partial"), v.description("partial: some batches could not be read")),
  failures: v.pipe(listOf(text), v.description("a sentence for every batch that could not be read")),
  ...place,
});

/** A status snapshot, and where it was stored. */
export type TakenStatus = Omit<v.InferOutput<typeof statusResult>, "status">;

/** The result of `kbdump status --watch --json`: how a watch ended, and where its snapshots were stored. */
export const watchResult = v.pipe(
  result({
    status: v.pipe(
      oneOf("completed", "error", "timeout"),
      v.description("error: every document has ended, some in an error; timeout: some have not ended"),
    ),
    seconds: amount,
    polls: count,
    readings: v.pipe(count, v.description("readings that were kept")),
    ...place,
  }),
  v.title("Result of kbdump status --watch --json"),
);
export type WatchedStatus = v.InferOutput<typeof watchResult>;
