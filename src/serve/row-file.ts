import type { FileHandle } from "node:fs/promises";
import { StopError } from "../errors.js";
import { NumberList } from "./number-list.js";

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
        throw new StopError(`${this.name} has been cut off since it was opened; serve the dump anew`);
      filled += bytesRead;
    }
    return bytes;
  }
}
