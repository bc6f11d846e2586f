import { documentName } from "../../../src/run/discovery.js";
import { documentId } from "../document-id.js";
import type { Outcome } from "../outcome.js";
import { isMild } from "../scenario.js";
import type { Coverage } from "./coverage.js";
import type { Complain } from "./judge.js";

/**
 * A process goes on where the one before stopped: documents that were finished are not asked for again, and where all
 * trouble passes, neither are the pages and child lists that the journal says are stored, but for a second sweep.
 */
export function checkResumed(outcome: Outcome, wrong: Complain, coverage: Coverage): void {
  for (const [index] of outcome.scenario.documents.entries()) {
    for (const [before] of outcome.left.entries()) checkProcess(outcome, before, index, wrong, coverage);
  }
}

/** What the process after this one asks of a document. */
function checkProcess(outcome: Outcome, before: number, index: number, wrong: Complain, coverage: Coverage): void {
  const { scenario, calls, left } = outcome;
  const stored = left[before];
  const name = documentName(index);
  const asked = calls.ofDocument(documentId(index)).filter(({ life }) => life === before + 2);
  if (stored?.finished.has(name)) {
    coverage.met("finished before");
    if (asked.length > 0) wrong(`document ${index + 1}: finished, and ${asked.length} pages were asked for again`);
  }
  const begun = stored?.begun.get(name);
  if (!begun || stored?.finished.has(name) || !isMild(scenario) || scenario.job.consistency === "sweeps") return;
  coverage.met("begun before");
  const again = asked.filter(({ list, page }) => list?.chunk === undefined && page <= begun.chunkPages);
  if (again.length > 0) wrong(`document ${index + 1}: ${again.length} stored pages were asked for again`);
  const shape = scenario.documents[index]?.chunks ?? 0;
  const lists = new Set(asked.flatMap(({ list }) => (list?.chunk === undefined ? [] : [list.chunk])));
  if (lists.size > shape - begun.childLists) wrong(`document ${index + 1}: stored child lists were asked for again`);
}
