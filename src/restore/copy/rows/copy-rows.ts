import type { DocumentRows } from "../../../compare/document-rows.js";
import { SkipError } from "../../../errors.js";
import { haveSameTexts, type StandingChunk, textsHash } from "../../apply/row-texts.js";
import { type DocumentWork, largestSize } from "../apply/apply-options.js";
import type { FailedRow } from "../copy-result.js";
import type { Addition } from "../journal.js";
import { addChunks, deleteChunk } from "./add-chunks.js";
import { type ChunkCopy, DocumentCopy, readCopy } from "./document-copy.js";
import { Finish } from "./finish-chunks.js";

/** The outcome for the rows of one document. */
interface CopiedRows {
  /** Rows that did not come without an announcement. */
  readonly failed: readonly FailedRow[];
  /** Why the document was given up before all of its rows were tried, as a sentence; null where it was not. */
  readonly reason: string | null;
}

/**
 * Copies the chunks and child chunks of one document of the dump to its copy, in order, and goes on where an earlier process ended. The
 * copy is completed, enabled, not archived, and holds no chunk of its stub. Rejects with StopError where the key is refused or the
 * disk fails, and with the reason of the signal.
 */
export async function copyRows(work: DocumentWork, rows: DocumentRows): Promise<CopiedRows> {
  const copy = new DocumentCopy(work, rows);
  try {
    const { there, next } = await takeUp(copy);
    const finish = new Finish(copy);
    await finish.finish(there);
    for await (const added of addChunks(copy, next)) await finish.finish(added);
    await finish.end();
    if (work.options.journal.mayShowUp("add chunks", work.plan.document_id)) await readCopies(copy);
    return { failed: copy.failed, reason: null };
  } catch (error) {
    if (error instanceof SkipError) return { failed: copy.failed, reason: error.message };
    throw error;
  }
}

/** The service adds chunks behind the last one alone. */
const noPosition = "it failed earlier, or was deleted, and has no place behind the others";

/** The chunks that are there already, and the number of the first that is to be added. */
interface TakenUp {
  readonly there: readonly ChunkCopy[];
  readonly next: number;
}

/**
 * Takes up the work of an earlier process on a document; there is none of a new one. SkipError where the document holds a chunk that
 * this move did not make.
 */
async function takeUp(copy: DocumentCopy): Promise<TakenUp> {
  const copies = await readCopies(copy);
  for (const chunk of copies) if (chunk) copy.ids.add(chunk.id);
  const there = copies.slice(0, await removeUnindexed(copy, copies));
  const next = there.findLastIndex((chunk) => chunk !== undefined) + 1;
  const chunks: ChunkCopy[] = [];
  for (const [number, row] of copy.planned.slice(0, next).entries()) {
    const chunk = there[number];
    if (!chunk) copy.fail("chunk", row, copy.astray(noPosition).message);
    else if (chunk.status === "error") copy.fail("chunk", row, "the service stored it and could not index it");
    else chunks.push({ row, id: chunk.id, enabled: chunk.enabled, attachment_ids: chunk.attachment_ids });
  }
  return { there: chunks, next };
}

