import type { PreparedWrite } from "../../client/write/operations.js";
import type { Undone, WriteOutcome, WrittenRow } from "../../client/write/write-outcome.js";
import { SkipError, StopError } from "../../errors.js";
import {
  type ApplyOptions,
  type DocumentWork,
  type FoundRow,
  findWrite,
  isIndexed,
  type Landed,
  type Landing,
} from "./document-work.js";
import { type Intent, type IntentFacts, isChunkAdd, type Journal } from "./journal.js";

/** A write, and what the journal shall know of it. */
export interface ReadyWrite {
  readonly write: PreparedWrite<WrittenRow>;
  readonly facts: Omit<IntentFacts, "dataset_id" | "document_id" | "method" | "path" | "sha256">;
}

/** Reads the row right before it is written: gives the write, or why there is none. */
export type Prepare = () => Promise<ReadyWrite | Exclude<Landed, { readonly kind: "done" }>>;

/** `again`: it was not done, and may be sent once more. */
type Sent = Landed | { readonly kind: "again"; readonly intent: Intent; readonly reason: string };

/** Writes of one row at the most, and the wait between two. */
const mostTries = 3;
const betweenTries = 1_000;
/** The service takes no change of a chunk for 600 s after it was enabled or disabled. Waits for that, in milliseconds. */
const busyTime = 660_000;
const [firstBusyWait, longestBusyWait] = [10_000, 60_000];

/**
 * Writes one row: reads, decides, notes the write and sends it; again if it was surely not done. An add of a chunk whose answer never
 * came is not sent again: the service may carry it out after ten minutes. Rejects with StopError where
 * the key is refused, and with the reason of the signal.
 */
export async function* writeRow(work: DocumentWork, prepare: Prepare): Landing {
  const { now, sleep, signal } = work.options;
  let lost: Intent | undefined;
  let busySince: number | undefined;
  let busyWait = firstBusyWait;
  for (let tries = 1; ; ) {
    signal.throwIfAborted();
    const sent = await tryOnce(work, prepare, lost);
    if (sent.kind === "again") {
      if (tries++ === mostTries) return { kind: "failed", id: null, reason: sent.reason };
      lost = sent.intent;
      await sleep(betweenTries, signal);
      continue;
    }
    if (sent.kind !== "busy") return sent;
    busySince ??= now();
    if (now() - busySince >= busyTime) return sent;
    yield now() + busyWait;
    busyWait = Math.min(longestBusyWait, busyWait * 2);
  }
}

async function tryOnce(work: DocumentWork, prepare: Prepare, lost: Intent | undefined): Promise<Sent> {
  if (work.refused !== null) return { kind: "failed", id: null, reason: work.refused };
  try {
    return (lost && (await foundLate(work, lost))) ?? (await sendReady(work, await prepare()));
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    if (error.status !== 404) return { kind: "failed", id: null, reason: error.message };
    return { kind: "changed", id: null, reason: `the service does not find it any more: ${error.message}` };
  }
}

/** A write that was taken for not done, and shows up after all. */
async function foundLate({ options: { api, journal } }: DocumentWork, lost: Intent): Promise<Landed | undefined> {
  const found = await findWrite(api, lost);
  if (!found) return undefined;
  await journal.conclude(lost, "done", found);
  return { kind: "done", ...found, error: "" };
}

async function sendReady(work: DocumentWork, ready: Awaited<ReturnType<Prepare>>): Promise<Sent> {
  if (!("write" in ready)) return ready;
  if (isChunkAdd(ready.facts) && work.unanswered !== null) return { kind: "failed", id: null, reason: work.unanswered };
  const { journal } = work.options;
  const { datasetId: dataset_id, documentId: document_id } = work.place;
  const { method, path, sha256, send } = ready.write;
  const intent = await journal.intend({ dataset_id, document_id, ...ready.facts, method, path, sha256 });
  const outcome = await send({ beforeSend: () => journal.leave(intent) }).catch(async (error: unknown) => {
    await journal.conclude(intent, "not done");
    throw error;
  });
  return conclude(work, intent, outcome);
}

