import { isMoving } from "../scenario-facts.js";
import type { Coverage } from "./coverage.js";
import type { Evidence } from "./evidence.js";
import type { Complain } from "./judge.js";

/** Checks that a document with unreadable rows is not complete, but has all other rows if nothing else went wrong. */
export function checkUnreadable(
  { row, outcome, chunks, first, last }: Evidence,
  wrong: Complain,
  coverage: Coverage,
): void {
  const { knowledge, history } = outcome.service;
  const states = [...history.between(chunks.name, first, last)];
  const [now] = states;
  const bad = [...(now?.keys() ?? [])].filter(
    (id) => knowledge.unreadable.has(id) && states.every((state) => state?.has(id)),
  );
  if (bad.length === 0) return;
  coverage.met(`unreadable rows: ${row.status}`);
  if (row.status === "complete") wrong(`${bad.length} of its rows cannot be read`);
  const { faults, service } = outcome.scenario;
  const calm = faults.rate + faults.lies + faults.heavy === 0 && !service.rateLimit && faults.revokedAt === undefined;
  if (!calm || isMoving(outcome.scenario) || service.ties === "shuffled" || row.status !== "unstable") return;
  if (chunks.rows.length !== (now?.size ?? 0) - bad.length) wrong("rows are left out that can be read");
}
