import type { SendHooks } from "../../client/write/operations.js";
import type { ChunkWithChildren } from "../../compare/document-rows.js";
import { SkipError } from "../../errors.js";
import { countOf } from "../../words.js";
import type { Addition } from "../journal-facts.js";
import type { RowDifference } from "../result.js";
import { newChunk } from "../row-writes.js";
import { type HashedChunk, haveSameTexts, readHashes, textsHash } from "../target-rows.js";
import {
  astray,
  type ChunkCopy,
  DocumentCopy,
  type DocumentWork,
  deleteChunk,
  largestSize,
  readTail,
  write,
} from "./document-work.js";
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
    const standing = rows.flatMap((row, at): readonly ChunkCopy[] => {
      const chunk = there[first + at];
      if (chunk && chunk.status !== "error") return [{ row, ...chunk }];
      const reason = chunk ? "the service stored it and could not index it" : astray(copy, noPosition).message;
      copy.fail("chunk", row, reason);
      return [];
    });
    await finish.finish(standing);
  }
  return next;
}

/** How many chunks to complete at once. */
const chunksAtOnce = 100;

/** The copies of the dump's chunks, in order. Deletes chunks that came late. Throws SkipError if there is any other chunk. */
async function readCopies(copy: DocumentCopy): Promise<readonly (HashedChunk | undefined)[]> {
  const { options, place, plan } = copy;
  const additions = options.journal.additions(plan.document_id);
  const planned: string[] = [];
  if (additions.length > 0) for await (const chunk of options.readChunks(plan)) planned.push(textsHash(chunk));
  const { copies, surplus, stranger } = alignChunks(planned, await readHashes(options.api, place), additions);
  if (stranger) {
    const chunk = `chunk ${stranger.id}, at position ${stranger.position} of document ${place.documentId}`;
    throw astray(copy, `${chunk}, was not added by this restore, or someone changed it`);
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

/**
 * How many chunks in a row may fail before the document is given up, because then their texts are not the cause. Fewer if no chunk of the
 * document succeeded and all failed for the same reason, such as an index technique that does not accept this form.
 */
const mostFailures = 10;
const mostAlike = 3;
/** Maximum requests in a row that do not reach the service, and the wait after the first, in milliseconds; it doubles. */
const mostUnsent = 6;
const firstWait = 1_000;
/** The wait before a failed request with a single chunk is sent again. */
const betweenTries = 2_000;

/**
 * Adds the chunks from number `from` on, in order, and yields those of each request once they are added. Notes chunks that fail and
 * continues with the others. Throws SkipError if the document is given up.
 */
async function* addChunks(copy: DocumentCopy, from: number): AsyncGenerator<readonly ChunkCopy[]> {
  const { options } = copy;
  const search = new FaultSearch();
  const failures: string[] = [];
  for (let next = from; ; ) {
    const rows = ofOneRequest(await copy.planned.from(next, Math.min(options.batchSize.size, search.most(next))));
    if (rows.length === 0) return;
    const added = await addRequest(copy, next, rows);
    if (added.kind === "limited") {
      options.batchSize.keepTo(added.most);
      continue;
    }
    if (added.kind === "lost" && rows.length > 1) continue; // the next request is smaller
    const kept = await keepIndexed(copy, rows, added.chunks);
    if (kept.length > 0) {
      next += kept.length;
      failures.length = 0;
      search.added();
      yield kept;
    }
    const left = rows.slice(kept.length);
    const [faulty] = left;
    if (!faulty) continue;
    const { reason } = added;
    const step = search.failed(next, left.length, added.kind !== "faulty");
    if (step === "again") await options.sleep(betweenTries, options.signal);
    if (step !== "give up") continue;
    copy.fail("chunk", faulty, reason);
    next++;
    failures.push(reason);
    const areAlike = copy.ids.size === 0 && new Set(failures).size === 1;
    if (failures.length < (areAlike ? mostAlike : mostFailures)) continue;
    throw new SkipError(
      `${countOf(failures.length, "chunk")} in a row failed, so the others were not sent; the last one: ${reason}`,
    );
  }
}

/** Keeps the chunks before the first that could not be indexed. Deletes the others from the end; they are added again in order. */
async function keepIndexed(
  copy: DocumentCopy,
  rows: readonly ChunkWithChildren[],
  chunks: readonly StoredChunk[],
): Promise<readonly ChunkCopy[]> {
  for (const { id } of chunks) copy.ids.add(id);
  const faulty = chunks.findIndex(({ status }) => status === "error");
  const good = faulty < 0 ? chunks : chunks.slice(0, faulty);
  for (let at = chunks.length - 1; at >= good.length; at--) {
    const [chunk, row] = [chunks[at], rows[at]];
    if (chunk && row) await removeChunk(copy, chunk.id, row.id);
  }
  return good.flatMap(({ id, enabled }, at) => {
    const row = rows[at];
    return row ? [{ row, id, enabled, attachment_ids: [] }] : [];
  });
}

/** A chunk as the service stored it. */
interface StoredChunk {
  readonly id: string;
  readonly status: string | null;
  readonly enabled: boolean;
  /** The service's own words on why it could not index the chunk; empty if unknown. */
  readonly error: string;
}

/**
 * The outcome of a request that adds chunks. `limited`: the service accepts at most `most` per request. `added`: it stored the chunks, but
 * may not have indexed all. `faulty`: it refused one of them. `lost`: there was no answer, and nothing was added; requests are now smaller.
 * `reason`: why not all chunks were added and indexed, as a sentence.
 */
type Added =
  | { readonly kind: "limited"; readonly most: number }
  | { readonly kind: "added" | "faulty" | "lost"; readonly chunks: readonly StoredChunk[]; readonly reason: string };

/** Status codes of refusals because of the chunks' content. */
const badTexts: readonly number[] = [400, 413, 422];

/**
 * Adds chunks after the last one, and repeats a request that does not reach the service. `first`: the number of the first. Throws SkipError
 * if no request can succeed.
 */
async function addRequest(copy: DocumentCopy, first: number, rows: readonly ChunkWithChildren[]): Promise<Added> {
  const { options, place, plan } = copy;
  const { batchSize, writer, sleep, signal } = options;
  let found: readonly StoredChunk[] = [];
  const find = async () => {
    found = await findAdded(copy, rows);
    return found.length > 0 ? { ids: found.map(({ id }) => id) } : undefined;
  };
  const texts = rows.map((row) => newChunk(row, plan.doc_form));
  let took = 0;
  const onAnswer = (milliseconds: number) => {
    took = milliseconds;
  };
  const facts = { write: "add chunks", first, rows: rows.length } as const;
  for (let tries = 1; ; tries++) {
    const prepared = writer.addChunks(place, texts);
    const request = { ...prepared, send: (hooks?: SendHooks) => prepared.send({ ...hooks, onAnswer }) };
    const executed = await write(copy, { facts, request }, { find, tries: 1 });
    if (executed.wasLost) batchSize.lost(rows.length);
    if (executed.kind === "done") {
      const chunks = executed.value ?? found;
      const faulty = chunks.find(({ status }) => status === "error");
      if (!executed.wasLost && !faulty) batchSize.answered(rows.length, took);
      const said = faulty?.error ? `: ${faulty.error}` : "";
      return { kind: "added", chunks, reason: `the service stored it and could not index it${said}` };
    }
    const { reason } = executed;
    if (executed.kind === "refused") {
      const most = limitIn(executed.message);
      if (most !== undefined && most < rows.length) return { kind: "limited", most };
      if (badTexts.includes(executed.status)) return { kind: "faulty", chunks: [], reason };
      throw astray(copy, reason);
    }
    if (executed.wasLost) return { kind: "lost", chunks: [], reason };
    if (tries === mostUnsent) throw new SkipError(`the service accepts no requests: ${reason}`);
    await sleep(firstWait * 2 ** (tries - 1), signal);
  }
}

/**
 * Looks for the chunks of a request after the existing copies. Returns none unless all of them are there, because a request is stored as a
 * whole. Chunks before the last copy came late from an earlier request: they must not count, because they are in the wrong place.
 */
async function findAdded(copy: DocumentCopy, rows: readonly ChunkWithChildren[]): Promise<readonly StoredChunk[]> {
  const all = await readTail(copy, copy.ids.size);
  const tail = all.slice(all.findLastIndex(({ id }) => copy.ids.has(id)) + 1);
  const isRun = (at: number) =>
    rows.every((row, each) => {
      const chunk = tail[at + each];
      return chunk !== undefined && haveSameTexts(row, chunk);
    });
  const start = tail.findIndex((_, at) => isRun(at));
  return start < 0 ? [] : tail.slice(start, start + rows.length).map((chunk) => ({ ...chunk, error: "" }));
}

/** Reads the limit from the service's own words: it has no code for this refusal. */
function limitIn(message: string): number | undefined {
  const [, most] = /^exceeded maximum segments limit of (\d+)/i.exec(message) ?? [];
  return most === undefined || Number(most) < 1 ? undefined : Number(most);
}

/** Maximum times to send a single chunk whose failure may be temporary. */
const mostTries = 3;

/** The next step after a request that failed. `narrower`: the same chunks again, in smaller requests. */
type AfterFault = "narrower" | "again" | "give up";

/**
 * Finds the chunks that make requests fail: because of one chunk, the service refuses, or fails to index, all chunks of a request. The
 * chunks of such a request are halved until the faulty one is alone.
 */
export class FaultSearch {
  /** The number of the chunk after the smallest failed request: the faulty chunk is before it. */
  #end = 0;
  #tries = 0;

  /** Maximum chunks of a request that begins with chunk number `next`. */
  most(next: number): number {
    return next < this.#end ? Math.max(1, Math.floor((this.#end - next) / 2)) : Number.POSITIVE_INFINITY;
  }

  /** Chunks were added. */
  added(): void {
    this.#tries = 0;
  }

  /** A request for this many chunks failed, the first with this number; `mayPass`: a retry may succeed. */
  failed(first: number, chunks: number, mayPass: boolean): AfterFault {
    this.#end = first + chunks;
    if (chunks > 1) return "narrower";
    this.#tries++;
    if (mayPass && this.#tries < mostTries) return "again";
    this.#tries = 0;
    return "give up";
  }
}

/** Approximate maximum bytes of text in one request; a single chunk may be larger. */
const mostBytes = 1_000_000;

interface Texts {
  readonly content: string;
  readonly answer: string | null;
}

/** The first chunks that fit into one request: fewer if they are long, but at least one. */
export function ofOneRequest<T extends Texts>(chunks: readonly T[]): readonly T[] {
  let bytes = 0;
  const tooMany = chunks.findIndex(({ content, answer }, at) => {
    bytes += Buffer.byteLength(content) + Buffer.byteLength(answer ?? "");
    return at > 0 && bytes > mostBytes;
  });
  return tooMany < 0 ? chunks : chunks.slice(0, tooMany);
}

/** Deletes a chunk that this copy added. */
async function removeChunk(copy: DocumentCopy, id: string, oldId: string | null): Promise<void> {
  await deleteChunk(copy, id, oldId);
  copy.ids.delete(id);
}
