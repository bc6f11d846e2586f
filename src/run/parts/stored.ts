import type * as v from "valibot";
import { count, listOf, object, pattern, text } from "../../schema.js";
import type { PartFacts } from "./part.js";

/** One document as it lies on the disk: its state, and its parts as they were then. */
export interface Stored<State> {
  readonly state: State;
  readonly parts: readonly PartFacts[];
}

/** A name without a folder in it: what lies in the work folder must not lead out of it. */
export const fileName = pattern("the name of a file", /^[\w.]+$/);

/** A stored state with its parts. */
export function storedSchema<State>(state: v.GenericSchema<unknown, State>) {
  return object({ state, parts: listOf(object({ file: fileName, bytes: count, sha256: text })) });
}
