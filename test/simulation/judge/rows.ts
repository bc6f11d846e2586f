import type { Coverage } from "./coverage.js";
import type { Evidence, StoredList } from "./evidence.js";
import type { Complain } from "./judge.js";

/**
 * Checks every document, complete or not: the counts match the files, ids are unique, each child has its parent, and each row really
 * existed with this content when the service sent it.
 */
export function checkRows(evidence: Evidence, wrong: Complain, coverage: Coverage): void {
  const { row, lines, chunks, children, orphans } = evidence;
  coverage.met(row.status);
  if (row.chunk_count !== lines.chunks) wrong(`${row.chunk_count} chunks are counted, ${lines.chunks} stored`);
  if (row.child_chunk_count !== lines.child_chunks) {
    wrong(`${row.child_chunk_count} child chunks are counted, ${lines.child_chunks} stored`);
  }
  if (orphans > 0) wrong(`${orphans} child chunks have no parent`);
  if (row.status === "failed" && row.chunk_count + row.child_chunk_count > 0) wrong("it has rows");
  for (const list of [chunks, ...children]) {
    if (new Set(list.rows.map(({ id }) => id)).size < list.rows.length)
      wrong(`an id is there twice in ${nameOf(list)}`);
    checkReal(evidence, list, wrong);
  }
}

function checkReal({ outcome }: Evidence, list: StoredList, wrong: Complain): void {
  for (const { id, fingerprint, moment = 0 } of list.rows) {
    const then = outcome.service.history.at(list.name, moment);
    if (then?.get(id) !== fingerprint) wrong(`${id} was not in ${nameOf(list)} as it is stored, at moment ${moment}`);
  }
}

/** The name of a list in messages. */
export function nameOf({ name }: Pick<StoredList, "name">): string {
  return name.chunk === undefined ? "the chunks" : `the children of ${name.chunk}`;
}
