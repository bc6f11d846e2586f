import * as v from "valibot";
import { oneOf, result, text } from "./parts.js";

/** The result of `kbdump completion --json`. */
export const completionResult = result({
  status: v.literal("complete"),
  shell: oneOf("bash", "zsh", "fish"),
  script: text,
});

export type CompletionResult = v.InferOutput<typeof completionResult>;
