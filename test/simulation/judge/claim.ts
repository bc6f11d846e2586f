import type { Proof } from "../../../src/segments/document-result.js";
import { isMoving } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import { type Evidence, isCovered, isOneAnswer } from "./evidence.js";
import type { Complain } from "./judge.js";

/** Checks that the job allows the proof that a document claims, and that the proof is possible. */
export function checkClaim(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, claim, outcome, chunks, children } = evidence;
  if (row.status !== "complete") {
    if (claim !== "none") wrong(`it claims the proof ${claim}`);
    return;
  }
  coverage.met(`proof: ${claim}`);
  if (!allowedOf(evidence).includes(claim)) wrong(`it claims the proof ${claim}`);
  const split = [chunks, ...children].filter((list) => !isOneAnswer(evidence, list) && !isCovered(evidence, list));
  const isWhole = isMoving(outcome.scenario) || outcome.scenario.faults.heavy === 0;
  if (claim === "one answer" && split.length > 0 && isWhole) wrong("not every list came with one answer");
}

/**
 * The proofs that a document may claim. A document that grew during the read may be read from its end, whatever the job wants. With
 * counts, a resumed document is swept; but without edits, rows have no moments that tell whether it was resumed, so both proofs are
 * allowed.
 */
function allowedOf({ row, outcome, isContinued, first, last }: Evidence): readonly Proof[] {
  const { scenario, service, lives } = outcome;
  const { consistency } = scenario.job;
  const isEdited = service.history.isEdited(row.document_id, first, last) && row.sweeps > 1;
  const anchored: readonly Proof[] = consistency === "anchored" || isEdited ? ["anchored"] : [];
  if (consistency !== "counts") return ["one answer", "sweeps", ...anchored];
  if (!isMoving(scenario) && lives > 1) return ["one answer", "counts", "sweeps", ...anchored];
  return isContinued ? ["one answer", "sweeps", ...anchored] : ["one answer", "counts", ...anchored];
}
