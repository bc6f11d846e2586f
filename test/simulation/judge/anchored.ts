import { isMoving, onlyAppends } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import type { Evidence } from "./evidence.js";
import type { Complain } from "./judge.js";
import { differentIds } from "./swept.js";

/** The number of rows that a page of chunks is asked for. */
const asked = 100;

/**
 * Reading from the end proves the list of chunks if the service only adds chunks at the end. Let T be the moment when the service
 * sent the last page, which has the last stored row. Let E be the moment of the first of the one-row requests that end the
 * reading. They ask for the last row of page 1, for the first row of the last page (unless there are only two pages, and page 1 is as
 * long as asked for), and for the last row of a full last page.
 *
 * Claim: the stored ids are the list at T, and every row before the last page existed from T to E, unless two chunks are added at
 * the same time.
 *
 * Proof. The first row of the last page has the same rank at T and at E. No row was inserted before it, so none was deleted before
 * it. The rows before it are therefore the same at every moment from T to E, when the pages between were read. The same holds for
 * the last row of page 1 since page 1 was read, which alone is enough for two pages with a full page 1. The last page has as many rows as the total says.
 *
 * Two chunks added at the same time get the same position, and the second may be inserted right before the first row of the last
 * page. This can hide a delete before it, but the ids still show it. If a page between was read after the insert, it contains two
 * rows with one position. If it was read before the insert and before any delete, it is as it was at T. If it was read after a
 * delete, the pages between contain the first row of the last page, or a row twice. So positions must strictly increase.
 *
 * Contents are from the moments when the rows were read. If rows can be inserted anywhere, an insert and a delete before the last
 * page can leave its rank unchanged. Then the claim is no stronger than with counts, unless the job wants sweeps.
 *
 * A slow add can insert a row before existing ones (see read-anchored.ts). While one may be in progress, the last page has a young
 * row, or the total changes. Then all pages before the last are read twice, as with sweeps.
 *
 * With sweeps, all pages before the last are read twice, once before and once after E. A row in both readings existed at E, because
 * no row comes back. The row that was looked at still has its rank at E, so as many rows are before the last page as at T. Both readings
 * share exactly that many rows, and rows keep their order. So the shared rows are those before the last page at E. A row that existed all the time is one of them, or was on the last page at T. So nothing is lost (see lost.ts), but the ids
 * need not be from one moment.
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
  if (isSwept) return; // with sweeps, nothing is lost, but the ids need not be from one moment
  const stored = new Set(chunks.rows.map(({ id }) => id));
  const problem = differentIds(stored, service.history.at(chunks.name, then));
  if (problem) wrong(`anchored, but the chunks were not so at moment ${then}: ${problem}`);
  const pages = [...Map.groupBy(chunks.rows, ({ moment }) => moment).values()].map(({ length }) => length);
  const [first = 0, last = 0] = [pages[0], pages.at(-1)];
  const ranks = [first];
  if (pages.length > 2 || first < asked) ranks.push(chunks.rows.length - last + 1);
  if (last === first) ranks.push(chunks.rows.length);
  const looks = ranks.map((rank) => calls.of(chunks.name).findLast(({ limit, page }) => limit === 1 && page === rank));
  const end = Math.min(...looks.map((look) => look?.answered ?? 0));
  if (end < then) wrong("anchored, but not every rank was checked after the last page was read");
  const before = chunks.rows.filter(({ moment }) => moment !== then);
  if (scenario.edits.kinds.includes("append at once")) return;
  for (const state of service.history.between(chunks.name, then, end)) {
    if (before.some(({ id }) => !state?.has(id))) wrong("anchored, but a chunk was deleted before the end");
  }
}
