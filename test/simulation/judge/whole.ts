import type { ListState } from "../service/history.js";
import type { Coverage } from "./coverage.js";
import { differenceOf, type Evidence, isOneAnswer, type StoredList } from "./evidence.js";
import type { Complain } from "./judge.js";
import { nameOf } from "./rows.js";

/**
 * Checks a complete document, for any `consistency`. Without edits during the read, it equals the service's document, including
 * children. With edits: a list from one answer equals the list at that moment. Any other list has as many rows as the real list at
 * the moment of each answer, except chunks read from the end, which may grow. A list stored as empty was empty at some moment.
 */
export function checkWhole(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, claim, outcome, first, last, chunks, children } = evidence;
  if (row.status !== "complete") return;
  const { history } = outcome.service;
  const edited = history.isEdited(row.document_id, first, last);
  // with counts, a document read from the end may claim only counts, because its child lists were read once
  const isFromTheEnd = claim === "anchored" || outcome.calls.of(chunks.name).some(({ limit }) => limit === 1);
  coverage.met(edited ? "complete although edited" : "complete and not edited");
  for (const list of [chunks, ...children]) {
    if (!edited) checkState(list, history.at(list.name, last), wrong);
    else if (list.rows.length === 0) checkEmpty(evidence, list, wrong);
    else if (list !== chunks || !isFromTheEnd)
      for (const moment of momentsOf(list)) checkAnswer(evidence, list, moment, wrong);
  }
}

function checkState(list: StoredList, state: ListState | undefined, wrong: Complain): void {
  const problem = differenceOf(list, state);
  if (problem) wrong(`${nameOf(list)} are not what they are: ${problem}`);
}

function checkEmpty({ outcome, first, last }: Evidence, list: StoredList, wrong: Complain): void {
  const states = [...outcome.service.history.between(list.name, first, last)];
  if (!states.some((state) => state?.size === 0)) wrong(`${nameOf(list)} are missing`);
}

function checkAnswer(evidence: Evidence, list: StoredList, moment: number, wrong: Complain): void {
  const then = evidence.outcome.service.history.at(list.name, moment);
  if (then?.size !== list.rows.length) {
    wrong(`${nameOf(list)} are ${list.rows.length} and were ${then?.size} at moment ${moment}`);
  } else if (isOneAnswer(evidence, list)) {
    const problem = differenceOf(list, then);
    if (problem) wrong(`${nameOf(list)} are not what they were at moment ${moment}: ${problem}`);
  }
}

/** The moments of the answers that contained the rows. */
function momentsOf({ rows }: StoredList): ReadonlySet<number> {
  return new Set(rows.flatMap(({ moment }) => (moment === undefined ? [] : [moment])));
}

/** The last moment at which the service sent rows of the list; undefined if it has no rows, or rows without moments. */
export function lastMomentOf(list: StoredList): number | undefined {
  const moments = momentsOf(list);
  return moments.size > 0 ? Math.max(...moments) : undefined;
}
