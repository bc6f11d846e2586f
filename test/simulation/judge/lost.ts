import { comesBack, isMoving, keepsOrder, onlyAppends } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import type { Evidence, StoredList } from "./evidence.js";
import type { Complain } from "./judge.js";
import { nameOf } from "./rows.js";

/**
 * Checks that no row is lost or invented, from the view of a reader of the dump. Lost: a row that existed from the first stored answer
 * to the last answer of the document, but is not stored. Invented: a stored row that never existed since the document was first
 * requested.
 *
 * A complete document has no invented rows, whatever its proof. It has no lost rows if its proof is stronger than counts and no row
 * comes back with its id (see swept.ts). If it was read from the end, rows must also be added only at the end or, with sweeps, keep
 * their order (see anchored.ts). With counts, only the number of rows is right, and rows may be lost.
 */
export function checkLost(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, outcome, claim, chunks, children } = evidence;
  const { consistency } = outcome.scenario.job;
  if (!isMoving(outcome.scenario)) return;
  const edited = outcome.service.history.isEdited(row.document_id, evidence.first, evidence.last);
  if (edited) coverage.met(`${consistency}: ${row.status}`);
  if (row.status !== "complete" || !edited) return;
  const promise = promiseOf(evidence);
  for (const list of [chunks, ...children]) {
    const invented = inventedIn(evidence, list);
    const lost = lostFrom(evidence, list);
    coverage.met(`${consistency}: invented`, invented.length);
    coverage.met(`${consistency}: lost${promise ? "" : ", beyond the promise"}`, lost.length);
    if (!promise)
      coverage.met(
        `lost, ${consistency}, with ${claim}${comesBack(outcome.scenario) ? ", rows come back" : ""}`,
        lost.length,
      );
    if (invented.length > 0) wrong(`${invented[0]} of ${nameOf(list)} was not there since the document was asked for`);
    if (lost.length > 0 && promise) wrong(`${lost[0]} of ${nameOf(list)} was there all the time, and is not stored`);
  }
}

/** Whether the claimed proof promises that nothing is lost. */
function promiseOf({ claim, outcome: { scenario } }: Evidence): boolean {
  if (claim === "one answer") return true;
  if (claim === "sweeps") return !comesBack(scenario);
  if (claim !== "anchored") return false;
  return onlyAppends(scenario) || (scenario.job.consistency === "sweeps" && keepsOrder(scenario));
}

function inventedIn({ outcome, first, last }: Evidence, { name, rows }: StoredList): readonly string[] {
  const there = new Set<string>();
  for (const state of outcome.service.history.between(name, first, last))
    for (const id of state?.keys() ?? []) there.add(id);
  return rows.map(({ id }) => id).filter((id) => !there.has(id));
}

function lostFrom({ outcome, begin, last }: Evidence, { name, rows }: StoredList): readonly string[] {
  const stored = new Set(rows.map(({ id }) => id));
  let always: readonly string[] | undefined;
  for (const state of outcome.service.history.between(name, Math.min(begin, last), last)) {
    if (always) always = always.filter((id) => state?.has(id));
    else always = [...(state?.keys() ?? [])].filter((id) => !stored.has(id));
    if (always.length === 0) return [];
  }
  return always ?? [];
}
