import { InterruptedError } from "../../errors.js";
import type { Log } from "../../log.js";
import { printResult } from "../print-result.js";
import type { World } from "../world.js";

/** The parts of a result that every restore has. */
interface EndedRestore {
  readonly status: string;
  readonly applied: object | null;
  readonly warnings: readonly string[];
}

/** Warns, and prints the result. InterruptedError where a plan was to be written and was not, as somebody said no. */
export async function endRestore(
  { status, applied, warnings }: EndedRestore,
  apply: boolean,
  log: Log,
  world: World,
  render: () => string,
): Promise<void> {
  for (const warning of warnings) log("warn", warning);
  if (apply && status === "planned" && applied === null)
    throw new InterruptedError("SIGINT", "stopped, as you answered no: nothing of this plan was written");
  await printResult(world, render(), applied === null ? undefined : "the restore is done");
}
