import { InterruptedError, StopError } from "../../../src/errors.js";
import { type Outcome, placesOf } from "../outcome.js";
import type { Coverage } from "./coverage.js";
import type { Complain } from "./judge.js";

/** Checks that a run ends with every document, or with an error that says why. */
export function checkEnd(outcome: Outcome, wrong: Complain, coverage: Coverage): void {
  const { through, errors, scenario, lives } = outcome;
  for (const error of errors) if (!isExpected(error)) wrong(`a process ended with ${describe(error)}`);
  if (!through) {
    if (!(errors.at(-1) instanceof StopError)) wrong(`the last process ended with ${describe(errors.at(-1))}`);
    coverage.met("given up");
    return;
  }
  if (lives > 1) coverage.met("went on after an interruption");
  const { reading, progress } = through;
  const wanted = scenario.job.documents === "all" ? placesOf(outcome).length : scenario.documents.length;
  if (reading.documents.length !== wanted) wrong(`${reading.documents.length} of ${wanted} documents have a result`);
  for (const [kind, count] of [
    ["chunks", "chunk_count"],
    ["child_chunks", "child_chunk_count"],
  ] as const) {
    const rows = reading.documents.reduce((sum, { row }) => sum + row[count], 0);
    if (progress[kind] !== rows) wrong(`the progress has ${progress[kind]} ${kind}, the documents ${rows}`);
  }
}

/** Whether an error stops a process on purpose, or comes from a full disk. */
function isExpected(error: unknown): boolean {
  if (error instanceof StopError || error instanceof InterruptedError) return true;
  return error instanceof Error && Reflect.get(error, "code") === "ENOSPC";
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
