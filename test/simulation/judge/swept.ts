import { comesBack } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import { differenceOf, type Evidence, isCovered, isOneAnswer, type StoredList } from "./evidence.js";
import type { Complain } from "./judge.js";
import { nameOf } from "./rows.js";
import { lastMomentOf } from "./whole.js";

/**
 * Two sweeps that agree prove something of a list. Let T1 be the moment of the answer that came last in the first sweep (the one
 * whose rows are stored), T2 that of the answer with which the second sweep began.
 *
 * If no state comes back (no row that is gone appears again with the same id and content, no content is changed and changed
 * back) and `total` is the size of the list at the moment of each answer, then the stored rows are the list as it was at T1,
 * and also as it was at T2, ids and contents; and every one of them was there, unchanged, all the time between.
 *
 * Proof. A row that both sweeps saw was there when the first saw it, at or before T1, and when the second saw it, at or
 * after T2; since nothing comes back, it was there from T1 to T2. So the stored rows are part of the list all that time.
 * They are as many as `total` said on every page, and so as many as the list had at T1 and at T2: they are the whole list.
 * Not claimed: that nothing was there in between that came and went again.
 *
 * The proof needs contents only for what it says of contents. If contents come back and ids do not, which is how a real
 * service is, the ids are still those of the list at T1 and T2, each there all the time between, with a content that it had
 * when it was read.
 *
 * It holds for each list by itself, with moments of its own: the chunks, and every child list that took more than one
 * answer. A list that one answer held is what it was at the moment of that answer, without a second sweep; so is a child
 * list that is stored as the page of chunks embedded it.
 *
 * If ids come back, no number of sweeps is a proof: whoever changes the list before each page, and back after it, shows every
 * sweep the same wrong list. This much is left: as many rows as the list had at T1 and at T2, each of which was really
 * there in the first sweep and really there in the second.
 */
export function checkSwept(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, claim, outcome, chunks, children, isContinued } = evidence;
  if (row.status !== "complete" || (outcome.scenario.job.consistency === "counts" && !isContinued)) return;
  const swept = [...(claim === "anchored" ? [] : [chunks]), ...children];
  for (const list of swept.filter((one) => !isOneAnswer(evidence, one) && !isCovered(evidence, one))) {
    const calls = outcome.calls.of(list.name).filter(({ page, answered }) => page === 1 && answered !== undefined);
    const second = calls.at(-1)?.answered;
    if (second === undefined || calls.length < 2) wrong(`${nameOf(list)} were not read twice`);
    else if (comesBack(outcome.scenario)) checkLoosely(evidence, list, second, wrong);
    else checkExactly(evidence, list, second, wrong, coverage);
  }
}

function checkExactly(
  { outcome, row, first, last }: Evidence,
  list: StoredList,
  second: number,
  wrong: Complain,
  coverage: Coverage,
): void {
  const { history } = outcome.service;
  const end = lastMomentOf(list) ?? second;
  if (end > second) wrong(`${nameOf(list)}: the first sweep ended at ${end}, the second began at ${second}`);
  const contentsComeBack = outcome.scenario.edits.kinds.includes("content back");
  const stored = new Set(list.rows.map(({ id }) => id));
  for (const moment of [end, second]) {
    const state = history.at(list.name, moment);
    const problem = contentsComeBack ? differentIds(stored, state) : differenceOf(list, state);
    if (problem) wrong(`two sweeps agree, but ${nameOf(list)} were not so at moment ${moment}: ${problem}`);
  }
  for (const state of history.between(list.name, end, second)) {
    const isGone = ({ id, fingerprint }: StoredList["rows"][number]) =>
      contentsComeBack ? !state?.has(id) : state?.get(id) !== fingerprint;
    if (list.rows.some(isGone)) wrong(`${nameOf(list)}: a row was not there all the time between the sweeps`);
  }
  if (!history.isEdited(row.document_id, first, last)) return;
  coverage.met(list.name.chunk === undefined ? "chunks swept while edited" : "children swept while edited");
  if (history.isEdited(row.document_id, end, second)) coverage.met("edited between the sweeps, without a trace");
}

/** Names the difference between the ids of a stored list and those of a state. */
export function differentIds(
  stored: ReadonlySet<string>,
  state: ReadonlyMap<string, unknown> | undefined,
): string | undefined {
  if (!state) return "there was no such list";
  const lacking = [...state.keys()].filter((id) => !stored.has(id)).length;
  const strange = [...stored].filter((id) => !state.has(id)).length;
  return lacking + strange > 0 ? `${lacking} rows are missing, ${strange} were not there` : undefined;
}

function checkLoosely({ outcome, last }: Evidence, list: StoredList, second: number, wrong: Complain): void {
  const { history } = outcome.service;
  for (const moment of [lastMomentOf(list) ?? second, second]) {
    const size = history.at(list.name, moment)?.size;
    if (size !== list.rows.length)
      wrong(`${nameOf(list)} are ${list.rows.length} and were ${size} at moment ${moment}`);
  }
  const after = [...history.between(list.name, second, last)];
  for (const { id, fingerprint } of list.rows) {
    if (!after.some((state) => state?.get(id) === fingerprint)) wrong(`${id} was not there in the second sweep`);
  }
}
