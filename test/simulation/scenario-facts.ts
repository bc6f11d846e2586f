import type { DocumentShape, Scenario } from "./scenario.js";

/** Whether anything of the data can change: then every row says when it was answered. */
export function isMoving({ edits }: Scenario): boolean {
  return edits.most > 0;
}

/** Whether a state may come back: a row that is gone appears again with the same id. */
export function comesBack({ edits }: Scenario): boolean {
  return edits.kinds.includes("undo");
}

/** Whether rows come in behind all others only, as the service adds them. */
export function onlyAppends({ edits }: Scenario): boolean {
  return !edits.kinds.some((kind) => kind === "insert" || kind === "trade" || kind === "undo");
}

/** Whether no two rows ever trade places. */
export function keepsOrder({ edits }: Scenario): boolean {
  return !edits.kinds.some((kind) => kind === "trade" || kind === "undo");
}

/** Whether the document must come out whole, whatever happens on the way: only what passes, less often than it is tried. */
export function isMild({ job, faults, service, documents, edits }: Scenario): boolean {
  const passes = faults.inARow <= job.retries && faults.lies === 0 && faults.heavy === 0;
  const isTied = ({ ties, childTies }: DocumentShape) => ties > 0 || childTies;
  const still = edits.most === 0 && (service.ties !== "shuffled" || !documents.some(isTied));
  const readable = documents.every(({ refused, unreadable }) => !refused && unreadable.chunks.length === 0);
  return passes && still && readable && faults.revokedAt === undefined && service.rateLimit === undefined;
}
