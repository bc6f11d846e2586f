import type { Call } from "../calls.js";
import type { ListName } from "../list-name.js";
import type { Outcome } from "../outcome.js";
import { isMild } from "../scenario.js";
import { grouped } from "./grouped.js";
import type { Complain } from "./judge.js";

/** Times that a document is read. */
const attempts = 3;

/**
 * Every page is tried as often as `retries` allows, no page is asked for that `total` does not call for, and none is asked
 * for again by one process but for a second sweep or because the document moved.
 */
export function checkCost(outcome: Outcome, wrong: Complain): void {
  const { scenario, calls } = outcome;
  const sweeps = scenario.job.consistency === "sweeps" ? 2 : 1;
  const most = isMild(scenario) ? sweeps : sweeps * attempts;
  for (const call of calls.all) {
    if (call.tries > scenario.job.retries + 1) wrong(`${call.target} was tried ${call.tries} times`);
    const isOdd = call.list !== undefined && call.page > pagesOf(outcome, call.list, call);
    if (isOdd && scenario.faults.lies === 0) wrong(`${call.target}: there is no such page`);
  }
  for (const [target, same] of grouped(calls.all, ({ life, target }) => `process ${life}: ${target}`)) {
    if (same.length > most) wrong(`${target} was asked for ${same.length} times`);
  }
}

/** The pages that the list had at its longest. */
function pagesOf({ scenario, service }: Outcome, list: ListName, { limit }: Call): number {
  if (scenario.service.paging === "ignored") return 1;
  const size = Math.min(limit, scenario.service.pageCap ?? limit);
  const sizes = [...service.history.between(list, 0, Number.POSITIVE_INFINITY)].map((state) => state?.size ?? 0);
  return Math.max(1, Math.ceil(Math.max(...sizes) / size));
}
