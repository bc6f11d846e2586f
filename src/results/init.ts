import * as v from "valibot";
import { result, text } from "./parts.js";

/** The result of `kbdump init --json`. */
export const initResult = result({ status: v.literal("complete"), path: text });

export type InitResult = v.InferOutput<typeof initResult>;
