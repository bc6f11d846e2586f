import type { Listed } from "../client/check-answer.js";
import type { KnowledgeApi, Place } from "../client/knowledge-api.js";
import type { PreparedWrite } from "../client/write/operations.js";
import { Prefetch } from "../crawl/prefetch.js";
import { type ReadPage, readList } from "../crawl/read-list.js";
import { isMapping } from "../schema.js";
import type { Journal } from "./journal.js";
import type { WriteFacts } from "./journal-lines.js";
import {
  childHash,
  ifThere,
  isIndexed,
  keywordsHash,
  readChildren,
  readHashes,
  type StandingChild,
  standingChunk,
  textsHash,
} from "./standing-rows.js";
import type { Found, PlannedWrite } from "./write-once.js";

interface FindOptions {
  readonly api: KnowledgeApi;
  readonly journal: Pick<Journal, "madeDocuments">;
}

/** Plans a write that is found by its facts. `place`: the ids at the service of its dataset and document. */
export function plannedWrite<T>(
  facts: WriteFacts,
  request: PreparedWrite<T>,
  place: Place,
  options: FindOptions,
): PlannedWrite<T> {
  return { facts, request, find: () => findWrite(facts, place, options) };
}

/**
 * Looks for a write by its facts, which say what it leaves at the service; undefined if nothing proves it. Throws SkipError if the service
 * cannot be read.
 */
export async function findWrite(
  facts: WriteFacts,
  place: Place,
  { api, journal }: FindOptions,
): Promise<Found | undefined> {
  const { datasetId, documentId } = place;
  const { write, name, target_id } = facts;
  const id = target_id ?? "";
  switch (write) {
    case "create dataset": // names are unique, and a new dataset is empty
      return findListed(
        (page) => api.datasets(page),
        (row) => row.name === name && Number(row.document_count ?? 0) === 0,
      );
    case "create document": // only one is made at a time
      return findListed(
        (page) => api.documents(datasetId, page),
        (row) => row.name === name && !journal.madeDocuments.has(row.id),
      );
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
    default: // the facts do not say what these leave
      return undefined;
  }
}

async function findAddedChunk(
  { texts_sha256, equal = [] }: WriteFacts,
  place: Place,
  api: KnowledgeApi,
): Promise<Found | undefined> {
  const chunks = await readHashes(api, place);
  const added = chunks.findLast(({ id, hash }) => hash === texts_sha256 && !equal.includes(id));
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
export async function readFields(api: KnowledgeApi, datasetId: string): Promise<StandingFields> {
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
