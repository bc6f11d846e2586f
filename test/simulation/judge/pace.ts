import type { Outcome } from "../outcome.js";
import type { Coverage } from "./coverage.js";
import type { Complain } from "./judge.js";

/** The minimum number of requests of a run to judge: a share of fewer says nothing. */
const enough = 60;
/** The maximum share of requests that a rate limit may refuse, far above the usual share. */
const refusable = 0.35;
/** How many times as long as with all slots always in use an undisturbed run may take. */
const slack = 2.5;

/** Checks that the client adapts to a rate limit instead of exceeding it again and again, and without one uses all slots. */
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
  const elapsed = service.lastArrival; // until the last request, because the disk may take longer
  if (elapsed > slack * shortest) wrong(`it took ${elapsed.toFixed(0)} ms, ${shortest.toFixed(0)} were enough`);
}

/** Whether a run can use all its slots. Sweeps cannot, because they read one child list after another. */
function isFree({ scenario }: Outcome): boolean {
  const { faults, edits, interruptions, service, job, documents } = scenario;
  const isReadable = documents.every(({ unreadable }) => unreadable.chunks.length === 0);
  const calm = faults.rate + faults.lies + faults.heavy === 0 && edits.most === 0 && interruptions.length === 0;
  return (
    calm && isReadable && service.rateLimit === undefined && job.maxRps === undefined && job.consistency === "counts"
  );
}
