import type { Listed } from "../client/check-answer.js";
import type { KnowledgeApi, Place } from "../client/knowledge-api.js";
import { Prefetch } from "../crawl/prefetch.js";
import { type ReadPage, readList } from "../crawl/read-list.js";
import { isMapping } from "../schema.js";
import { countOf } from "../words.js";
import { levelOf } from "./journal-facts.js";
import type { Intent } from "./journal-lines.js";
import {
  childHash,
  isIndexed,
  keywordsHash,
  readChildren,
  readHashes,
  type StandingChild,
  standingChunk,
  textsHash,
} from "./standing-rows.js";
import {
  concludeFound,
  type Find,
  type Found,
  type Looked,
  latestLanding,
  lookForWrite,
  placeName,
  type WriteOptions,
} from "./write-once.js";

/** No writer, because only reading shows the outcomes. */
export type ReconcileOptions = Omit<WriteOptions, "writer" | "concurrency" | "onWrite">;

/**
 * Finds the outcome of an earlier process's writes without an answer. If the service cannot be read, a write
 * stays open, and its document is not written. Writes to the rows and the state of a copy count as not done after their time
 * limit, because the rows of a document are read before it is continued. Plan only after this, because a plan depends on the outcomes.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { journal, log, now, settle, lockTime } = options;
  const { open } = journal;
  if (open.length > 0) log("info", `an earlier restore did not end: looking for ${countOf(open.length, "write")}`);
  for (const intent of open) {
    const until = Math.min(latestLanding(intent, options), now() + settle + lockTime); // a clock may have been wrong
    const onWait = () => log("info", waitingFor(intent, until));
    const isSent = journal.sentAt(intent) !== undefined;
    const looked: Looked = isSent
      ? await lookForWrite(finderOf(intent, options), until, options, onWait)
      : { kind: "not done" };
    if (looked.kind === "found") await concludeFound(options, intent, looked.found);
    else if (looked.kind === "not done") await journal.conclude(intent, "not done");
    else log("warn", `${placeName(intent)}: cannot determine the outcome of a write: ${looked.reason}`);
  }
}

function waitingFor(intent: Intent, until: number): string {
  const time = new Date(until).toISOString();
  return `${placeName(intent)}: waiting until ${time} for an earlier write that the service has not answered and may still execute`;
}

type FindOptions = Pick<WriteOptions, "api" | "journal">;

function finderOf(intent: Intent, options: FindOptions): Find {
  const { api, journal } = options;
  const { write, dataset_id, document_id, name } = intent;
  if (journal.undo !== null) return () => findRow(api, placeOf(intent), intent);
  const datasetId = journal.facts.datasets.get(dataset_id)?.id;
  const copy = journal.facts.documents.get(document_id ?? "");
  const place = copy && { datasetId: copy.target_dataset_id, documentId: copy.target_id };
  if (write === "create dataset") return () => findDataset(options, name ?? "");
  if (write === "create tag") return () => findTag(options, name ?? "");
  if (datasetId !== undefined && write === "create document") return () => findDocument(options, datasetId, name ?? "");
  if (datasetId !== undefined && write === "create field") return () => findField(options, datasetId, name ?? "");
  if (place && write === "add chunks") return () => findAddition(intent, place, options);
  if (place && write === "add child") return () => findRow(api, place, intent);
  return async () => undefined;
}

/** The ids at the service of the document of a row write. */
export function placeOf({ dataset_id, document_id }: Pick<Intent, "dataset_id" | "document_id">): Place {
  return { datasetId: dataset_id, documentId: document_id ?? "" };
}

/** Finds the added chunks: the copy has exactly that many chunks outside the journal. The service stores a request as a whole. */
async function findAddition(
  { document_id, rows }: Intent,
  place: Place,
  { api, journal }: FindOptions,
): Promise<Found | undefined> {
  const known = new Set(journal.additions(document_id ?? "").flatMap(({ ids }) => ids ?? []));
  const fresh = (await readHashes(api, place)).filter(({ id }) => !known.has(id));
  return fresh.length === rows ? { ids: fresh.map(({ id }) => id) } : undefined;
}

/** The facts of a row write that show whether it was done. */
export type WriteToRow = Pick<Intent, "write" | "target_id" | "parent_id" | "texts_sha256" | "equal"> &
  Partial<Pick<Intent, "keywords_sha256">>;

/** Looks for the row that proves a write; undefined if there is none. Throws SkipError if the document cannot be read. */
export async function findRow(api: KnowledgeApi, place: Place, write: WriteToRow): Promise<Found | undefined> {
  if (levelOf(write) === "child_chunk") return findChild(api, place, write);
  return write.write === "add chunks" ? findAdded(api, place, write) : findChanged(api, place, write);
}

async function findAdded(
  api: KnowledgeApi,
  place: Place,
  { texts_sha256, equal }: WriteToRow,
): Promise<Found | undefined> {
  const chunks = await readHashes(api, place);
  const added = chunks.findLast(({ id, hash }) => hash === texts_sha256 && !equal.includes(id));
  return added && { ids: [added.id], isIndexed: isIndexed(added) };
}

async function findChanged(api: KnowledgeApi, place: Place, write: WriteToRow): Promise<Found | undefined> {
  const chunk = standingChunk(await api.chunk(place, write.target_id ?? ""));
  if (write.write === "disable chunk") return chunk.enabled ? undefined : { ids: [chunk.id], isIndexed: true };
  const { texts_sha256, keywords_sha256 = null } = write;
  const hasKeywords = keywords_sha256 === null || keywordsHash(chunk.keywords) === keywords_sha256;
  const isDone = textsHash(chunk) === texts_sha256 && hasKeywords;
  return isDone ? { ids: [chunk.id], isIndexed: isIndexed(chunk) } : undefined;
}

async function findChild(api: KnowledgeApi, place: Place, write: WriteToRow): Promise<Found | undefined> {
  const children = await readChildren(api, place, write.parent_id ?? "");
  const isRow = ({ id }: StandingChild) =>
    write.write === "add child" ? !write.equal.includes(id) : id === write.target_id;
  const child = children.findLast((each) => isRow(each) && childHash(each.content) === write.texts_sha256);
  return child && { ids: [child.id] };
}

/** Finds the dataset made by a request without an answer: names are unique, and a new dataset is empty. */
export async function findDataset({ api }: FindOptions, name: string): Promise<Found | undefined> {
  return findListed(
    (page) => api.datasets(page),
    (row) => row.name === name && Number(row.document_count ?? 0) === 0,
  );
}

/** Finds the document made by a request without an answer: the one with this name outside the journal. Only one is made at a time. */
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

/** Finds a metadata field by name. */
export async function findField(options: FindOptions, datasetId: string, name: string): Promise<Found | undefined> {
  const { fields } = await readFields(options, datasetId);
  return madeIn(fields.find((field) => field.name === name));
}

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
