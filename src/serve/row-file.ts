import type { FileHandle } from "node:fs/promises";
import { StopError } from "../errors.js";
import { parseJson } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";

/** The most bytes of rows that are read at once, but for a single row. */
const largestPage = 200_000_000;

/** A JSONL file whose rows can be had by their number, from 0: where each begins is kept, eight bytes a row. */
export class RowFile {
  readonly name: string;
  readonly #handle: FileHandle;
  readonly #starts = new NumberList(8);
  #end = 0;

  /** The file is open; `add` tells of its rows. */
  constructor(name: string, handle: FileHandle) {
    this.name = name;
    this.#handle = handle;
  }

  get rows(): number {
    return this.#starts.length;
  }

  /** The next row is this long, its line feed not counted. */
  add(bytes: number): void {
    this.#starts.push(this.#end);
    this.#end += bytes + 1;
  }

  /** Bytes of the rows from `first` to before `end`. */
  bytes(first: number, end: number): number {
    return this.#startOf(end) - this.#startOf(first);
  }

  /** The lines of the rows from `first` to before `end`, without line feeds. Rejects when the file is no longer what it was. */
  async lines(first: number, end: number): Promise<readonly Buffer[]> {
    if (first >= end) return [];
    const size = this.bytes(first, end);
    if (size > largestPage && end - first > 1) {
      throw new StopError(`${end - first} rows of ${this.name} have ${size} bytes; ask for fewer with limit`);
    }
    const start = this.#startOf(first);
    const bytes = await this.#read(start, size);
    return Array.from({ length: end - first }, (_, at) =>
      bytes.subarray(this.#startOf(first + at) - start, this.#startOf(first + at + 1) - start - 1),
    );
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #startOf(row: number): number {
    return row < this.rows ? this.#starts.at(row) : this.#end;
  }

  async #read(start: number, size: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(size);
    for (let filled = 0; filled < size; ) {
      const { bytesRead } = await this.#handle.read(bytes, filled, size - filled, start + filled);
      if (bytesRead === 0)
        throw new StopError(`${this.name} has been cut off since it was opened; serve the dump again`);
      filled += bytesRead;
    }
    return bytes;
  }
}

/** The row of a line of JSONL, no number of it rounded; StopError, with its number from 1, when it is none. */
export function rowOfLine(
  line: Buffer,
  fileName: string,
  number: number,
  parse: (text: string) => unknown = parseJson,
): Row {
  try {
    const value = parse(line.toString("utf8"));
    if (isObject(value)) return value;
  } catch {
    // said below; a SyntaxError would quote the line
  }
  throw noRow(fileName, number, "is no JSON object");
}

/** Says that a row is not as a run leaves it. */
export function noRow(fileName: string, number: number, message: string): StopError {
  return new StopError(`${fileName}: row ${number} ${message}; kbdump verify tells more`);
}

function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

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
