import pLimit from "p-limit";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import type { PreparedWrite, WrittenRow } from "../client/write/operations.js";
import type { Undone } from "../client/write/write-outcome.js";
import type { Writer } from "../client/write/writer.js";
import { SkipError, StopError } from "../errors.js";
import type { Journal } from "../journal/journal.js";
import type { Intent, Made, Write, WriteFacts } from "../journal/journal-schema.js";
import type { Log } from "../log.js";
import type { WriteProgress } from "./result.js";
import { isIndexed } from "./target-rows.js";

export interface WriteOptions {
  readonly api: KnowledgeApi;
  readonly writer: Writer;
  readonly journal: Journal;
  /** Ends the work between two requests, which then rejects with the reason. */
  readonly signal: AbortSignal;
  readonly concurrency: number;
  /** How long to look for a write without an answer, which may still take effect, in milliseconds. */
  readonly settle: number;
  /** How long the service may lock a document while it adds chunks, in milliseconds. */
  readonly lockTime: number;
  readonly log: Log;
  readonly onWrite?: () => void;
  /** Updated during the work. */
  readonly progress: WriteProgress;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

export interface PlannedWrite<T> {
  readonly facts: WriteFacts;
  readonly request: PreparedWrite<T>;
  readonly find: Find;
}

/** Checks whether a write was done; undefined if nothing proves it. Throws SkipError if nothing can be read. */
export type Find = () => Promise<Found | undefined>;

/** The proof that a write was done, from reading the service. */
export type Found = Pick<Made, "ids"> & Partial<Made>;

/** An object with an id at the service; a document also has a batch. */
interface Named extends Partial<Omit<WrittenRow, "id">> {
  readonly id: string;
  readonly batch?: string;
}

/** The answer to a write: the object made or changed, a list of them, or nothing. */
export type Answered = Named | readonly Named[] | null;

/**
 * The end of a write. `done`: `value` is the answer, or null if it was lost and reading proved the write. `refused`: permanently, and
 * nothing was done. `not done`: after all tries. `unknown`: the service could not be read, or may still execute it; the journal keeps the
 * write open, and nothing more may be written there. `reason` is a sentence. `wasLost`: an answer was lost, so a write
 * that counts as not done may still take effect, and a write that was sent again may take effect twice.
 */
export type Ended<T> = SendEnd<T> & { readonly wasLost: boolean };
type SendEnd<T> =
  | ({ readonly kind: "done"; readonly value: T | null } & Made)
  | (Extract<Undone, { readonly kind: "refused" }> & { readonly meaning: RefusalMeaning })
  | { readonly kind: "not done" | "unknown"; readonly reason: string };

/** The scope of a refusal: this write for now, this write permanently, its document, or every request with this key. */
type RefusalMeaning = "busy" | "write" | "document" | "key";

/** Maximum sends of a write that does not reach the service, or whose answers get lost; and the wait after the first, which doubles. */
const mostUnsent = 6;
const mostLost = 3;
const betweenTries = 1_000;
/**
 * The service refuses changes of a chunk for 600 s after it was enabled or disabled. The total time to wait for that, and the maximum wait
 * between two tries; the first wait is shorter, and doubles.
 */
const busyTime = 660_000;
const longestBusyWait = 60_000;
const firstBusyWait = (write: Write) => (write === "set status" ? 1_000 : 10_000);

/**
 * Executes one write: decides on it, records it, sends it, and records its outcome. `decide` may read the current rows, and may
 * end the work instead. A write that certainly did nothing is decided and sent again. After a lost answer, that happens only if `find`
 * finds nothing within the time that the service may take. Even then, an add of chunks or of a child, or a new document, is left to a
 * later command, because a lock of the service may delay it for ten minutes. Waits while the service is busy. `tries`: maximum
 * sends after a lost answer. Rejects with StopError if the key is refused or the disk fails, with SkipError for an unreadable file, and
 * with the reason of the signal.
 */
export async function* writeOnce<T extends Answered, Other extends { readonly kind: string } = never>(
  options: WriteOptions,
  decide: () => Promise<PlannedWrite<T> | Other>,
  tries = mostLost,
): Waiting<Ended<T> | Other> {
  const { now, signal } = options;
  let lost: { readonly intent: Intent; readonly find: Find } | undefined;
  let busySince: number | undefined;
  let busyWait = 0;
  for (let count = 1; ; ) {
    signal.throwIfAborted();
    const late = lost && (await look(lost.find)); // it may have taken effect after all
    if (lost && late?.kind === "found") return { ...(await concludeFound(options, lost.intent, late)), wasLost: true };
    const planned = await decide();
    if (!("request" in planned)) return planned;
    const { intent, isLost, ...ended } = await sendOnce(options, planned, lost !== undefined);
    if (isLost) lost = { intent, find: planned.find };
    const wasLost = lost !== undefined;
    if (ended.kind === "refused" && ended.meaning === "busy") {
      if (busySince === undefined && noDaemon.test(ended.message))
        options.log("warn", `${ended.reason}; waiting for it`);
      busySince ??= now();
      if (now() - busySince >= busyTime) return { ...ended, wasLost };
      busyWait = Math.min(longestBusyWait, busyWait * 2 || firstBusyWait(intent.write));
      yield now() + busyWait;
    } else if (ended.kind === "not done" && count < (wasLost ? tries : mostUnsent)) {
      await rest(betweenTries * 2 ** (count - 1), options);
      count++;
    } else return { ...ended, wasLost };
  }
}

/** Executes one write, and waits while the service is busy. */
export async function writeNow<T extends Answered>(
  options: WriteOptions,
  planned: PlannedWrite<T>,
  tries?: number,
): Promise<Ended<T>> {
  const write = writeOnce<T, never>(options, async () => planned, tries);
  for (let next = await write.next(); ; next = await write.next()) {
    if (next.done) return next.value;
    await rest(next.value - options.now(), options);
  }
}

export async function concludeFound(
  { journal }: Pick<WriteOptions, "journal">,
  intent: Intent,
  { found }: Extract<Looked, { readonly kind: "found" }>,
) {
  const made = { batch: null, isIndexed: null, ...found };
  await journal.conclude(intent, "done", made);
  return { kind: "done", value: null, ...made } as const;
}

async function sendOnce<T extends Answered>(
  options: WriteOptions,
  { facts, request, find }: PlannedWrite<T>,
  wasLost: boolean,
): Promise<SendEnd<T> & { readonly intent: Intent; readonly isLost: boolean }> {
  const { journal, log, now, settle, signal } = options;
  const intent = await journal.intend(facts, request);
  options.onWrite?.();
  const outcome = await request.send({ beforeSend: () => journal.leave(intent) }).catch(async (error: unknown) => {
    await journal.conclude(intent, "not done"); // a write that rejects did nothing
    throw error;
  });
  const isLost = outcome.kind === "unknown";
  const sent = { intent, isLost };
  if (outcome.kind === "done") return { ...(await concludeDone(journal, intent, outcome.value)), ...sent };
  if (isLost) {
    signal.throwIfAborted(); // the write stays open for the next process
    log("warn", `${outcome.reason}; looking for the write in ${placeName(intent)}`);
  }
  // A write that is refused after an earlier answer was lost may be refused because it is already done.
  const isLooked = isLost || (outcome.kind === "refused" && wasLost);
  const until = now() + (isLost && !outcome.isOver ? settle : 0);
  const looked: Looked = isLooked ? await lookForWrite(find, until, options) : { kind: "not done" };
  if (looked.kind === "found") return { ...(await concludeFound(options, intent, looked)), ...sent };
  if (outcome.kind === "refused") {
    await journal.conclude(intent, "refused");
    const meaning = meaningOf(intent.write, outcome);
    if (meaning === "key")
      throw new StopError(`${outcome.reason}; what was written is in the journal`, { status: outcome.status });
    return { ...outcome, meaning, ...sent };
  }
  if (looked.kind === "unread") {
    const reason = `the service cannot be read to learn whether it was done: ${outcome.reason}`;
    return { kind: "unknown", reason, ...sent };
  }
  if (isLost && !outcome.isOver && mayMakeTwo(intent))
    return { kind: "unknown", reason: `${outcome.reason}; ${mayCome(intent, options)}`, ...sent };
  await journal.conclude(intent, "not done");
  return { kind: "not done", reason: outcome.reason, ...sent };
}

async function concludeDone<T extends Answered>(journal: Journal, intent: Intent, value: T): Promise<SendEnd<T>> {
  if (intent.write === "disable chunk" && value !== null && "enabled" in value && value.enabled) {
    await journal.conclude(intent, "refused");
    const reason = "the service accepted the request, but left the chunk enabled";
    return { kind: "refused", status: 200, message: "", reason, meaning: "write" };
  }
  const made = madeIn(intent.write, value);
  await journal.conclude(intent, "done", made);
  return { kind: "done", value, ...made };
}

function madeIn(write: Write, value: Answered): Made {
  const none = { batch: null, isIndexed: null };
  if (value === null) return { ids: [], ...none };
  if (!("id" in value)) return { ids: value.map(({ id }) => id), ...none };
  const { id, batch = null, status = null, enabled = true } = value;
  const isChunk = write.endsWith("chunk") || write.endsWith("chunks");
  return { ids: [id], batch, isIndexed: isChunk ? write === "disable chunk" || isIndexed({ status, enabled }) : null };
}

/** Whether only a later command may send a write again after a lost answer, because the service may still execute the first one. */
export function mayMakeTwo({ write }: Pick<Intent, "write">): boolean {
  return write === "add chunks" || write === "add child" || write === "create document";
}

/** Why nothing more is added: only a later command can find the outcome of an add without an answer. */
export function mayCome(intent: Intent, options: Pick<WriteOptions, "journal" | "settle" | "lockTime">): string {
  const until = new Date(latestLanding(intent, options)).toISOString();
  const place = intent.parent_id === null ? "this document" : `chunk ${intent.parent_id}`;
  const what = intent.write === "create document" ? "it" : `an earlier add to ${place}`;
  return `${what} may still complete until ${until}; run the same command again after that`;
}

/**
 * The latest time at which a write may still be executed, in milliseconds since 1970. An add of a chunk first waits for the lock of its
 * document, which lasts 600 s after a server was killed (multi_add_segment_lock_document_id_… in Dify's `SegmentService`).
 */
export function latestLanding(
  intent: Intent,
  { journal, settle, lockTime }: Pick<WriteOptions, "journal" | "settle" | "lockTime">,
): number {
  const sent = journal.sentAt(intent) ?? Date.parse(intent.time);
  return sent + settle + (mayMakeTwo(intent) ? lockTime : 0);
}

/** The service needs its plugin daemon for chunks with embeddings; the daemon is briefly unavailable during a restart. */
const noDaemon = /^failed to request plugin daemon/i;

/** Matches the service's own words: it has no codes for these refusals. A 403 for an archived document concerns only that document. */
function meaningOf(
  write: Write,
  { status, message }: { readonly status: number; readonly message: string },
): RefusalMeaning {
  if (status === 401 || (status === 403 && !/archived/i.test(message))) return "key";
  const busy = write === "set status" ? /being indexed|try again later/i : /^segment is indexing/i;
  if (busy.test(message) || noDaemon.test(message)) return "busy";
  return /^(document|dataset|knowledge base)\b/i.test(message) ? "document" : "write";
}

/** The ids of the rows that a write made. If it was not done, throws SkipError that names the `deed`. */
export function madeBy(ended: Ended<unknown>, deed: string): readonly string[] {
  if (ended.kind === "done") return ended.ids;
  if (ended.kind === "refused") throw new SkipError(`the service refused to ${deed}: ${ended.reason}`);
  if (ended.kind === "not done") throw new SkipError(`the service did not ${deed}: ${ended.reason}`);
  throw new SkipError(`it is not known whether the service did ${deed}: ${ended.reason}; restore again later`);
}

/** The wait between two looks for a lost write: the first, which doubles, and the maximum. A total wait above `longWait` is reported. */
const [firstLook, longestLook] = [200, 10_000];
const longWait = 60_000;

export type Looked =
  | { readonly kind: "found"; readonly found: Found }
  | { readonly kind: "not done" }
  /** The service could not be read when the time was up. */
  | { readonly kind: "unread"; readonly reason: string };

/** Looks for a write until `until`. Continues while the service cannot be read. `onWait`: called once before a long wait. */
export async function lookForWrite(
  find: Find,
  until: number,
  options: RestOptions,
  onWait = () => {},
): Promise<Looked> {
  let isReported = false;
  for (let wait = firstLook; ; wait = Math.min(longestLook, wait * 2)) {
    const left = until - options.now(); // before the look, so that the last look comes after the full time
    const looked = await look(find);
    if (looked.kind === "found" || left <= 0) return looked;
    if (!isReported && left > longWait) onWait();
    isReported = true;
    await rest(Math.min(wait, left), options);
  }
}

async function look(find: Find): Promise<Looked> {
  try {
    const found = await find();
    return found ? { kind: "found", found } : { kind: "not done" };
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    return error.status === 404 ? { kind: "not done" } : { kind: "unread", reason: error.message };
  }
}

/** The dataset or document of a write, for messages. */
export function placeName({ dataset_id, document_id }: Intent): string {
  return document_id === null ? `dataset ${dataset_id}` : `document ${document_id}`;
}

/** Works on several documents at once, and returns the results in order. The first error stops the others, and becomes the rejection. */
export async function sideBySide<T, Result>(
  documents: readonly T[],
  { concurrency, signal }: Pick<WriteOptions, "concurrency" | "signal">,
  work: (document: T, signal: AbortSignal) => Promise<Result>,
): Promise<readonly Result[]> {
  const stop = new AbortController();
  const ending = AbortSignal.any([signal, stop.signal]);
  const limit = pLimit(concurrency);
  const results = documents.map((document) =>
    limit(async () => {
      ending.throwIfAborted();
      return work(document, ending).catch((error: unknown) => {
        stop.abort(error); // before the next document begins
        throw error;
      });
    }),
  );
  await Promise.allSettled(results);
  ending.throwIfAborted();
  return Promise.all(results);
}

/** A task that yields when it must wait: the time at which to resume it. */
export type Waiting<T> = AsyncGenerator<number, T, void>;

type RestOptions = Pick<WriteOptions, "signal" | "now" | "sleep">;

async function rest(milliseconds: number, { sleep, signal }: RestOptions): Promise<void> {
  await sleep(milliseconds, signal).catch(() => {});
  signal.throwIfAborted();
}

/** Runs tasks alternately, never two at once, so that their waits overlap. `onWaiting`: called with the number of waiting tasks. */
export async function interleave<T>(
  tasks: readonly Waiting<T>[],
  { onWaiting = () => {}, ...options }: RestOptions & { readonly onWaiting?: (count: number) => void },
): Promise<readonly T[]> {
  const results: T[] = [];
  const waiting = new Map<number, number>();
  const resume = async (index: number, task: Waiting<T> | undefined) => {
    const next = await task?.next();
    waiting.delete(index);
    if (next?.done) results[index] = next.value;
    else if (next) waiting.set(index, next.value);
    onWaiting(waiting.size);
  };
  for (const [index, task] of tasks.entries()) await resume(index, task);
  while (waiting.size > 0) {
    const [[index, at] = [0, 0]] = [...waiting].sort(([, one], [, other]) => one - other);
    const left = at - options.now();
    if (left > 0) await rest(left, options);
    await resume(index, tasks[index]);
  }
  return results;
}
