const block = 1 << 16;

/** A list of numbers from 0 that grows by blocks: four or eight bytes a number, and no copying of what is there. */
export class NumberList {
  readonly #width: 4 | 8;
  readonly #blocks: (Uint32Array | Float64Array)[] = [];
  #length = 0;

  /** With four bytes, whole numbers below 2^32. */
  constructor(width: 4 | 8) {
    this.#width = width;
  }

  get length(): number {
    return this.#length;
  }

  /** The memory that it takes. */
  get bytes(): number {
    return this.#blocks.length * block * this.#width;
  }

  push(value: number): void {
    const at = this.#length % block;
    if (at === 0) this.#blocks.push(this.#width === 4 ? new Uint32Array(block) : new Float64Array(block));
    const last = this.#blocks.at(-1);
    if (last) last[at] = value;
    this.#length++;
  }

  /** The number at a place from 0; RangeError behind the end. */
  at(place: number): number {
    const value = place < this.#length ? this.#blocks[Math.floor(place / block)]?.[place % block] : undefined;
    if (value === undefined) throw new RangeError(`there is no number ${place} in a list of ${this.#length}`);
    return value;
  }

  /** The numbers from a place to before another, as many as there are. */
  slice(start: number, end: number): readonly number[] {
    const numbers: number[] = [];
    for (let place = start; place < Math.min(end, this.#length); place++) numbers.push(this.at(place));
    return numbers;
  }
}
