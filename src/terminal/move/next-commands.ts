import type { MoveResult } from "../../restore/copy/copy-result.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { shortPath } from "../summary.js";

/** The command that writes the plan of this one. */
export function applyCommand(invocation: Invocation): string {
  return commandText(plainly(invocation), ["--apply"]);
}

/** The command that tries documents again that failed in an earlier process. */
export function retryFailedCommand(invocation: Invocation): string {
  return commandText(withoutSwitches(plainly(invocation), ["retry-failed"]), ["--apply", "--retry-failed"]);
}

/** The invocation that goes on with what this one began. To say `--dataset new` once more would begin another copy. */
export function goingOn(invocation: Invocation): Invocation {
  return withoutOption(invocation, "dataset", "new");
}

/** The command that compares the run with the service at any later time. */
export function compareCommand({ run, base_url }: MoveResult, { program }: Invocation): string {
  return commandText({ program, args: ["verify", shortPath(run.folder), "--against", base_url] });
}

function plainly(invocation: Invocation): Invocation {
  return withoutSwitches(invocation, ["apply", "yes", "json"]);
}
