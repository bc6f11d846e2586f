import { isMoving, onlyAppends } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import type { Evidence } from "./evidence.js";
import type { Complain } from "./judge.js";
import { differentIds } from "./swept.js";

/**
 * Reading from the end proves something of the chunks if the service adds chunks behind all others only. Let T be the moment
 * of the answer with the last page, which is that of the last row that is stored, and E that of the first of the two requests
 * for one row each with which the reading ended.
 *
 * The ids are those of the list as it was at T, and every row before the last page was there all the time from T to E, unless
 * two chunks are added at once.
 *
 * Proof. The first row of the last page had its rank at T, and has it at E. Nothing came in before it, so nothing before it
 * was deleted either: the rows before it are the same ones at every moment between, and every page between was read between.
 * The last row of page 1 likewise, since page 1 was read. And the last page told as many rows as there are.
 *
 * Two chunks that are added at once get one position, and the second may come in right before the first row of the last page.
 * A delete before it can then go unseen, but not for the ids: if a page between was read after the second came in, it has a row
 * with the position of the next one; if before, with nothing deleted yet, it is as it was at T; and if something was deleted
 * by then, the pages between have the first row of the last page, too, or a row twice. So positions have to rise strictly.
 *
 * Contents are those of the moments in which the rows were read. If rows come in anywhere, an insert and a delete before
 * the last page can leave its rank as it was: then nothing is claimed but what counts claim, unless the job wants sweeps.
 *
 * A slow add may come in before rows that are there (see read-anchored.ts). As long as one can be under way, the last page has a young row, or
 * the total changes: then all pages before the last are read twice, as with sweeps.
 *
 * With sweeps, all pages before the last are read twice, and E lies between. Every row that both saw was there at E, as no row
 * comes back; they are as many as stood before the last page at E, and rows do not change their order; so they are all of
 * these. A row that was there all the time is one of them, or was on the last page at T. Nothing is lost (see lost.ts), though
 * the ids need not be those of one moment.
 */
export function checkAnchored(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, claim, outcome, chunks } = evidence;
  if (row.status !== "complete" || claim !== "anchored") return;
  const { scenario, service, calls } = outcome;
  coverage.met("anchored");
  const then = chunks.rows.at(-1)?.moment;
  if (!isMoving(scenario) || then === undefined) return;
  const isSwept = calls
    .of(chunks.name)
    .some(({ page, limit, answered = then }) => page === 1 && limit > 1 && answered > then);
  if (isSwept) coverage.met("anchored and swept");
  else if (scenario.job.consistency === "sweeps")
    wrong("it grew, and the pages before the last one were not read twice");
  if (!onlyAppends(scenario)) {
    coverage.met("anchored where rows come in anywhere");
    return;
  }
  if (service.history.isEdited(row.document_id, evidence.first, evidence.last)) coverage.met("anchored while edited");
  if (isSwept) return; // nothing is lost, though the ids need not be those of one moment
  const stored = new Set(chunks.rows.map(({ id }) => id));
  const problem = differentIds(stored, service.history.at(chunks.name, then));
  if (problem) wrong(`anchored, but the chunks were not so at moment ${then}: ${problem}`);
  const ranks = calls.of(chunks.name).filter(({ limit, answered }) => limit === 1 && answered !== undefined);
  const end = Math.min(...ranks.slice(-2).map(({ answered = then }) => answered));
  if (ranks.length < 2 || end < then) wrong("anchored, but the ranks were not looked at in the end");
  const before = chunks.rows.filter(({ moment }) => moment !== then);
  if (scenario.edits.kinds.includes("append at once")) return;
  for (const state of service.history.between(chunks.name, then, end)) {
    if (before.some(({ id }) => !state?.has(id))) wrong("anchored, but a chunk was deleted before the end");
  }
}
