import type { PreparedWrite } from "../../client/write/write-operations.js";
import type { Undone, WriteOutcome } from "../../client/write/write-outcome.js";
import { SkipError, StopError } from "../../errors.js";
import type { Intent, IntentFacts } from "../journal/journal-lines.js";
import type { ApplyOptions } from "./apply-options.js";
import { type Find, type Found, type Looked, lookForWrite } from "./look-for-write.js";

export type { Find, Found };

/** The journal's facts of a write, but for those of its request. Null where they are left out. */
export type WriteFacts = Pick<IntentFacts, "write" | "dataset_id"> &
  Partial<Omit<IntentFacts, "method" | "path" | "sha256">>;

/** Something that has an id at the service; a document has a batch, too. */
interface Named {
  readonly id: string;
  readonly batch?: string;
}

/** The answer to a write: what it made or changed, a list of it, or nothing. */
export type Answered = Named | readonly Named[] | null;

/**
 * The end of a write. `done`: `value` is the answer, null where it was lost and reading showed the write. `refused`: for good, and
 * nothing was done. `not done`: after all tries. `unknown`: the service could not be read, or may still carry it out; the journal keeps
 * the write open, and nothing more may be written there. `reason` is a sentence. `wasLost`: an answer did not come, so that a write
 * which counts as not done may still be done, and one that was sent again may be done twice.
 */
export type Carried<T> = { readonly wasLost: boolean } & (
  | {
      readonly kind: "done";
      readonly value: T | null;
      readonly ids: readonly string[];
      readonly batch: string | null;
    }
  | Extract<Undone, { readonly kind: "refused" }>
  | { readonly kind: "not done"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string }
);

/** Sends of one write at the most, and the wait after the first that surely did nothing, in milliseconds; it doubles. */
const mostTries = 3;
const betweenTries = 1_000;

/**
 * Carries out one write: notes it, sends it, and notes what became of it. One that surely did nothing is sent again; after a lost
 * answer only once `find` has not shown it for all the time that the service may take. An add of chunks is then left to a later
 * command: a lock of the service may hold it back for ten minutes. `tries`: sends at the most. Rejects with
 * StopError where the key is refused or the disk fails, with SkipError for a file that cannot be read, and with the reason of the signal.
 */
export async function carryOut<T extends Answered>(
  options: ApplyOptions,
  facts: WriteFacts,
  prepared: PreparedWrite<T>,
  find: Find,
  tries = mostTries,
): Promise<Carried<T>> {
  const { journal, signal, sleep } = options;
  let wasLost = false;
  for (let count = 1; ; count++) {
    signal.throwIfAborted();
    const intent = await journal.intend(intentFacts(facts, prepared));
    const outcome = await sendNoted(options, intent, prepared);
    wasLost ||= outcome.kind === "unknown";
    if (outcome.kind === "done") {
      const done = foundIn(outcome.value);
      await journal.conclude(intent, "done", done);
      return { kind: "done", value: outcome.value, ...done, wasLost };
    }
    const looked = await lookAfter(options, facts, outcome, wasLost, find);
    if (typeof looked === "object") {
      const { ids, batch = null } = looked;
      await journal.conclude(intent, "done", { ids, batch });
      return { kind: "done", value: null, ids, batch, wasLost };
    }
    if (outcome.kind === "refused") {
      await journal.conclude(intent, "refused");
      refuseKey(outcome);
      return { ...outcome, wasLost };
    }
    if (looked === "unknown") return { kind: "unknown", reason: `${unread}: ${outcome.reason}`, wasLost };
    if (outcome.kind === "unknown" && !outcome.isOver && facts.write === "add chunks")
      return { kind: "unknown", reason: `${outcome.reason}; ${mayCome(intent, options)}`, wasLost };
    await journal.conclude(intent, "not done");
    if (count >= tries) return { kind: "not done", reason: outcome.reason, wasLost };
    if (outcome.kind !== "unknown") await sleep(betweenTries * 2 ** (count - 1), signal);
  }
}

const unread = "the service cannot be read to learn whether it was done";

function mayCome(intent: Intent, options: ApplyOptions): string {
  const until = new Date(latestLanding(intent, options)).toISOString();
  return `the service may still carry it out until ${until}; run the same command again after that`;
}

/** The latest time at which a write may still be carried out, in milliseconds since 1970: `latestLanding` of a restore says why. */
export function latestLanding(
  intent: Intent,
  { journal, settle, lockTime }: Pick<ApplyOptions, "journal" | "settle" | "lockTime">,
): number {
  const sent = journal.sentAt(intent) ?? Date.parse(intent.time);
  return sent + settle + (intent.write === "add chunks" ? lockTime : 0);
}

function intentFacts(facts: WriteFacts, { method, path, sha256 }: PreparedWrite<Answered>): IntentFacts {
  const none = { document_id: null, old_id: null, target_id: null, name: null, first: null, rows: null };
  return { ...none, ...facts, method, path, sha256 };
}

/** A write that rejects did nothing. */
async function sendNoted<T>(
  { journal, tally }: ApplyOptions,
  intent: Intent,
  prepared: PreparedWrite<T>,
): Promise<WriteOutcome<T>> {
  tally.writes++;
  return prepared.send({ onTurn: () => journal.leave(intent) }).catch(async (error: unknown) => {
    await journal.conclude(intent, "not done");
    throw error;
  });
}

function foundIn(value: Answered): Required<Found> {
  if (value === null) return { ids: [], batch: null };
  if ("id" in value) return { ids: [value.id], batch: value.batch ?? null };
  return { ids: value.map(({ id }) => id), batch: null };
}

/** A 403 of an archived document is about that alone. */
function refuseKey({ status, message, reason }: Extract<Undone, { readonly kind: "refused" }>): void {
  const isKey = status === 401 || (status === 403 && !/archived/i.test(message));
  if (isKey) throw new StopError(`${reason}; what was written is in the journal`, { status });
}

/** A write that is refused once an earlier answer was lost may be refused because it is done already. */
async function lookAfter(
  options: ApplyOptions,
  { write, document_id, dataset_id }: WriteFacts,
  outcome: Undone,
  wasLost: boolean,
  find: Find,
): Promise<Looked> {
  const { log, now, settle, signal } = options;
  if (outcome.kind === "refused") return wasLost ? lookForWrite(find, now(), options) : "not done";
  if (outcome.kind !== "unknown") return "not done";
  signal.throwIfAborted(); // the write stays open for the next process
  log("warn", `${outcome.reason}; looking whether it was done: ${write}, ${document_id ?? dataset_id}`);
  return lookForWrite(find, now() + (outcome.isOver ? 0 : settle), options);
}

/** The ids of what a write made. SkipError, which says what was to be done, where it was not. */
export function madeBy<T>(carried: Carried<T>, deed: string): readonly string[] {
  if (carried.kind === "done") return carried.ids;
  if (carried.kind === "refused") throw new SkipError(`the service refused to ${deed}: ${carried.reason}`);
  if (carried.kind === "not done") throw new SkipError(`the service did not ${deed}: ${carried.reason}`);
  throw new SkipError(`nobody knows whether the service did ${deed}: ${carried.reason}; restore again later`);
}
