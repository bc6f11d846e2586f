import type { ListState } from "../history.js";
import type { Coverage } from "./coverage.js";
import type { Evidence, StoredList } from "./evidence.js";
import type { Complain } from "./judge.js";
import { nameOf } from "./rows.js";

/**
 * Of a complete document, whatever `consistency` is. Not edited while it was read: it is exactly what the service has,
 * children and all. Edited meanwhile: every list that came with one answer is exactly what it was at that moment; of the
 * others there are as many rows as there were when the last page was answered; and a list that is stored as empty was
 * empty once while the document was read.
 */
export function checkWhole(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, outcome, first, last, chunks, children } = evidence;
  if (row.status !== "complete") return;
  const { history } = outcome.service;
  const edited = history.isEdited(row.document_id, first, last);
  coverage.met(edited ? "complete although edited" : "complete and not edited");
  for (const list of [chunks, ...children]) {
    const moment = lastMomentOf(list) ?? last;
    const then = history.at(list.name, moment);
    if (!edited || isOneAnswer(list)) {
      const problem = list.rows.length > 0 || !edited ? differenceOf(list, then) : undefined;
      if (problem) wrong(`${nameOf(list)} are not what they were at moment ${moment}: ${problem}`);
    } else if (then?.size !== list.rows.length) {
      wrong(`${nameOf(list)} are ${list.rows.length} and were ${then?.size} at moment ${moment}`);
    }
    if (list.rows.length > 0) continue;
    const states = [...history.between(list.name, first, last)];
    if (!states.some((state) => state?.size === 0)) wrong(`${nameOf(list)} are missing`);
  }
}

/** The moment of the answer that came last of those that the rows came with; undefined without rows or marks. */
export function lastMomentOf({ rows }: StoredList): number | undefined {
  const moments = rows.flatMap(({ moment }) => (moment === undefined ? [] : [moment]));
  return moments.length > 0 ? Math.max(...moments) : undefined;
}

/** Whether all rows came with one answer. */
export function isOneAnswer({ rows }: StoredList): boolean {
  return rows.every(({ moment }) => moment === rows[0]?.moment);
}

/** What tells a stored list from a state that it should be; undefined if nothing does. */
export function differenceOf({ rows }: StoredList, state: ListState | undefined): string | undefined {
  if (!state) return "there was no such list";
  const strange = rows.find(({ id, fingerprint }) => state.get(id) !== fingerprint);
  if (strange) return `${strange.id} was another, or not there`;
  return state.size === rows.length ? undefined : `${state.size - rows.length} rows are missing`;
}
