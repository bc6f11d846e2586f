import * as v from "valibot";
import { count, listOf, result, text, truth } from "./parts.js";

/** The result of `kbdump sql --json`. */
export const sqlResult = result({
  status: v.literal("ok"),
  source: v.pipe(text, v.description("the database or run folder that answered")),
  columns: listOf(result({ name: text, type: v.pipe(text, v.description("the type of DuckDB")) })),
  row_count: count,
  truncated: v.pipe(truth, v.description("whether --limit left rows out")),
  rows: v.pipe(listOf(v.record(v.string(), v.unknown())), v.description("an object a row, with the names of columns")),
});

export type SqlResult = v.InferOutput<typeof sqlResult>;
