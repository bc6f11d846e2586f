import type { KnowledgeApi } from "../../client/knowledge-api.js";
import { readChunkPages } from "../../crawl/read-pages.js";
import { SkipError } from "../../errors.js";
import type { RawRecord } from "../../rows/row.js";
import type { Intent } from "./journal-lines.js";
import { type Place, readAll, readChildren } from "./read-standing.js";
import { childHash, keywordsHash, type StandingChild, standingChunk, textsHash } from "./row-texts.js";

/** A row that a write made or changed. */
export interface FoundRow {
  readonly id: string;
  readonly isIndexed: boolean;
}

/** Looks for the row that shows that a write was done; undefined where there is none. SkipError where the document cannot be read. */
export async function findWrite(api: KnowledgeApi, intent: Intent): Promise<FoundRow | undefined> {
  const place = { datasetId: intent.dataset_id, documentId: intent.document_id };
  try {
    if (intent.level === "child_chunk") return await findChild(api, place, intent);
    return intent.action === "add" ? await findAdded(api, place, intent) : await findChanged(api, place, intent);
  } catch (error) {
    if (error instanceof SkipError && error.status === 404) return undefined;
    throw error;
  }
}

/** Ids of the chunks of a document, by the hash of their texts. */
export async function readEqualTexts(api: KnowledgeApi, place: Place): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (const record of await readAll(() => readChunkPages(api, place), namedHash)) {
    ids.set(record.hash, [...(ids.get(record.hash) ?? []), record.id]);
  }
  return ids;
}

async function findAdded(api: KnowledgeApi, place: Place, { texts_sha256, equal }: Intent) {
  const chunks = await readAll(() => readChunkPages(api, place), foundChunk);
  return chunks.findLast(({ id, hash }) => hash === texts_sha256 && !equal.includes(id));
}

async function findChanged(api: KnowledgeApi, place: Place, intent: Intent): Promise<FoundRow | undefined> {
  const chunk = standingChunk(await api.chunk(place, intent.target_id ?? ""));
  if (intent.action === "disable") return chunk.enabled ? undefined : { id: chunk.id, isIndexed: true };
  const { texts_sha256, keywords_sha256 } = intent;
  const hasKeywords = keywords_sha256 === null || keywordsHash(chunk.keywords) === keywords_sha256;
  const isDone = textsHash(chunk) === texts_sha256 && hasKeywords;
  return isDone ? { id: chunk.id, isIndexed: isIndexed(chunk) } : undefined;
}

async function findChild(api: KnowledgeApi, place: Place, intent: Intent): Promise<FoundRow | undefined> {
  const children = await readChildren(api, place, intent.parent_id ?? "");
  const isRow = ({ id }: StandingChild) =>
    intent.action === "add" ? !intent.equal.includes(id) : id === intent.target_id;
  const child = children.findLast((each) => isRow(each) && childHash(each.content) === intent.texts_sha256);
  return child && { id: child.id, isIndexed: true };
}

/** Whether the service could index a chunk: else it is disabled, and has the status error. */
export function isIndexed({ status, enabled }: { readonly status: string | null; readonly enabled: boolean }): boolean {
  return status !== "error" && enabled;
}

function namedHash(record: RawRecord): { readonly id: string; readonly hash: string } {
  const chunk = standingChunk(record);
  return { id: chunk.id, hash: textsHash(chunk) };
}

function foundChunk(record: RawRecord): FoundRow & { readonly hash: string } {
  const chunk = standingChunk(record);
  return { id: chunk.id, hash: textsHash(chunk), isIndexed: isIndexed(chunk) };
}
