import type { SendHooks } from "../../client/write/operations.js";
import { type ChunkRow, type ChunkWithChildren, textsHash } from "../../compare/document-rows.js";
import { SkipError } from "../../errors.js";
import type { Addition } from "../../journal/journal-state.js";
import { countOf } from "../../words.js";
import { newChunk } from "../row-writes.js";
import { type HashedChunk, readHashes } from "../target-rows.js";
import { firstRequest } from "./copy-plan.js";
import type { ChunkCopy, DocumentCopy } from "./document-work.js";
import { Finish } from "./finish-chunks.js";

/** Maximum chunks of a request, and approximate maximum bytes of their texts; a single chunk may be larger. */
export const largestRequest = 200;
const mostBytes = 1_000_000;
/** A request is quick if it takes less than the first duration, and slow if it takes more than the second; in milliseconds. */
const [quick, slow] = [2_000, 20_000];

/**
 * Copies the chunks and child chunks of one document of the dump to its copy, in order, and continues where an earlier process stopped. The
 * copy must be completed, enabled, not archived, and without stub chunks. Throws SkipError if the document is given up before all of its
 * rows were tried. Rejects with StopError if the key is refused or the disk fails, and with the reason of the signal.
 */
export async function copyRows(copy: DocumentCopy): Promise<void> {
  const { options, plan } = copy;
  const finish = new Finish(copy);
  const chunks = options.readChunks(plan)[Symbol.asyncIterator]();
  const next = await resume(copy, chunks, finish);
  for await (const added of addChunks(copy, chunks, next)) await finish.finish(added);
  await finish.end();
  if (options.journal.mayShowUp("add chunks", plan.document_id).length > 0) await readCopies(copy);
}

/** The chunks to copy, in the order of the dump. The journal numbers them from 0. Only the next ones are in memory. */
type Chunks = AsyncIterator<ChunkWithChildren>;