async function conclude(work: DocumentWork, intent: Intent, outcome: WriteOutcome<WrittenRow>): Promise<Sent> {
  const { api, journal, log, now, signal } = work.options;
  if (outcome.kind === "done") return concludeDone(work, intent, outcome.value);
  if (outcome.kind === "refused") {
    await journal.conclude(intent, "refused");
    return concludeRefused(work, outcome);
  }
  let found: FoundRow | undefined;
  if (outcome.kind === "unknown") {
    signal.throwIfAborted(); // the intent stays open for the next restore
    log("warn", `${outcome.reason}; looking for the write in document ${intent.document_id}`);
    const settle = outcome.isOver ? 0 : work.options.settle * 1_000;
    found = await lookFor(() => findWrite(api, intent), now() + settle, work.options);
    if (!found && !outcome.isOver && isChunkAdd(intent)) return leaveOpen(work, intent, outcome.reason);
  }
  await journal.conclude(intent, found ? "done" : "not done", found);
  return found ? { kind: "done", ...found, error: "" } : { kind: "again", intent, reason: outcome.reason };
}

/** The journal keeps an add whose answer never came: only a later restore can know what became of it. */
function leaveOpen(work: DocumentWork, intent: Intent, reason: string): Landed {
  const until = new Date(latestLanding(intent, work.options)).toISOString();
  work.unanswered = `an earlier add to this document may still complete until ${until}; run the same command again after that`;
  return { kind: "failed", id: null, reason: `${reason}; ${work.unanswered}` };
}

async function concludeDone({ options: { journal } }: DocumentWork, intent: Intent, row: WrittenRow): Promise<Sent> {
  if (intent.action === "disable" && row.enabled) {
    await journal.conclude(intent, "refused");
    return { kind: "failed", id: row.id, reason: "the service took the request and left the chunk enabled" };
  }
  const done = {
    id: row.id,
    isIndexed: intent.level === "child_chunk" || intent.action === "disable" || isIndexed(row),
  };
  await journal.conclude(intent, "done", done);
  return { kind: "done", ...done, error: row.error };
}

function concludeRefused(work: DocumentWork, refused: Extract<Undone, { readonly kind: "refused" }>): Landed {
  const { reason } = refused;
  const meaning = meaningOf(refused);
  if (meaning === "key")
    throw new StopError(`${reason}; what was written is in the journal`, { status: refused.status });
  if (meaning === "document") work.refused = `the service takes no writes to this document: ${reason}`;
  return { kind: meaning === "busy" ? "busy" : "failed", id: null, reason };
}

interface LandingOptions extends Required<Pick<ApplyOptions, "settle" | "lockTime">> {
  readonly journal: Pick<Journal, "sentAt">;
}

/**
 * The latest time at which a write may still be executed, in milliseconds since 1970. An add of a chunk first waits for the lock of its
 * document, which a server that was killed keeps for 600 s (multi_add_segment_lock_document_id_… in Dify's `SegmentService`).
 */
export function latestLanding(intent: Intent, { journal, settle, lockTime }: LandingOptions): number {
  const sent = journal.sentAt(intent) ?? Date.parse(intent.time);
  return sent + 1_000 * (settle + (isChunkAdd(intent) ? lockTime : 0));
}

/** The reach of a refusal: this row for now, this row for good, its document, or every request with this key. */
type RefusalMeaning = "busy" | "row" | "document" | "key";

/** Reads the service's own words: it has no code for these. */
export function meaningOf({ status, message }: { readonly status: number; readonly message: string }): RefusalMeaning {
  if (status === 401 || status === 403) return "key";
  if (/^segment is indexing/i.test(message)) return "busy";
  return /^(document|dataset|knowledge base)\b/i.test(message) ? "document" : "row";
}

/** The wait between two looks for a lost answer, in milliseconds: the first, which doubles, and the longest. */
const [firstLook, longestLook] = [200, 10_000];

export interface LookOptions {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects with the reason of the signal. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called once before a wait of over a minute, with its end. */
  readonly onWait?: (until: number) => void;
}

/** Longer waits are reported. Milliseconds. */
const longWait = 60_000;

/** Looks for what a write did until it shows up, or `until` has passed, in milliseconds since 1970; undefined: it was not done. */
export async function lookFor<T>(
  find: () => Promise<T | undefined>,
  until: number,
  { signal, now, sleep, onWait }: LookOptions,
): Promise<T | undefined> {
  let isReported = false;
  for (let wait = firstLook; ; wait = Math.min(longestLook, wait * 2)) {
    const left = until - now(); // before the look: the last one comes after all the time
    const found = await find();
    if (found !== undefined || left <= 0) return found;
    if (!isReported && left > longWait) onWait?.(until);
    isReported = true;
    await sleep(Math.min(wait, left), signal);
  }
}
