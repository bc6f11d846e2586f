import * as v from "valibot";
import { count, orNull, result, text } from "./parts.js";

/** The object that `kbdump serve --json` prints as soon as it answers requests. */
export const serveResult = result({
  status: v.literal("serving"),
  base_url: text,
  key: v.pipe(orNull(text), v.description("the key that requests carry; null with --key-env")),
  key_env: v.pipe(orNull(text), v.description("the variable that holds the key")),
  job: v.pipe(orNull(text), v.description("null for sample data, as run_id and counts are")),
  run_id: orNull(text),
  counts: orNull(result({ documents: count, chunks: count, child_chunks: count })),
});

export type ServeResult = v.InferOutput<typeof serveResult>;
