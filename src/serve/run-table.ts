import { NumberList } from "./number-list.js";
import type { RowKey } from "./row-key.js";

/**
 * The places of the rows of a key, for rows that stand together by key: a row of chunks, or the children of a chunk. It keeps
 * hashes and no keys, sixteen to 24 bytes a run of rows; who asks compares the key with that of the row found.
 */
export class RunTable {
  readonly #firsts = new NumberList(4);
  readonly #hashes = new NumberList(4);
  #slots = new Uint32Array(0);

  get runs(): number {
    return this.#firsts.length;
  }

  /** A run of the key begins with this row. */
  add(key: RowKey, firstRow: number): void {
    this.#firsts.push(firstRow);
    this.#hashes.push(hashOf(key));
  }

  /** The first row of a run, from 0; behind the last one, `rows`. */
  firstRow(run: number, rows: number): number {
    return run < this.runs ? this.#firsts.at(run) : rows;
  }

  /** To be called after the last `add`. Gives the pairs of runs that may have the same key: few, or the dump is not sound. */
  *finish(): Generator<readonly [number, number]> {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(this.runs * 2 + 2)));
    for (let run = 0; run < this.runs; run++) {
      const hash = this.#hashes.at(run);
      let slot = this.#slotOf(hash);
      for (let found = this.#slots[slot]; found; found = this.#slots[slot]) {
        if (this.#hashes.at(found - 1) === hash) yield [found - 1, run];
        slot = this.#next(slot);
      }
      this.#slots[slot] = run + 1;
    }
  }

  /** The runs that may have the key: with next to all keys one or none. */
  *find(key: RowKey): Generator<number> {
    const hash = hashOf(key);
    let slot = this.#slotOf(hash);
    for (let found = this.#slots[slot]; found; found = this.#slots[slot]) {
      if (this.#hashes.at(found - 1) === hash) yield found - 1;
      slot = this.#next(slot);
    }
  }

  #slotOf(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }
}

/** 32 bits of the key, well spread (FNV-1a, and the last steps of murmur3). */
function hashOf({ dataset, document, id }: RowKey): number {
  let hash = 0x811c9dc5;
  for (const text of [id, document, dataset]) {
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ 0x1f, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
