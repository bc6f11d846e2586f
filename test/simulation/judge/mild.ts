import { readFileSync } from "node:fs";
import type { SegmentFile } from "../../../src/files/join-segments.js";
import { type Outcome, placesOf } from "../outcome.js";
import type { Scenario } from "../scenario.js";
import { isMild } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import type { Complain } from "./judge.js";

/** The result of a run: the bytes of every document, and how each was read. */
export interface Left {
  readonly segments: ReadonlyMap<string, string>;
  readonly documents: string;
  readonly readings: readonly Reading[];
}

/** How often a document was read, and the proof that it is complete. */
interface Reading {
  readonly sweeps: number;
  readonly proof: string;
}

export function leftBy({ through }: Outcome): Left {
  const documents = through?.reading.documents ?? [];
  const contents = documents.flatMap(({ row, files }) =>
    files.map((file) => [`${file.kind}.${file.format} of ${row.document_id}`, textOf(file)] as const),
  );
  return {
    segments: new Map(contents),
    documents: JSON.stringify(documents.map(({ row, drift }) => ({ row: { ...row, sweeps: undefined }, drift }))),
    readings: documents.map(({ row: { sweeps }, proof }) => ({ sweeps, proof })),
  };
}

function textOf({ path, start = 0, bytes }: SegmentFile): string {
  return readFileSync(path).toString("latin1", start, start + bytes);
}

/** The same scenario without faults, delays or interruptions. */
export function undisturbed(scenario: Scenario): Scenario {
  const faults = { ...scenario.faults, kinds: [], rate: 0, revokedAt: undefined };
  return { ...scenario, faults, interruptions: [], service: { ...scenario.service, latency: [1, 2] } };
}

/** Checks scenarios with temporary trouble only: everything is complete, and byte for byte equal to an undisturbed run. */
export function checkMild(outcome: Outcome, expected: Left, wrong: Complain, coverage: Coverage): void {
  if (!isMild(outcome.scenario)) return;
  for (const { row } of outcome.through?.reading.documents ?? []) {
    if (row.status !== "complete")
      wrong(`${row.document_id} is ${row.status}, although all trouble passed: ${row.error}`);
  }
  const left = leftBy(outcome);
  if (left.documents !== expected.documents) wrong(`it says ${left.documents}, undisturbed ${expected.documents}`);
  for (const [index, { name, id }] of placesOf(outcome).entries()) {
    const [is, was] = [left.readings[index], expected.readings[index]];
    if (!is || !was) continue;
    // A resumed document is read in order and swept, whatever the job asks for, and reports that.
    const isSwept = outcome.scenario.job.consistency !== "sweeps" && isContinued(outcome, name);
    const isSame = is.proof === was.proof && is.sweeps === was.sweeps;
    if (isSwept ? Math.abs(is.sweeps - was.sweeps) > 1 : !isSame)
      wrong(`${id}: ${is.sweeps} readings and proof ${is.proof}, undisturbed ${was.sweeps} and ${was.proof}`);
  }
  for (const name of new Set([...left.segments.keys(), ...expected.segments.keys()])) {
    if (left.segments.get(name) !== expected.segments.get(name))
      wrong(`${name} is not what the undisturbed run leaves`);
  }
  coverage.met(outcome.lives > 1 ? "as undisturbed, resumed" : "as undisturbed");
}

/** Whether a process may have resumed a document that an earlier one had begun. */
function isContinued({ left }: Outcome, name: string): boolean {
  return left.some((stored) => !stored || (stored.begun.has(name) && !stored.finished.has(name)));
}
