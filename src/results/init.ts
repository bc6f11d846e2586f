import * as v from "valibot";
import { listOf, result, text } from "./parts.js";

/** The result of `kbdump init --json`. */
export const initResult = result({
  status: v.literal("complete"),
  path: text,
  files: v.pipe(listOf(text), v.description("the job file, and the file of the key if there is one")),
});

export type InitResult = v.InferOutput<typeof initResult>;
