import type { ChunkWithChildren } from "../../compare/document-rows.js";
import { SkipError } from "../../errors.js";
import type { Addition } from "../journal-facts.js";
import type { RowDifference } from "../result.js";
import { type HashedChunk, readHashes, textsHash } from "../standing-rows.js";
import { addChunks, removeChunk } from "./add-chunks.js";
import { astray, type ChunkCopy, DocumentCopy, type DocumentWork, largestSize } from "./document-copy.js";
import { Finish } from "./finish-chunks.js";

/** The outcome of copying one document's rows. */
interface CopiedRows {
  /** Rows that were not copied although the plan announced no loss. */
  readonly failed: readonly RowDifference[];
  /** Why the document was given up before all of its rows were tried, as a sentence; null if it was not. */
  readonly reason: string | null;
}

/**
 * Copies the chunks and child chunks of one document of the dump to its copy, in order, and continues where an earlier process stopped. The
 * copy must be completed, enabled, not archived, and without stub chunks. Rejects with StopError if the key is refused or the
 * disk fails, and with the reason of the signal.
 */
export async function copyRows(work: DocumentWork): Promise<CopiedRows> {
  const copy = new DocumentCopy(work);
  try {
    const finish = new Finish(copy);
    const next = await resume(copy, finish);
    for await (const added of addChunks(copy, next)) await finish.finish(added);
    await finish.end();
    if (work.options.journal.mayShowUp("add chunks", work.plan.document_id).length > 0) await readCopies(copy);
    return { failed: copy.failed, reason: null };
  } catch (error) {
    if (error instanceof SkipError) return { failed: copy.failed, reason: error.message };
    throw error;
  }
}

/** The service can add chunks only after the last one. */
const noPosition = "it failed earlier, or was deleted, and the service adds chunks only at the end";

/**
 * Completes the chunks that an earlier process added to a document; a new one has none. Returns the number of the first chunk to
 * add. Throws SkipError if the document has a chunk that this copy did not make.
 */
async function resume(copy: DocumentCopy, finish: Finish): Promise<number> {
  const copies = await readCopies(copy);
  for (const chunk of copies) if (chunk) copy.ids.add(chunk.id);
  const there = copies.slice(0, await removeUnindexed(copy, copies));
  const next = there.findLastIndex((chunk) => chunk !== undefined) + 1;
  for (let first = 0; first < next; first += chunksAtOnce) {
    const rows = await copy.planned.from(first, Math.min(chunksAtOnce, next - first));
    await finish.finish(rows.flatMap((row, at) => standingCopy(copy, row, there[first + at])));
  }
  return next;
}

/** How many chunks to complete at once. */
const chunksAtOnce = 100;

/** The copy of a chunk to complete; notes a missing or unindexed one as failed. */
function standingCopy(
  copy: DocumentCopy,
  row: ChunkWithChildren,
  chunk: HashedChunk | undefined,
): readonly ChunkCopy[] {
  if (chunk && chunk.status !== "error") return [{ row, ...chunk }];
  const reason = chunk ? "the service stored it and could not index it" : astray(copy.work, noPosition).message;
  copy.fail("chunk", row, reason);
  return [];
}

/** The copies of the dump's chunks, in order. Deletes chunks that came late. Throws SkipError if there is any other chunk. */
async function readCopies(copy: DocumentCopy): Promise<readonly (HashedChunk | undefined)[]> {
  const { options, place, plan } = copy.work;
  const additions = options.journal.additions(plan.document_id);
  const planned: string[] = [];
  if (additions.length > 0) for await (const chunk of options.readChunks(plan)) planned.push(textsHash(chunk));
  const { copies, surplus, stranger } = alignChunks(planned, await readHashes(options.api, place), additions);
  if (stranger) {
    const chunk = `chunk ${stranger.id}, at position ${stranger.position} of document ${place.documentId}`;
    throw astray(copy.work, `${chunk}, was not added by this restore, or someone changed it`);
  }
  for (const { id } of surplus.toReversed()) await removeChunk(copy, id, null);
  return copies;
}

/**
 * Deletes chunks of an earlier process that the service could not index, and all chunks after them, so that they are added again in
 * order; not if there are more than one request can have added. Returns how many remain.
 */
async function removeUnindexed(copy: DocumentCopy, copies: readonly (HashedChunk | undefined)[]): Promise<number> {
  const first = copies.findIndex((chunk) => chunk?.status === "error");
  if (first < 0) return copies.length;
  const removed = copies.slice(first).flatMap((chunk) => chunk ?? []);
  if (removed.length > largestSize) return copies.length;
  for (const { id } of removed.toReversed()) await removeChunk(copy, id, null);
  return first;
}

type ChunkThere = Pick<HashedChunk, "id" | "hash">;

/** The chunks of the target, matched with the dump. */
interface Aligned<T extends ChunkThere> {
  /** The copy of each chunk of the dump, in order; undefined if there is none. */
  readonly copies: readonly (T | undefined)[];
  /** Chunks of requests whose answer was lost and that count as not done. They came late, and their texts are added by another request. */
  readonly surplus: readonly T[];
  /** The first chunk that this copy did not make, or that someone changed; undefined if there is none. */
  readonly stranger: T | undefined;
}

/** Matches chunks of the target with chunks of the dump, by the ids in the journal. `planned`: hashes of texts. */
export function alignChunks<T extends ChunkThere>(
  planned: readonly string[],
  there: readonly T[],
  additions: readonly Addition[],
): Aligned<T> {
  const numbers = new Map(
    additions.flatMap(({ first, ids }) => (ids ?? []).map((id, at) => [id, first + at] as const)),
  );
  const lost = additions.filter(({ ids }) => ids === null);
  const late = new Set(lost.flatMap(({ first, rows }) => planned.slice(first, first + rows)));
  const copies: (T | undefined)[] = planned.map(() => undefined);
  const surplus: T[] = [];
  for (const chunk of there) {
    const number = numbers.get(chunk.id);
    const row = planned[number ?? -1];
    if (number === undefined ? !late.has(chunk.hash) : row !== chunk.hash) return { copies, surplus, stranger: chunk };
    if (number === undefined || copies[number]) surplus.push(chunk);
    else copies[number] = chunk;
  }
  return { copies, surplus, stranger: undefined };
}
