import { expect, test } from "vitest";
import { withProgress } from "../../../src/commands/run.js";
import { withWork } from "../../../src/commands/worker.js";
import { InterruptedError, LostError, StopError } from "../../../src/errors.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";

const kept = { ...emptyRunProgress(), isKept: true, documents: 9, documentsDone: 4, documentsFailed: 1 };
const message = (error: unknown) => (error instanceof Error ? error.message : "");

test.each([
  [
    new InterruptedError("SIGTERM"),
    false,
    "interrupted by SIGTERM; 3 of 9 documents read; progress is kept; run the same command to resume",
  ],
  [
    new InterruptedError("SIGINT"),
    true,
    "interrupted by SIGINT; 3 of 9 documents read; progress is kept; run the same command without --fresh to resume",
  ],
  [
    new StopError("the disk is full."),
    false,
    "the disk is full; 3 of 9 documents read; what was read is kept; run the same command to resume",
  ],
  [
    new StopError("the disk of x is full. What was read is kept: make room"),
    false,
    "the disk of x is full. What was read is kept: make room; 3 of 9 documents read; run the same command to resume",
  ],
  [new LostError("run x took over"), false, "run x took over"],
])("what an early end leaves: %s", (error, fresh, expected) => {
  expect(message(withProgress(error, kept, { fresh }))).toBe(expected);
});

test("the exit code and the status stay; without saved progress, nothing is promised", () => {
  expect(withProgress(new InterruptedError("SIGTERM"), kept, { fresh: false })).toMatchObject({ exitCode: 143 });
  expect(withProgress(new StopError("401", { status: 401 }), kept, { fresh: false })).toMatchObject({ status: 401 });
  const error = new InterruptedError("SIGINT");
  expect(withProgress(error, emptyRunProgress(), { fresh: false })).toBe(error);
});

test("a worker that is interrupted says how much it read, and keeps its exit code", () => {
  const error = withWork(new InterruptedError("SIGTERM"), { documentsDone: 3 });
  expect(error).toMatchObject({ exitCode: 143 });
  expect(message(error)).toBe(
    "interrupted by SIGTERM; 3 documents read; documents that it had not finished are returned to the queue",
  );
  const refused = new StopError("401");
  expect(withWork(refused, { documentsDone: 3 })).toBe(refused);
});
