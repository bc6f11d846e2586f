import type { DocumentShape, Scenario } from "./scenario.js";

/** Whether the data can change. If so, every row carries the moment of its answer. */
export function isMoving({ edits }: Scenario): boolean {
  return edits.most > 0;
}

/** Whether a state may come back: a deleted row reappears with the same id. */
export function comesBack({ edits }: Scenario): boolean {
  return edits.kinds.includes("undo");
}

/** Whether rows are only added at the end, like in the real service. */
export function onlyAppends({ edits }: Scenario): boolean {
  return !edits.kinds.some((kind) => kind === "insert" || kind === "trade" || kind === "undo");
}

/** Whether rows never trade places. */
export function keepsOrder({ edits }: Scenario): boolean {
  return !edits.kinds.some((kind) => kind === "trade" || kind === "undo");
}

/** Whether every document must be complete: all trouble is temporary, and shorter than the retries. */
export function isMild({ job, faults, service, documents, edits }: Scenario): boolean {
  const passes = faults.inARow <= job.retries && faults.lies === 0 && faults.heavy === 0;
  const isTied = ({ ties, childTies }: DocumentShape) => ties > 0 || childTies;
  const still = edits.most === 0 && (service.ties !== "shuffled" || !documents.some(isTied));
  const readable = documents.every(({ refused, unreadable }) => !refused && unreadable.chunks.length === 0);
  return passes && still && readable && faults.revokedAt === undefined && service.rateLimit === undefined;
}