async function take(chunks: Chunks, most: number): Promise<readonly ChunkWithChildren[]> {
  const taken: ChunkWithChildren[] = [];
  while (taken.length < most) {
    const next = await chunks.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

const noPosition = "it failed earlier, or was deleted, and the service adds chunks only at the end";

/**
 * Completes the chunks that an earlier process added to a document, if there are any. Returns the number of the first chunk to add.
 * Throws SkipError if the document has a chunk that this copy did not make.
 */
async function resume(copy: DocumentCopy, chunks: Chunks, finish: Finish): Promise<number> {
  const copies = await readCopies(copy);
  for (const chunk of copies) if (chunk) copy.ids.add(chunk.id);
  const there = copies.slice(0, await removeUnindexed(copy, copies));
  const next = there.findLastIndex((chunk) => chunk !== undefined) + 1;
  for (let first = 0; first < next; first += chunksAtOnce) {
    const rows = await take(chunks, Math.min(chunksAtOnce, next - first));
    const standing = rows.flatMap((row, at): readonly ChunkCopy[] => {
      const chunk = there[first + at];
      if (chunk && chunk.status !== "error") return [{ row, ...chunk }];
      const reason = chunk ? "the service stored it and could not index it" : copy.astray(noPosition).message;
      copy.fail(row, reason);
      return [];
    });
    await finish.finish(standing);
  }
  return next;
}

/** How many chunks to complete at once. */
const chunksAtOnce = 100;

/** The copies of the dump's chunks, in order. Deletes duplicates that came late. Throws SkipError if there is any other chunk. */
async function readCopies(copy: DocumentCopy): Promise<readonly (HashedChunk | undefined)[]> {
  const { options, place, plan } = copy;
  const additions = options.journal.additions(plan.document_id);
  const planned: string[] = [];
  if (additions.length > 0) for await (const chunk of options.readChunks(plan)) planned.push(textsHash(chunk));
  const { copies, surplus, stranger } = alignChunks(planned, await readHashes(options.api, place), additions);
  if (stranger) {
    const chunk = `chunk ${stranger.id}, at position ${stranger.position} of document ${place.documentId}`;
    throw copy.astray(`${chunk}, was not added by this restore, or someone changed it`);
  }
  for (const { id } of surplus.toReversed()) await copy.deleteChunk(id);
  return copies;
}

/**
 * Deletes the first chunk that the service could not index, and all chunks after it, so that they are added again in order. Deletes
 * nothing if these are more chunks than one request can have added. Returns how many remain.
 */
async function removeUnindexed(copy: DocumentCopy, copies: readonly (HashedChunk | undefined)[]): Promise<number> {
  const first = copies.findIndex((chunk) => chunk?.status === "error");
  if (first < 0) return copies.length;
  const removed = copies.slice(first).flatMap((chunk) => chunk ?? []);
  if (removed.length > largestRequest) return copies.length;
  for (const { id } of removed.toReversed()) await copy.deleteChunk(id);
  return first;
}

type ChunkThere = Pick<HashedChunk, "id" | "hash">;

/** The chunks of the target, matched with the dump. */
interface Aligned<T extends ChunkThere> {
  /** The copy of each chunk of the dump, in order; undefined if there is none. */
  readonly copies: readonly (T | undefined)[];
  /** Duplicates: a request without an answer counted as not done, its chunks were added by another request, and then it added them, too. */
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

/**
 * How many chunks in a row may fail before the document is given up, because then their texts are not the cause. Fewer if no chunk of the
 * document succeeded and all failed for the same reason, such as an index technique that does not accept this form.
 */
const mostFailures = 10;
const mostAlike = 3;
/** Maximum times to send a single chunk whose failure may be temporary, and the wait before it is sent again. */
const mostTries = 3;
const betweenTries = 2_000;

/**
 * Adds the chunks from number `from` on, in order, and yields those of each request once they are added. Requests grow while the
 * service is quick and shrink when it is slow: it embeds all chunks before it answers, so only its duration shows how many it can
 * handle. One faulty chunk makes the service refuse, or fail to index, all chunks of a request. So a failed request is halved until
 * the faulty chunk is alone. Notes chunks that fail and continues with the others. Throws SkipError if the document is given up.
 */
async function* addChunks(copy: DocumentCopy, chunks: Chunks, from: number): AsyncGenerator<readonly ChunkCopy[]> {
  const { options, plan } = copy;
  const queue: ChunkWithChildren[] = [];
  const failures: string[] = [];
  // Each command tries half of a request that had no answer, because it may be more than the service can handle.
  const unanswered = options.journal.mayShowUp("add chunks", plan.document_id).map(({ rows }) => rows ?? 0);
  const first = Math.max(1, Math.min(firstRequest, ...unanswered.map((rows) => Math.floor(rows / 2))));
  let [next, size, most, tries] = [from, first, largestRequest, 0];
  let end = from; // the end of the smallest failed request: one of the chunks before it is faulty
  for (;;) {
    size = Math.min(size, most);
    queue.push(...(await take(chunks, size - queue.length)));
    const half = Math.max(1, Math.floor((end - next) / 2));
    const rows = ofOneRequest(queue.slice(0, next < end ? Math.min(size, half) : size));
    if (rows.length === 0) return;
    const added = await addRequest(copy, next, rows);
    if (added.limit !== undefined) {
      most = added.limit;
      continue;
    }
    if (added.wasLost || added.took > slow) size = Math.max(1, Math.floor(Math.min(size, rows.length) / 2));
    const kept = await keepIndexed(copy, rows, added.chunks);
    queue.splice(0, kept.length);
    next += kept.length;
    if (kept.length > 0) {
      [failures.length, tries] = [0, 0];
      yield kept;
    }
    const [faulty] = queue;
    if (kept.length === rows.length || !faulty) {
      if (!added.wasLost && added.took < quick && rows.length >= size) size *= 2;
      continue;
    }
    if (added.wasLost && rows.length > 1) continue; // no chunk is to blame, and the next request is smaller
    end = next + rows.length - kept.length;
    if (rows.length > 1) continue;
    tries++;
    if (added.mayPass && tries < mostTries) {
      await options.sleep(betweenTries, options.signal);
      continue;
    }
    copy.fail(faulty, added.reason);
    queue.shift();
    next++;
    tries = 0;
    failures.push(added.reason);
    const areAlike = copy.ids.size === 0 && new Set(failures).size === 1;
    if (failures.length < (areAlike ? mostAlike : mostFailures)) continue;
    const failed = `${countOf(failures.length, "chunk")} in a row failed`;
    throw new SkipError(`${failed}, so the others were not sent; the last one: ${added.reason}`);
  }
}

/** The first chunks that fit into one request: fewer if they are long, but at least one. */
export function ofOneRequest<T extends Pick<ChunkRow, "content" | "answer">>(chunks: readonly T[]): readonly T[] {
  let bytes = 0;
  const tooMany = chunks.findIndex(({ content, answer }, at) => {
    bytes += Buffer.byteLength(content) + Buffer.byteLength(answer ?? "");
    return at > 0 && bytes > mostBytes;
  });
  return tooMany < 0 ? chunks : chunks.slice(0, tooMany);
}

/** Keeps the chunks before the first that could not be indexed. Deletes the others from the end; they are added again in order. */
async function keepIndexed(
  copy: DocumentCopy,
  rows: readonly ChunkWithChildren[],
  chunks: readonly StoredChunk[],
): Promise<readonly ChunkCopy[]> {
  for (const { id } of chunks) copy.ids.add(id);
  const stored = rows.flatMap((row, at) => (chunks[at] ? [{ ...chunks[at], row, attachment_ids: [] }] : []));
  const faulty = stored.findIndex(({ status }) => status === "error");
  if (faulty < 0) return stored;
  for (const { id, row } of stored.slice(faulty).reverse()) await copy.deleteChunk(id, row.id);
  return stored.slice(0, faulty);
}

interface StoredChunk extends Pick<HashedChunk, "id" | "status" | "enabled"> {
  /** The service's own words on why it could not index the chunk. */
  readonly error?: string;
}

interface Added {
  /** The chunks that the service stored; it may not have indexed all of them. */
  readonly chunks: readonly StoredChunk[];
  /** Why not all chunks were added and indexed, as a sentence. */
  readonly reason: string;
  /** Whether the same request may succeed later. */
  readonly mayPass: boolean;
  readonly wasLost: boolean;
  /** Milliseconds until the answer. */
  readonly took: number;
  /** The largest number of chunks that the service accepts in one request, if it refused more. */
  readonly limit?: number;
}

/** Status codes of refusals because of the chunks' content. */
const badTexts: readonly number[] = [400, 413, 422];

/** Adds chunks after the last one. `first`: the number of the first. Throws SkipError if no request can succeed. */
async function addRequest(copy: DocumentCopy, first: number, rows: readonly ChunkWithChildren[]): Promise<Added> {
  let found: readonly StoredChunk[] = [];
  const find = async () => {
    found = await findAdded(copy, rows);
    return found.length > 0 ? { ids: found.map(({ id }) => id) } : undefined;
  };
  const facts = { write: "add chunks", first, rows: rows.length } as const;
  const texts = rows.map((row) => newChunk(row, copy.docForm));
  const prepared = copy.writer.addChunks(copy.place, texts);
  let took = 0;
  const onAnswer = (milliseconds: number) => {
    took = milliseconds;
  };
  const request = { ...prepared, send: (hooks?: SendHooks) => prepared.send({ ...hooks, onAnswer }) };
  const ended = await copy.write({ facts, request }, find, 1);
  const { wasLost } = ended;
  if (ended.kind === "done") {
    const chunks: readonly StoredChunk[] = ended.value ?? found;
    const said = chunks.find(({ status }) => status === "error")?.error;
    const reason = `the service stored it and could not index it${said ? `: ${said}` : ""}`;
    return { chunks, reason, mayPass: true, wasLost, took };
  }
  const { reason } = ended;
  const none = { chunks: [], reason, mayPass: true, wasLost, took };
  if (ended.kind === "refused") {
    const limit = limitIn(ended.message);
    if (limit !== undefined && limit < rows.length) return { ...none, limit };
    if (badTexts.includes(ended.status)) return { ...none, mayPass: false };
    throw copy.astray(reason);
  }
  if (!wasLost) throw new SkipError(`the service accepts no requests: ${reason}`);
  return none;
}

/**
 * Looks for the chunks of a request after the existing copies. Returns none unless all of them are there, because a request is stored as a
 * whole. Chunks before the last copy came late from an earlier request: they must not count, because they are in the wrong place.
 */
async function findAdded(copy: DocumentCopy, rows: readonly ChunkWithChildren[]): Promise<readonly StoredChunk[]> {
  const all = await readHashes(copy.options.api, copy.place);
  const tail = all.slice(all.findLastIndex(({ id }) => copy.ids.has(id)) + 1);
  const hashes = rows.map(textsHash);
  const start = tail.findIndex((_, at) => hashes.every((hash, each) => tail[at + each]?.hash === hash));
  return start < 0 ? [] : tail.slice(start, start + rows.length);
}

/** Reads the limit from the service's own words: it has no code for this refusal. */
function limitIn(message: string): number | undefined {
  const [, most] = /^exceeded maximum segments limit of (\d+)/i.exec(message) ?? [];
  return most === undefined || Number(most) < 1 ? undefined : Number(most);
}