/** The copies of the chunks of the dump, in its order. Chunks that came twice are deleted. SkipError where any other chunk is there. */
async function readCopies(copy: DocumentCopy): Promise<readonly (StandingChunk | undefined)[]> {
  const { options, place, plan } = copy.work;
  const additions = options.journal.additions(plan.document_id);
  const { copies, surplus, stranger } = alignChunks(copy.planned, await readCopy(copy.work), additions);
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

interface Texts {
  readonly content: string;
  readonly answer: string | null;
}

interface ChunkThere extends Texts {
  readonly id: string;
}

/** The chunks of the target, each in its place. */
interface Aligned<T extends ChunkThere> {
  /** The copy of each chunk of the dump, in order; undefined where there is none. */
  readonly copies: readonly (T | undefined)[];
  /** Chunks of this move that stand there twice: their request was sent again after a lost answer. */
  readonly surplus: readonly T[];
  /** The first chunk that this move did not make, or that somebody changed; undefined where there is none. */
  readonly stranger: T | undefined;
}

/**
 * Finds out which chunk of the target is the copy of which chunk of the dump. The journal names most of them by id. Those of a request
 * whose answer was lost go by their texts, between their neighbours: the service stores a request as a whole.
 */
export function alignChunks<T extends ChunkThere>(
  planned: readonly Texts[],
  there: readonly T[],
  additions: readonly Addition[],
): Aligned<T> {
  const places = new Places(planned, there, additions);
  const stranger = places.takeKnown() ?? places.takeLost();
  return { copies: places.copies, surplus: places.surplus, stranger };
}

class Places<T extends ChunkThere> {
  readonly copies: (T | undefined)[];
  readonly surplus: T[] = [];
  readonly #planned: readonly Texts[];
  readonly #there: readonly T[];
  /** Numbers of chunks by the ids of their copies. */
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #lost: readonly Addition[];

  constructor(planned: readonly Texts[], there: readonly T[], additions: readonly Addition[]) {
    this.copies = planned.map(() => undefined);
    this.#planned = planned;
    this.#there = there;
    this.#numbers = numbersById(additions);
    this.#lost = lostOf(additions);
  }

  /** Places the chunks that the journal knows. Gives the first that somebody changed. */
  takeKnown(): T | undefined {
    for (const chunk of this.#there) {
      const number = this.#numbers.get(chunk.id);
      if (number === undefined) continue;
      const row = this.#planned[number];
      if (!row || !haveSameTexts(row, chunk)) return chunk;
      if (this.copies[number]) this.surplus.push(chunk);
      else this.copies[number] = chunk;
    }
    return undefined;
  }

  /** Places the others, each request as a whole. Gives the first that is of none. */
  takeLost(): T | undefined {
    const texts = hashesOf(this.#planned, this.#lost);
    const ends = this.#nextKnown();
    let last = -1;
    for (let at = 0; at < this.#there.length; at++) {
      const chunk = this.#there[at];
      if (!chunk) break;
      const known = this.#numbers.get(chunk.id);
      const request = known === undefined ? this.#requestAt(at, last + 1, ends[at] ?? 0) : undefined;
      if (known !== undefined) last = Math.max(last, known);
      else if (request) {
        this.copies.splice(request.first, request.rows, ...this.#there.slice(at, at + request.rows));
        last = request.first + request.rows - 1;
        at += request.rows - 1;
      } else if (texts.has(textsHash(chunk))) this.surplus.push(chunk);
      else return chunk;
    }
    return undefined;
  }

  /** The request whose chunks begin at this place of the target, and are between these numbers in the dump. */
  #requestAt(at: number, from: number, end: number): Addition | undefined {
    return this.#lost.find(({ first, rows }) => {
      if (first < from || first + rows > end) return false;
      return this.#planned.slice(first, first + rows).every((row, each) => {
        const chunk = this.#there[at + each];
        return chunk && !this.#numbers.has(chunk.id) && !this.copies[first + each] && haveSameTexts(row, chunk);
      });
    });
  }

  /** For each chunk that is there, the number of the next one behind it that the journal knows. */
  #nextKnown(): readonly number[] {
    const ends: number[] = [];
    let next = this.#planned.length;
    for (const { id } of this.#there.toReversed()) {
      next = this.#numbers.get(id) ?? next;
      ends.push(next);
    }
    return ends.reverse();
  }
}

function numbersById(additions: readonly Addition[]): ReadonlyMap<string, number> {
  return new Map(additions.flatMap(({ first, ids }) => (ids ?? []).map((id, at) => [id, first + at] as const)));
}

/** Requests that may have been executed without an answer: the first ones first, the longer ones before the shorter. */
function lostOf(additions: readonly Addition[]): readonly Addition[] {
  const lost = additions.filter(({ ids, rows }) => ids === null && rows > 0);
  return lost.sort((one, other) => one.first - other.first || other.rows - one.rows);
}

/** The texts of all chunks of these requests, as hashes. */
function hashesOf(planned: readonly Texts[], requests: readonly Addition[]): ReadonlySet<string> {
  return new Set(requests.flatMap(({ first, rows }) => planned.slice(first, first + rows).map(textsHash)));
}
