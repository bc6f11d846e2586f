import type { Outcome } from "../outcome.js";
import type { Coverage } from "./coverage.js";
import type { Complain } from "./judge.js";

/** Requests from which on a share of them says something. */
const enough = 60;
/** The share of requests that a limit may refuse at the most; far above what is usual. */
const refusable = 0.35;
/** How many times as long as with every slot in use all the time a run may take that nothing disturbs. */
const slack = 2.5;

/** The limit of a service is found, not run against again and again; and without one, the slots that there are get used. */
export function checkPace(outcome: Outcome, wrong: Complain, coverage: Coverage): void {
  const { scenario, service, calls } = outcome;
  if (service.arrivals < enough) return;
  if (scenario.service.rateLimit) {
    coverage.met("limited");
    const share = service.refusals / service.arrivals;
    if (share > refusable) wrong(`${service.refusals} of ${service.arrivals} requests were refused`);
  }
  if (!isFree(outcome)) return;
  coverage.met("at full speed");
  const [low, high] = scenario.service.latency;
  const shortest = (calls.all.length * (low + high + 1)) / scenario.job.concurrency;
  const elapsed = service.lastArrival; // the disk may still be slow then
  if (elapsed > slack * shortest) wrong(`it took ${elapsed.toFixed(0)} ms, ${shortest.toFixed(0)} were enough`);
}

/** Whether nothing keeps a run from using all its slots. Sweeps read one child list after the other. */
function isFree({ scenario }: Outcome): boolean {
  const { faults, edits, interruptions, service, job, documents } = scenario;
  const isReadable = documents.every(({ unreadable }) => unreadable.chunks.length === 0);
  const calm = faults.rate + faults.lies + faults.heavy === 0 && edits.most === 0 && interruptions.length === 0;
  return (
    calm && isReadable && service.rateLimit === undefined && job.maxRps === undefined && job.consistency === "counts"
  );
}
