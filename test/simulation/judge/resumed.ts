import { type Outcome, placesOf } from "../outcome.js";
import { isMild } from "../scenario-facts.js";
import { chunkId } from "../service/ids.js";
import type { Coverage } from "./coverage.js";
import { pageSizeOf } from "./evidence.js";
import type { Complain } from "./judge.js";

/**
 * Checks that a process resumes where the previous one stopped, and does not request finished documents again. If nothing changes
 * and retries overcome all faults, it also does not request the stored pages and child lists of a begun document again. Lists of
 * more than one answer are an exception: a sweep requests their pages once more.
 */
export function checkResumed(outcome: Outcome, wrong: Complain, coverage: Coverage): void {
  for (const [index] of placesOf(outcome).entries()) {
    for (const [before] of outcome.left.entries()) checkProcess(outcome, before, index, wrong, coverage);
  }
}

/** Checks the requests of the next process for a document. */
function checkProcess(outcome: Outcome, before: number, index: number, wrong: Complain, coverage: Coverage): void {
  const { scenario, calls, left, service } = outcome;
  const stored = left[before];
  const { name = "", id = "" } = placesOf(outcome)[index] ?? {};
  const asked = calls.ofDocument(id).filter(({ life }) => life === before + 2);
  if (stored?.finished.has(name)) {
    coverage.met("finished before");
    if (asked.length > 0) wrong(`document ${index + 1}: finished, and ${asked.length} pages were asked for again`);
  }
  const begun = stored?.begun.get(name);
  if (!begun || stored?.finished.has(name) || !isMild(scenario)) return;
  coverage.met("begun before");
  const pageSize = pageSizeOf(outcome);
  const rows = (chunk?: string) => service.history.at({ document: id, chunk }, 0)?.size ?? 0;
  const isOnce = rows() <= pageSize && rows() < 100;
  for (let page = 1; page <= begun.chunkPages; page++) {
    const times = asked.filter(({ list, page: at }) => list?.chunk === undefined && at === page).length;
    if (times > (isOnce ? 0 : 1)) wrong(`document ${index + 1}: stored page ${page} was asked for again`);
  }
  const number = Number(id.slice(-6));
  const lists = new Set(asked.map(({ list }) => list?.chunk));
  for (let chunk = 1; chunk <= begun.childLists && (service.knowledge.shapes.get(id)?.ties ?? 0) === 0; chunk++) {
    const list = chunkId(number, chunk);
    if (rows(list) <= pageSize && rows(list) < 100 && lists.has(list))
      wrong(`document ${index + 1}: a stored child list was asked for again`);
  }
}
