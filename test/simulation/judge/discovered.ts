import { type Outcome, placesOf } from "../outcome.js";
import type { Coverage } from "./coverage.js";
import type { Complain } from "./judge.js";

/** Whether a request asks for a page of a dataset's documents. */
export const isDocumentList = (target: string): boolean => /^\/datasets\/[^/]+\/documents\?/.test(target);

/**
 * Checks the documents of a dataset if the job wants all of them. A list reported as complete must equal the real list at some moment
 * of the read, so no document that existed all the time is lost. Document ids never come back.
 */
export function checkDiscovered(outcome: Outcome, wrong: Complain, coverage: Coverage): void {
  const { scenario, through, calls, service } = outcome;
  const found = through?.reading.discovery.found;
  if (scenario.job.documents === "named" || !through) return;
  const begun = Math.min(...calls.all.filter(({ list }) => list !== undefined).map(({ from }) => from));
  const asked = calls.all.filter(({ target, from }) => isDocumentList(target) && from < begun); // later requests for the list look for changed documents
  const life = Math.max(...asked.map((call) => call.life));
  const reading = asked.filter((call) => call.life === life);
  const first = Math.min(...reading.map(({ from }) => from));
  const last = Math.max(...reading.map(({ from, answered = from }) => answered));
  const listed = placesOf(outcome).map(({ id }) => id);
  if (new Set(listed).size < listed.length) wrong("a document is listed twice");
  const states = service.history.documentsBetween(first, last);
  const state = found?.listings[0]?.state;
  coverage.met(`documents ${state}${states.length > 1 ? " while they moved" : ""}`);
  const strange = listed.filter((id) => !states.some((ids) => ids.has(id)));
  if (strange.length > 0) wrong(`${strange.length} documents are listed that were not there`);
  if (state !== "listed") {
    if (found?.failures.length === 0) wrong(`the list of documents is ${state}, and nothing is said of it`);
    return;
  }
  const lost = [...(states[0] ?? [])].filter((id) => states.every((ids) => ids.has(id)) && !listed.includes(id));
  if (lost.length > 0) wrong(`${lost.length} documents were there all the time, and are not listed`);
  const isOfOneMoment = states.some((ids) => ids.size === listed.length && listed.every((id) => ids.has(id)));
  if (!isOfOneMoment) wrong("there was no moment with the documents that are listed");
}
