import type { Listed } from "../../../client/check-answer.js";
import type { KnowledgeApi } from "../../../client/knowledge-api.js";
import type { PreparedWrite } from "../../../client/write/operations.js";
import type { Undone, WriteOutcome } from "../../../client/write/write-outcome.js";
import { Prefetch } from "../../../crawl/prefetch.js";
import { type ReadPage, readList } from "../../../crawl/read-list.js";
import { SkipError, StopError } from "../../../errors.js";
import { isMapping } from "../../../schema.js";
import { countOf } from "../../../words.js";
import { waitingFor } from "../../apply/reconcile.js";
import { readStandingChunks } from "../../apply/row-texts.js";
import { type LookOptions, lookFor } from "../../apply/write-row.js";
import type { CopyJournal } from "../journal.js";
import type { Intent, IntentFacts } from "../journal-lines.js";
import type { ApplyOptions } from "./apply-options.js";

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
export type ExecutedWrite<T> = { readonly wasLost: boolean } & (
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
 * Executes one write: notes it, sends it, and notes what became of it. One that surely did nothing is sent again; after a lost
 * answer only once `find` has not shown it for all the time that the service may take. An add of chunks is then left to a later
 * command: a lock of the service may hold it back for ten minutes. `tries`: sends at the most. Rejects with
 * StopError where the key is refused or the disk fails, with SkipError for a file that cannot be read, and with the reason of the signal.
 */
export async function executeWrite<T extends Answered>(
  options: ApplyOptions,
  facts: WriteFacts,
  prepared: PreparedWrite<T>,
  find: Find,
  tries = mostTries,
): Promise<ExecutedWrite<T>> {
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

/** The latest time at which a write may still be executed, in milliseconds since 1970: `latestLanding` of a restore says why. */
function latestLanding(
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
  { journal, progress }: ApplyOptions,
  intent: Intent,
  prepared: PreparedWrite<T>,
): Promise<WriteOutcome<T>> {
  progress.writes++;
  return prepared.send({ beforeSend: () => journal.leave(intent) }).catch(async (error: unknown) => {
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
export function madeBy<T>(executed: ExecutedWrite<T>, deed: string): readonly string[] {
  if (executed.kind === "done") return executed.ids;
  if (executed.kind === "refused") throw new SkipError(`the service refused to ${deed}: ${executed.reason}`);
  if (executed.kind === "not done") throw new SkipError(`the service did not ${deed}: ${executed.reason}`);
  throw new SkipError(`it is not known whether the service did ${deed}: ${executed.reason}; restore again later`);
}

/** The signs that a write was done, as reading shows them: ids at the service of what it made, in order. */
interface Found {
  readonly ids: readonly string[];
  /** The batch of a document; null where it is not known. */
  readonly batch?: string | null;
}

/** Looks whether a write was done; undefined where nothing shows it. SkipError where nothing can be read. */
type Find = () => Promise<Found | undefined>;

/** `unknown`: the service could not be read when time was up. */
type Looked = Found | "not done" | "unknown";

/** Looks for a write until `until`, in milliseconds since 1970. While the service cannot be read, it goes on looking. */
async function lookForWrite(find: Find, until: number, options: LookOptions): Promise<Looked> {
  let isUnread = false;
  const findIfReadable = async () => {
    try {
      isUnread = false;
      return await find();
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      isUnread = error.status !== 404;
      return undefined;
    }
  };
  const found = await lookFor(findIfReadable, until, options);
  return found ?? (isUnread ? "unknown" : "not done");
}

type FindOptions = { readonly api: KnowledgeApi; readonly journal: CopyJournal };

/** Finds the dataset of this name that a lost answer is about: names stand for one dataset each, and a new one is empty. */
export async function findDataset({ api }: FindOptions, name: string): Promise<Found | undefined> {
  return findListed(
    (page) => api.datasets(page),
    (row) => row.name === name && Number(row.document_count ?? 0) === 0,
  );
}

/** Finds a document that a lost answer is about. One of this name that the journal does not know is ours, as documents are made one at a time. */
export async function findDocument(
  { api, journal }: FindOptions,
  datasetId: string,
  name: string,
): Promise<Found | undefined> {
  return findListed(
    (page) => api.documents(datasetId, page),
    (row) => row.name === name && !journal.madeDocuments.has(row.id),
  );
}

export interface StandingField {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

interface StandingFields {
  readonly fields: readonly StandingField[];
  readonly hasBuiltIn: boolean;
}

/** The metadata fields of a dataset, and whether it shows the built-in ones. */
export async function readFields({ api }: Pick<FindOptions, "api">, datasetId: string): Promise<StandingFields> {
  const { doc_metadata, built_in_field_enabled } = await api.datasetMetadata(datasetId);
  const fields = Array.isArray(doc_metadata) ? doc_metadata.filter(isField) : [];
  return { fields, hasBuiltIn: built_in_field_enabled === true };
}

/** Finds a metadata field by its name. */
export async function findField(options: FindOptions, datasetId: string, name: string): Promise<Found | undefined> {
  const { fields } = await readFields(options, datasetId);
  return madeIn(fields.find((field) => field.name === name));
}

/** Finds a tag by its name. */
export async function findTag({ api }: Pick<FindOptions, "api">, name: string): Promise<Found | undefined> {
  return madeIn((await api.tags()).find((tag) => tag.name === name));
}

function isField(value: unknown): value is StandingField {
  return isMapping(value) && [value.id, value.name, value.type].every((each) => typeof each === "string");
}

async function findListed(readPage: ReadPage, isIt: (row: Listed) => boolean): Promise<Found | undefined> {
  for await (const { rows } of readList(readPage, new Prefetch(1))) {
    const found = rows.find(isIt);
    if (found) return madeIn(found);
  }
  return undefined;
}

function madeIn(row: { readonly id: string } | undefined): Found | undefined {
  return row && { ids: [row.id] };
}

/** The writer is not needed: only reading tells what was done. */
type ReconcileOptions = Pick<
  ApplyOptions,
  "api" | "journal" | "log" | "now" | "settle" | "lockTime" | "signal" | "sleep"
>;

/**
 * Learns what became of the writes of an earlier process whose answers were lost. Those of rows and of states count as not done once their
 * time is over: the rows of a document are read before it is continued. A write stays open where the service cannot be read. A plan must come later: it goes by what was made.
 */
export async function reconcileWrites(options: ReconcileOptions): Promise<void> {
  const { journal, log, now } = options;
  const { open } = journal;
  if (open.length > 0) log("info", `an earlier restore did not end: looking for ${countOf(open.length, "write")}`);
  for (const intent of open) {
    const isSent = journal.sentAt(intent) !== undefined;
    const until = Math.min(latestLanding(intent, options), now() + options.settle + options.lockTime);
    const onWait = (end: number) => log("info", waitingFor(intent, end));
    const looked = isSent ? await lookForWrite(finderOf(intent, options), until, { ...options, onWait }) : "not done";
    if (looked === "unknown") log("warn", `cannot learn what became of a write: ${intent.method} ${intent.path}`);
    else if (looked === "not done") await journal.conclude(intent, "not done");
    else await journal.conclude(intent, "done", looked);
  }
}

function finderOf(intent: Intent, options: ReconcileOptions): Find {
  const { write, dataset_id, name } = intent;
  const datasetId = options.journal.facts.datasets.get(dataset_id)?.id;
  if (write === "create dataset") return () => findDataset(options, name ?? "");
  if (write === "create tag") return () => findTag(options, name ?? "");
  if (datasetId !== undefined && write === "create document") return () => findDocument(options, datasetId, name ?? "");
  if (datasetId !== undefined && write === "create field") return () => findField(options, datasetId, name ?? "");
  if (write === "add chunks") return () => findAdded(intent, options);
  return async () => undefined;
}

/** Finds the chunks of an add: the copy has exactly that many chunks that the journal does not list. The service stores a request as a whole. */
async function findAdded(
  { document_id, rows }: Intent,
  { api, journal }: ReconcileOptions,
): Promise<Found | undefined> {
  const copy = document_id === null ? undefined : journal.facts.documents.get(document_id);
  if (document_id === null || !copy) return undefined;
  const place = { datasetId: copy.target_dataset_id, documentId: copy.target_id };
  const known = new Set(journal.additions(document_id).flatMap(({ ids }) => ids ?? []));
  const fresh = (await readStandingChunks(api, place)).filter(({ id }) => !known.has(id));
  return fresh.length === rows ? { ids: fresh.map(({ id }) => id) } : undefined;
}
