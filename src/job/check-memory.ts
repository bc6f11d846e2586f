import * as v from "valibot";
import type { Problem } from "../errors.js";
import { memorySize } from "./schema/leaf.js";

/** Problems of `--memory`, by the rule that `output.memory` of a job file follows. */
export function checkMemory(given: unknown): readonly Problem[] {
  const { issues } = v.safeParse(memorySize, given);
  if (issues === undefined) return [];
  return [{ path: "--memory", message: `got ${JSON.stringify(given)}, expected ${issues[0].message}` }];
}
