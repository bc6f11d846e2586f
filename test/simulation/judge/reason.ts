import type { Coverage } from "./coverage.js";
import type { Evidence } from "./evidence.js";
import type { Complain } from "./judge.js";

/** Checks that an incomplete document reports a reason that is true, and that a complete one reports none. */
export function checkReason(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, outcome, shape, first, end } = evidence;
  if (row.status === "complete") {
    if (row.error !== null) wrong(`it says ${row.error}`);
    if (row.total !== row.chunk_count) wrong(`it has ${row.chunk_count} chunks, and ${row.total} in total`);
    return;
  }
  if (!row.error) wrong("it does not say why");
  const { faults, job, service, edits } = outcome.scenario;
  const isUnreadable = shape.unreadable.chunks.length > 0;
  // The least number of readings before giving up: three, but one if rows are unreadable, because reading them again does not help
  // and an incomplete list is not swept.
  const least = isUnreadable ? 1 : 3;
  if (row.status === "unstable" && row.sweeps < least) wrong(`given up after ${row.sweeps} readings`);
  const { history } = outcome.service;
  const edited = history.isEdited(row.document_id, first, end) || history.isDropped(row.document_id);
  const limited = service.rateLimit !== undefined;
  const hard = isUnreadable || faults.inARow > job.retries || faults.heavy > 0 || limited;
  const makesTies = ["insert", "append at once", "late append"];
  const isTied = shape.ties > 0 || shape.childTies || edits.kinds.some((kind) => makesTies.includes(kind));
  const shuffled = service.ties === "shuffled" && isTied;
  if (row.status === "unstable" && !(edited || hard || faults.lies > 0 || shuffled))
    wrong(`for no reason: ${row.error}`);
  if (row.status === "failed" && !(edited || hard || shape.refused)) wrong(`for no reason: ${row.error}`);
  if (edited) coverage.met(`${row.status} after edits`);
}
