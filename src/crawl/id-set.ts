import { randomInt } from "node:crypto";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The offsets in a UUID where each 32-bit word begins. */
const wordStarts = [0, 9, 19, 28] as const;
const wordsPerId = 4;

/**
 * Distinct ids in insertion order, stored compactly, because a document may have a million chunks. A UUID takes 24 to 48 bytes, a
 * sixth of its size in a set of strings.
 */
export class IdSet {
  /** Four 32-bit words per id; zeros for an id that is not a UUID. */
  #words = new Uint32Array(16 * wordsPerId);
  /** A hash table with open addressing. A slot holds 1 + the index of an id, or 0. It is at most half full. */
  #slots = new Int32Array(32);
  #size = 0;
  /** Ids that are not lower-case UUIDs, with their indexes. */
  readonly #texts = new Map<string, number>();
  readonly #textAt = new Map<number, string>();
  /** Random, so that a service cannot choose ids that collide. */
  readonly #seed = randomInt(0x7fffffff);

  constructor(ids: Iterable<string> = []) {
    for (const id of ids) this.add(id);
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an id. Returns false if it is already there. */
  add(id: string): boolean {
    if (this.#size * wordsPerId === this.#words.length) this.#grow();
    if (!uuid.test(id)) return this.#addText(id);
    const place = this.#size * wordsPerId;
    wordStarts.forEach((start, at) => {
      this.#words[place + at] = hexWord(id, start);
    });
    return this.#insert(this.#size) && ++this.#size > 0;
  }

  /** The id at an index, from 0; undefined after the last one. */
  at(place: number): string | undefined {
    if (place >= this.#size) return undefined;
    const text = this.#textAt.get(place);
    if (text !== undefined) return text;
    const first = place * wordsPerId;
    const hex = (word: number) => (this.#words[first + word] ?? 0).toString(16).padStart(8, "0");
    const [second, third] = [hex(1), hex(2)];
    const middle = `${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}`;
    return `${hex(0)}-${middle}${hex(3)}`;
  }

  #addText(id: string): boolean {
    if (this.#texts.has(id)) return false;
    this.#texts.set(id, this.#size);
    this.#textAt.set(this.#size, id);
    this.#size++;
    return true;
  }

  /** Inserts the UUID whose words are at an index. Returns false if it is already there. */
  #insert(place: number): boolean {
    const mask = this.#slots.length - 1;
    for (let slot = this.#hash(place) & mask; ; slot = (slot + 1) & mask) {
      const taken = this.#slots[slot];
      if (!taken) {
        this.#slots[slot] = place + 1;
        return true;
      }
      if (this.#equal(taken - 1, place)) return false;
    }
  }

  #hash(place: number): number {
    let hash = this.#seed;
    for (let at = 0; at < wordsPerId; at++) {
      hash = Math.imul(hash ^ (this.#words[place * wordsPerId + at] ?? 0), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  #equal(one: number, other: number): boolean {
    for (let at = 0; at < wordsPerId; at++) {
      if (this.#words[one * wordsPerId + at] !== this.#words[other * wordsPerId + at]) return false;
    }
    return true;
  }

  #grow(): void {
    const words = new Uint32Array(this.#words.length * 2);
    words.set(this.#words);
    this.#words = words;
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let place = 0; place < this.#size; place++) if (!this.#textAt.has(place)) this.#insert(place);
  }
}

/** Eight hexadecimal digits, skipping hyphens. */
function hexWord(text: string, start: number): number {
  let word = 0;
  for (let at = start, digits = 0; digits < 8; at++) {
    const code = text.charCodeAt(at);
    if (code === 45) continue;
    word = (word << 4) | (code < 58 ? code - 48 : code - 87);
    digits++;
  }
  return word >>> 0;
}
