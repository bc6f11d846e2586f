import type { Listed } from "../client/check-answer.js";
import type { KnowledgeApi, Place } from "../client/knowledge-api.js";
import type { PreparedWrite } from "../client/write/operations.js";
import { childHash, keywordsHash, textsHash } from "../compare/document-rows.js";
import { Prefetch } from "../crawl/prefetch.js";
import { type ReadPage, readList } from "../crawl/read-list.js";
import type { Journal } from "../journal/journal.js";
import type { Intent, WriteFacts } from "../journal/journal-schema.js";
import { isMapping } from "../schema.js";
import { countOf } from "../words.js";
import { ifThere, isIndexed, readChildren, readHashes, type StandingChild, standingChunk } from "./target-rows.js";
import {
  concludeFound,
  type Found,
  type Looked,
  latestLanding,
  lookForWrite,
  type PlannedWrite,
  placeName,
  type WriteOptions,
} from "./write-once.js";

/** No writer, because only reading shows the outcomes. */
type ReconcileOptions = Omit<WriteOptions, "writer" | "concurrency" | "onWrite" | "progress">;

/**
 * Finds the outcome of an earlier process's writes without an answer. If the service cannot be read, a write stays open, and its
 * document is not written. Writes to the rows and the state of a copy count as not done after their time limit if the service does
 * not show them: the rows of a document are read before it is continued. Plan only after this, because a plan depends on the
 * outcomes.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { journal, log, now, settle, lockTime } = options;
  const { open } = journal;
  if (open.length > 0) log("info", `an earlier restore did not end: looking for ${countOf(open.length, "write")}`);
  for (const intent of open) {
    const until = Math.min(latestLanding(intent, options), now() + settle + lockTime); // a clock may have been wrong
    const onWait = () => log("info", `${placeName(intent)}: ${waitingText(until)}`);
    const isSent = journal.sentAt(intent) !== undefined;
    const looked: Looked = isSent
      ? await lookForWrite(() => findEarlier(intent, options), until, options, onWait)
      : { kind: "not done" };
    if (looked.kind === "found") await concludeFound(options, intent, looked);
    else if (looked.kind === "not done") await journal.conclude(intent, "not done");
    else log("warn", `${placeName(intent)}: cannot determine the outcome of a write: ${looked.reason}`);
  }
}

function waitingText(until: number): string {
  return `waiting until ${new Date(until).toISOString()} for an earlier write that the service has not answered and may still execute`;
}

/** Looks for a write of an earlier process, at the place that its journal names. */
async function findEarlier(intent: Intent, options: ReconcileOptions): Promise<Found | undefined> {
  const place = placeOf(intent, options.journal);
  const find = intent.write === "add chunks" && intent.rows !== null ? findAddition : findWrite;
  return place && find(intent, place, options);
}

/** The dataset and document in the service that a write went to; undefined if the journal has no copy of them. */
function placeOf({ write, dataset_id, document_id }: Intent, { facts, undo }: Journal): Place | undefined {
  if (undo !== null) return { datasetId: dataset_id, documentId: document_id ?? "" };
  const copy = facts.documents.get(document_id ?? "");
  if (copy) return { datasetId: copy.target_dataset_id, documentId: copy.target_id };
  const dataset = facts.datasets.get(dataset_id);
  if (write === "create dataset") return { datasetId: "", documentId: "" };
  const isOfDataset = document_id === null || write === "create document";
  return dataset && isOfDataset ? { datasetId: dataset.id, documentId: "" } : undefined;
}

/**
 * Finds the chunks that a request of a copy added. The service stores a request as a whole, so they are found if the copy has exactly
 * as many chunks that the journal does not know.
 */
async function findAddition(
  { document_id, rows }: Intent,
  place: Place,
  { api, journal }: ReconcileOptions,
): Promise<Found | undefined> {
  const known = new Set(journal.additions(document_id ?? "").flatMap(({ ids }) => ids ?? []));
  const fresh = (await readHashes(api, place)).filter(({ id }) => !known.has(id));
  return fresh.length === rows ? { ids: fresh.map(({ id }) => id) } : undefined;
}

interface FindOptions {
  readonly api: KnowledgeApi;
  readonly journal: Pick<Journal, "madeDocuments">;
}

/** Plans a write whose effect can be recognized from its facts. `place`: the ids at the service of its dataset and document. */
export function plannedWrite<T>(
  facts: WriteFacts,
  request: PreparedWrite<T>,
  place: Place,
  options: FindOptions,
): PlannedWrite<T> {
  return { facts, request, find: () => findWrite(facts, place, options) };
}

