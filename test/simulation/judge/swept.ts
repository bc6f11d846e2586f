import { comesBack } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import { differenceOf, type Evidence, isCovered, isOneAnswer, type StoredList } from "./evidence.js";
import type { Complain } from "./judge.js";
import { nameOf } from "./rows.js";
import { lastMomentOf } from "./whole.js";

/**
 * Two equal sweeps prove a list. Let T1 be the moment of the last answer of the first sweep, whose rows are stored, and T2 the moment
 * of the first answer of the second sweep.
 *
 * Assume that no state comes back (no deleted row reappears with the same id and content, and no content is changed and changed back)
 * and that `total` is the size of the list at the moment of each answer. Claim: the stored rows, with ids and contents, are the list
 * at T1 and at T2, and every one of them existed unchanged from T1 to T2.
 *
 * Proof. A row in both sweeps existed when the first sweep read it, at or before T1, and when the second read it, at or after T2.
 * Because nothing comes back, it existed from T1 to T2. So the stored rows are a subset of the list during that time. Their number
 * equals `total` on every page, which is the size of the list at T1 and T2, so they are the whole list. Not claimed: that no other
 * row appeared and disappeared in between.
 *
 * The proof needs contents only for its claim about contents. If contents come back but ids do not, as in a real service, the ids are
 * still the list at T1 and T2, each row existed all the time in between, and its content is one that it had when it was read.
 *
 * The proof holds for each list separately, with its own T1 and T2: the chunks, and every child list that took more than one answer.
 * A list from a single answer is the list at the moment of that answer and needs no second sweep. The same holds for a child list
 * that was stored as embedded in the page of chunks.
 *
 * If ids come back, no number of sweeps is a proof: edits before each page, undone after it, can show the same wrong list to every
 * sweep. Then the claim is only: the number of rows is the size of the list at T1 and T2, and each row really existed in the first
 * sweep and in the second.
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

/** Describes how the ids of a stored list differ from those of a state. */
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
