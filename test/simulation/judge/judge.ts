import type { Outcome } from "../outcome.js";
import { checkAnchored } from "./anchored.js";
import { checkAuto } from "./auto.js";
import { checkClaim } from "./claim.js";
import { checkCost } from "./cost.js";
import type { Coverage } from "./coverage.js";
import { checkDiscovered } from "./discovered.js";
import { checkEnd } from "./end.js";
import { type Evidence, evidenceOf } from "./evidence.js";
import { checkLost } from "./lost.js";
import { checkPace } from "./pace.js";
import { checkReason } from "./reason.js";
import { checkResumed } from "./resumed.js";
import { checkRows } from "./rows.js";
import { checkSwept } from "./swept.js";
import { checkUnreadable } from "./unreadable.js";
import { checkWhole } from "./whole.js";

/** Reports a broken promise. */
export type Complain = (text: string) => void;

const checks: readonly ((evidence: Evidence, wrong: Complain, coverage: Coverage) => void)[] = [
  checkRows,
  checkReason,
  checkWhole,
  checkSwept,
  checkAnchored,
  checkClaim,
  checkLost,
  checkUnreadable,
  checkAuto,
];

/** Returns the broken promises of an outcome; empty if all are kept. */
export function judge(outcome: Outcome, coverage: Coverage): readonly string[] {
  const wrong = [...outcome.violations];
  checkEnd(outcome, (text) => wrong.push(text), coverage);
  checkCost(outcome, (text) => wrong.push(text));
  checkResumed(outcome, (text) => wrong.push(text), coverage);
  checkDiscovered(outcome, (text) => wrong.push(text), coverage);
  checkPace(outcome, (text) => wrong.push(text), coverage);
  for (const [index] of (outcome.through?.reading.documents ?? []).entries())
    wrong.push(...judgeDocument(outcome, index, coverage));
  return wrong;
}

/** Returns the broken promises of one document of an outcome. */
export function judgeDocument(outcome: Outcome, index: number, coverage: Coverage): readonly string[] {
  const row = outcome.through?.reading.documents[index]?.row;
  if (!row) return [];
  const wrong: string[] = [];
  const evidence = evidenceOf(outcome, row, index);
  for (const check of checks)
    check(evidence, (text) => wrong.push(`document ${index + 1}, ${row.status}: ${text}`), coverage);
  return wrong;
}