/** Looks at the service for the effect of a write; undefined if nothing proves it. Throws SkipError if the service cannot be read. */
async function findWrite(facts: WriteFacts, place: Place, { api, journal }: FindOptions): Promise<Found | undefined> {
  const { datasetId, documentId } = place;
  const { write, name, target_id } = facts;
  const id = target_id ?? "";
  switch (write) {
    case "create dataset": // names are unique, and a new dataset is empty
      return findListed(
        (page) => api.datasets(page),
        (row) => row.name === name && Number(row.document_count ?? 0) === 0,
      );
    case "create document": {
      const made = journal.madeDocuments; // only one is made at a time
      return findListed(
        (page) => api.documents(datasetId, page),
        (row) => row.name === name && !made.has(row.id),
      );
    }
    case "create field":
      return foundIn((await readFields(api, datasetId)).fields.find((field) => field.name === name));
    case "create tag":
      return foundIn((await api.tags()).find((tag) => tag.name === name));
    case "set built-in fields":
      return foundIf((await readFields(api, datasetId)).hasBuiltIn, []);
    case "delete document":
      return foundIf((await ifThere(() => api.document(datasetId, documentId))) === undefined, []);
    case "set status":
      return foundIf(hasState(await api.document(datasetId, documentId), name), []);
    case "delete chunk":
      return foundIf((await ifThere(() => api.chunk(place, id))) === undefined, [id]);
    case "add chunks":
      return findAddedChunk(facts, place, api);
    case "update chunk":
    case "disable chunk":
    case "touch chunk":
    case "repair chunk":
      return findChangedChunk(facts, place, api);
    case "add child":
    case "update child":
      return findChild(facts, place, api);
    case "delete child":
      return foundIf(!(await readChildren(api, place, facts.parent_id ?? "")).some((child) => child.id === id), [id]);
    default: // the facts do not show the effect of these
      return undefined;
  }
}

async function findAddedChunk(facts: WriteFacts, place: Place, api: KnowledgeApi): Promise<Found | undefined> {
  const { texts_sha256, equal = [] } = facts;
  const added = (await readHashes(api, place)).findLast(({ id, hash }) => hash === texts_sha256 && !equal.includes(id));
  return added && { ids: [added.id], isIndexed: isIndexed(added) };
}

async function findChangedChunk(facts: WriteFacts, place: Place, api: KnowledgeApi): Promise<Found | undefined> {
  const { write, target_id, texts_sha256, keywords_sha256 = null } = facts;
  const chunk = standingChunk(await api.chunk(place, target_id ?? ""));
  if (write === "disable chunk") return chunk.enabled ? undefined : { ids: [chunk.id], isIndexed: true };
  const hasKeywords = keywords_sha256 === null || keywordsHash(chunk.keywords) === keywords_sha256;
  const isDone = textsHash(chunk) === texts_sha256 && hasKeywords;
  return isDone ? { ids: [chunk.id], isIndexed: isIndexed(chunk) } : undefined;
}

/** A child that is written counts as customized, even with its own text. */
async function findChild(facts: WriteFacts, place: Place, api: KnowledgeApi): Promise<Found | undefined> {
  const { write, target_id, parent_id, texts_sha256, equal = [] } = facts;
  const children = await readChildren(api, place, parent_id ?? "");
  const isRow = ({ id, type }: StandingChild) =>
    write === "add child" ? !equal.includes(id) : id === target_id && type === "customized";
  return foundIn(children.findLast((child) => isRow(child) && childHash(child.content) === texts_sha256));
}

function hasState(document: Listed, action: string | null | undefined): boolean {
  const { enabled, archived } = stateOf(document);
  const done = new Map([
    ["enable", enabled],
    ["disable", !enabled],
    ["archive", archived],
    ["un_archive", !archived],
  ]);
  return done.get(action ?? "") === true;
}

/** The state of a document, from the service's answer. */
export function stateOf({ enabled, archived }: Listed) {
  return { enabled: enabled !== false, archived: archived === true };
}

export type StandingField = Readonly<Record<"id" | "name" | "type", string>>;

/** The metadata fields of a dataset, and whether it shows the built-in ones. */
export async function readFields(api: KnowledgeApi, datasetId: string) {
  const { doc_metadata, built_in_field_enabled } = await api.datasetMetadata(datasetId);
  const fields = Array.isArray(doc_metadata) ? doc_metadata.filter(isField) : [];
  return { fields, hasBuiltIn: built_in_field_enabled === true };
}

function isField(value: unknown): value is StandingField {
  return isMapping(value) && [value.id, value.name, value.type].every((each) => typeof each === "string");
}

async function findListed(readPage: ReadPage, isIt: (row: Listed) => boolean): Promise<Found | undefined> {
  for await (const { rows } of readList(readPage, new Prefetch(1))) {
    const found = rows.find(isIt);
    if (found) return foundIn(found);
  }
  return undefined;
}

function foundIn(row: { readonly id: string } | undefined): Found | undefined {
  return row && { ids: [row.id] };
}

function foundIf(isDone: boolean, ids: readonly string[]): Found | undefined {
  return isDone ? { ids } : undefined;
}
