import type { Call, SendEnd } from "../calls.js";
import { type Outcome, placesOf } from "../outcome.js";
import { isMild, isMoving } from "../scenario-facts.js";
import type { ListName } from "../service/list-name.js";
import { isDocumentList } from "./discovered.js";
import { pageSizeOf } from "./evidence.js";
import { grouped } from "./grouped.js";
import type { Complain } from "./judge.js";

/** How often a list may be read before it must count as unstable. */
const attempts = 3;
/** Maximum requests to find the last page of a list in one attempt. */
const lastPageTries = 10;
/** Maximum repeats of a request in one try, if it is refused without Retry-After. */
const mostAgain = 3;
/** If a chunk embeds at least this many children, the client keeps them as proof, and its child list needs no second reading. */
const kept = 20;

/**
 * Checks the number of requests. No page takes more tries than `retries` allows (see `fewestTries`). The client requests no page
 * beyond `total`. A process requests a page again only for a second sweep, or because the document changed. A second sweep covers
 * lists that took more than one answer and were not completely embedded in chunks, except chunks that the process read from the end.
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
    const again = call && isDocumentList(call.target) ? 1 : 0; // the list is read again at the end, to find changed documents
    const most = call ? mostOf(outcome, call) + again : 0;
    if (same.length > most) wrong(`${target} was asked for ${same.length} times`);
  }
}

/**
 * The minimum number of tries for these requests, by the rules in docs/requests.md. A request refused without Retry-After, with a 429
 * or by the plan limit, is sent again up to three times within one try. A request that fails in an outage costs no try.
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

/** Whether a call is for part of a page of unreadable rows. The total is unknown until a row can be rendered. */
function isPieceOfUnreadable(outcome: Outcome, { list, limit }: Call): boolean {
  const shape = outcome.service.knowledge.shapes.get(list?.document ?? "");
  return limit < pageSizeOf(outcome) && list?.chunk === undefined && (shape?.unreadable.chunks.length ?? 0) > 0;
}

/** The maximum number of times that one process may request a page. */
function mostOf(outcome: Outcome, { list, life }: Call): number {
  const { consistency } = outcome.scenario.job;
  const isSwept = consistency !== "counts" || life > 1 || list === undefined;
  if (isMild(outcome.scenario)) return isSwept && needsSweep(outcome, list, life) ? 2 : 1;
  const mayGrow = consistency === "anchored" || isMoving(outcome.scenario); // if so, it may be read from its end
  const searched = mayGrow && list !== undefined && list.chunk === undefined ? lastPageTries - 1 : 0;
  return attempts * ((isSwept ? 2 : 1) + searched);
}

/** Whether a job that does not use counts must read a list twice if it does not change. */
function needsSweep(outcome: Outcome, list: ListName | undefined, life: number): boolean {
  const pageSize = pageSizeOf(outcome);
  if (list === undefined) return placesOf(outcome).length > Math.min(100, outcome.scenario.service.pageCap ?? 100);
  const rows = outcome.service.history.at(list, 0)?.size ?? 0;
  const isLong = rows > pageSize || rows === 100; // a list that fills one page takes another request, because more rows may follow
  const shape = outcome.service.knowledge.shapes.get(list.document);
  if (list.chunk === undefined) {
    const isAnchored = outcome.scenario.job.consistency === "anchored" && shape?.ties === 0 && life === 1;
    return isLong && !(isAnchored && rows > pageSize);
  }
  const isEmbedded = shape?.embeds === true && shape.form === "hierarchical_model";
  return isLong && !(isEmbedded && rows >= kept);
}

/** The number of pages of a list when it was longest. */
function pagesOf({ scenario, service }: Outcome, list: ListName, { limit }: Call): number {
  if (scenario.service.paging === "ignored") return 1;
  const size = Math.min(limit, scenario.service.pageCap ?? limit);
  const sizes = [...service.history.between(list, 0, Number.POSITIVE_INFINITY)].map((state) => state?.size ?? 0);
  return Math.max(1, Math.ceil(Math.max(...sizes) / size));
}
