import { haveSameTexts, textsHash } from "../../../restore/apply/row-texts.js";
import type { Addition } from "../../journal/additions-of.js";

interface Texts {
  readonly content: string;
  readonly answer: string | null;
}

interface ChunkThere extends Texts {
  readonly id: string;
}

/** The chunks of the target, each in its place. */
export interface Placed<T extends ChunkThere> {
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
export function placeChunks<T extends ChunkThere>(
  planned: readonly Texts[],
  there: readonly T[],
  additions: readonly Addition[],
): Placed<T> {
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

/** Requests that may have been carried out without an answer: the first ones first, the longer ones before the shorter. */
function lostOf(additions: readonly Addition[]): readonly Addition[] {
  const lost = additions.filter(({ ids, rows }) => ids === null && rows > 0);
  return lost.sort((one, other) => one.first - other.first || other.rows - one.rows);
}

/** The texts of all chunks of these requests, as hashes. */
function hashesOf(planned: readonly Texts[], requests: readonly Addition[]): ReadonlySet<string> {
  return new Set(requests.flatMap(({ first, rows }) => planned.slice(first, first + rows).map(textsHash)));
}
