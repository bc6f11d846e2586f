import type { Coverage } from "./coverage.js";
import type { Evidence } from "./evidence.js";
import type { Complain } from "./judge.js";

/** A document that is not complete says why, and there is a reason; one that is complete has nothing to say. */
export function checkReason({ row, outcome, index, first, last }: Evidence, wrong: Complain, coverage: Coverage): void {
  if (row.status === "complete") {
    if (row.error !== null) wrong(`it says ${row.error}`);
    if (row.total !== row.chunk_count) wrong(`it has ${row.chunk_count} chunks, and ${row.total} in total`);
    return;
  }
  if (!row.error) wrong("it does not say why");
  const least = outcome.scenario.job.consistency === "sweeps" ? 4 : 3; // of the first two attempts, the crawl at least
  if (row.status === "unstable" && row.sweeps < least) wrong(`given up after ${row.sweeps} readings`);
  const { faults, documents, job, service } = outcome.scenario;
  const shape = documents[index];
  const { history } = outcome.service;
  const edited = history.isEdited(row.document_id, first, last) || history.isDropped(row.document_id);
  const limited = service.rateLimit !== undefined;
  const hard = faults.inARow > job.retries || faults.heavy > 0 || limited;
  const shuffled = service.ties === "shuffled" && documents.some(({ ties }) => ties > 0);
  if (row.status === "unstable" && !(edited || hard || faults.lies > 0 || shuffled))
    wrong(`for no reason: ${row.error}`);
  if (row.status === "failed" && !(edited || hard || shape?.refused)) wrong(`for no reason: ${row.error}`);
  if (edited) coverage.met(`${row.status} after edits`);
}
