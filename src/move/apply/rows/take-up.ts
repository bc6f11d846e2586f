import type { StandingChunk } from "../../../restore/apply/row-texts.js";
import { largestSize } from "./batch-size.js";
import { deleteChunk } from "./delete-chunk.js";
import type { ChunkCopy, DocumentCopy } from "./document-copy.js";
import { placeChunks } from "./place-chunks.js";
import { readCopy } from "./read-copy.js";

/** The service adds chunks behind the last one alone. */
const noPlace = "it failed earlier, or was deleted, and has no place behind the others";

/** The chunks that are there already, and the number of the first that is to be added. */
export interface TakenUp {
  readonly there: readonly ChunkCopy[];
  readonly next: number;
}

/**
 * Takes up the work of an earlier process on a document; there is none of a new one. SkipError where the document holds a chunk that
 * this move did not make.
 */
export async function takeUp(copy: DocumentCopy): Promise<TakenUp> {
  const copies = await readCopies(copy);
  for (const chunk of copies) if (chunk) copy.ids.add(chunk.id);
  const there = copies.slice(0, await removeUnindexed(copy, copies));
  const next = there.findLastIndex((chunk) => chunk !== undefined) + 1;
  const chunks: ChunkCopy[] = [];
  for (const [number, row] of copy.planned.slice(0, next).entries()) {
    const chunk = there[number];
    if (!chunk) copy.fail("chunk", row, copy.astray(noPlace).message);
    else if (chunk.status === "error") copy.fail("chunk", row, "the service stored it and could not index it");
    else chunks.push({ row, id: chunk.id, enabled: chunk.enabled, attachment_ids: chunk.attachment_ids });
  }
  return { there: chunks, next };
}

/** The copies of the chunks of the dump, in its order. Chunks that came twice are deleted. SkipError where any other chunk is there. */
export async function readCopies(copy: DocumentCopy): Promise<readonly (StandingChunk | undefined)[]> {
  const { options, place, plan } = copy.work;
  const additions = options.journal.additions(plan.document_id);
  const { copies, surplus, stranger } = placeChunks(copy.planned, await readCopy(copy.work), additions);
  if (stranger) {
    const chunk = `chunk ${stranger.id}, at position ${stranger.position} of document ${place.documentId}`;
    throw copy.astray(`${chunk}, is none that this restore added, or somebody changed it`);
  }
  for (const { id } of surplus.toReversed()) await deleteChunk(copy, id, null);
  return copies;
}

/**
 * Deletes the chunks that an earlier process added and the service could not index, and those behind them, so that they come again in
 * order; not if they are more than one request can have added. Gives the number of those that stay.
 */
async function removeUnindexed(copy: DocumentCopy, copies: readonly (StandingChunk | undefined)[]): Promise<number> {
  const first = copies.findIndex((chunk) => chunk?.status === "error");
  if (first < 0) return copies.length;
  const removed = copies.flatMap((chunk, number) => (chunk && number >= first ? [{ id: chunk.id, number }] : []));
  if (removed.length > largestSize) return copies.length;
  for (const { id, number } of removed.toReversed()) await deleteChunk(copy, id, copy.planned[number]?.id ?? null);
  return first;
}
