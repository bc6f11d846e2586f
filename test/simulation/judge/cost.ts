import type { Call, SendEnd } from "../calls.js";
import { type Outcome, placesOf } from "../outcome.js";
import { isMild, isMoving } from "../scenario-facts.js";
import type { ListName } from "../service/list-name.js";
import { isDocumentList } from "./discovered.js";
import { pageSizeOf } from "./evidence.js";
import { grouped } from "./grouped.js";
import type { Complain } from "./judge.js";

/** Times that a list is read before it is taken as it is. */
const attempts = 3;
/** Times that the last page of a list is looked for in one attempt. */
const lastPageTries = 10;
/** Times that a request is sent again in one try, if it is refused without Retry-After. */
const mostAgain = 3;
/** Children from which on those that a chunk embeds are kept until the document is proved. */
const kept = 20;

/**
 * Every page is tried as often as `retries` allows: see `fewestTries`. No page is asked for that `total` does not call for, and none is asked
 * for again by one process but for a second sweep or because the document moved. A second sweep is made of lists that took
 * more than one answer, and that no page of chunks embedded whole; and not of chunks that the process itself read from their
 * end.
 */
export function checkCost(outcome: Outcome, wrong: Complain): void {
  const { scenario, calls } = outcome;
  for (const call of calls.all) {
    const most = scenario.job.retries + 1;
    const tries = fewestTries(call.ends);
    if (tries > most) wrong(`${call.target} was tried ${tries} times`);
    const isProbe = isPieceOfUnreadable(outcome, call) || (call.limit === 1 && call.page === 100);
    const isOdd = call.list !== undefined && !isProbe && call.page > pagesOf(outcome, call.list, call);
    if (isOdd && scenario.faults.lies === 0) wrong(`${call.target}: there is no such page`);
  }
  for (const [target, same] of grouped(calls.all, ({ life, target }) => `process ${life}: ${target}`)) {
    const [call] = same;
    const again = call && isDocumentList(call.target) ? 1 : 0; // once more after the documents, to see which of them changed
    const most = call ? mostOf(outcome, call) + again : 0;
    if (same.length > most) wrong(`${target} was asked for ${same.length} times`);
  }
}

/**
 * The fewest tries that these requests can be, by what docs/requests.md promises. A request that is refused without Retry-After, with a
 * 429 or by the plan limit, is sent again up to three times, which counts as one try. An outage uses up no tries: what it ends is none.
 */
export function fewestTries(ends: readonly SendEnd[]): number {
  let [tries, refusals] = [0, 0];
  for (const end of ends) {
    if (end === "refused" && refusals < mostAgain) {
      refusals++;
      continue;
    }
    if (end !== "away") tries++;
    refusals = 0;
  }
  return refusals > 0 ? tries + 1 : tries;
}

/** How many rows there are is not known as long as none of them can be rendered. */
function isPieceOfUnreadable(outcome: Outcome, { list, limit }: Call): boolean {
  const shape = outcome.service.knowledge.shapes.get(list?.document ?? "");
  return limit < pageSizeOf(outcome) && list?.chunk === undefined && (shape?.unreadable.chunks.length ?? 0) > 0;
}

/** Times that one process may ask for a page. */
function mostOf(outcome: Outcome, { list, life }: Call): number {
  const { consistency } = outcome.scenario.job;
  const isSwept = consistency !== "counts" || life > 1 || list === undefined;
  if (isMild(outcome.scenario)) return isSwept && needsSweep(outcome, list, life) ? 2 : 1;
  const mayGrow = consistency === "anchored" || isMoving(outcome.scenario); // then it may be read from its end
  const searched = mayGrow && list !== undefined && list.chunk === undefined ? lastPageTries - 1 : 0;
  return attempts * ((isSwept ? 2 : 1) + searched);
}

/** Whether a list that does not move is to be read twice, unless by counts. */
function needsSweep(outcome: Outcome, list: ListName | undefined, life: number): boolean {
  const pageSize = pageSizeOf(outcome);
  if (list === undefined) return placesOf(outcome).length > Math.min(100, outcome.scenario.service.pageCap ?? 100);
  const rows = outcome.service.history.at(list, 0)?.size ?? 0;
  const isLong = rows > pageSize || rows === 100; // a full page may hide a row behind it
  const shape = outcome.service.knowledge.shapes.get(list.document);
  if (list.chunk === undefined) {
    const isAnchored = outcome.scenario.job.consistency === "anchored" && shape?.ties === 0 && life === 1;
    return isLong && !(isAnchored && rows > pageSize);
  }
  const isEmbedded = shape?.embeds === true && shape.form === "hierarchical_model";
  return isLong && !(isEmbedded && rows >= kept);
}

/** The pages that the list had at its longest. */
function pagesOf({ scenario, service }: Outcome, list: ListName, { limit }: Call): number {
  if (scenario.service.paging === "ignored") return 1;
  const size = Math.min(limit, scenario.service.pageCap ?? limit);
  const sizes = [...service.history.between(list, 0, Number.POSITIVE_INFINITY)].map((state) => state?.size ?? 0);
  return Math.max(1, Math.ceil(Math.max(...sizes) / size));
}
