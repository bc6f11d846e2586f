import { readText } from "./read-text.js";
import { UnreadableError } from "./row-source.js";

/** The longest record that is read, in bytes: far above what a row can be, and below what a string of JavaScript can hold. */
const longest = 256 * 1024 * 1024;
const lineFeed = 10;
const quote = 34;

/**
 * The records of a text file, without the line feeds at their ends, some at a time. With `quoted`, a line feed between
 * quotes ends no record, as in CSV. A file may be compressed. A symlink is not followed. Memory is that of one record.
 */
export async function* readRecords(path: string, quoted: boolean): AsyncGenerator<readonly Buffer[]> {
  yield* recordsOf(readText(path), quoted);
}

/** The same for bytes from wherever they come. */
export async function* recordsOf(pieces: AsyncIterable<Buffer>, quoted: boolean): AsyncGenerator<readonly Buffer[]> {
  const split = new RecordSplit(quoted);
  for await (const piece of pieces) yield split.add(piece);
  const rest = split.rest();
  if (rest.length > 0) yield [rest];
}

class RecordSplit {
  readonly #quoted: boolean;
  #begun: Buffer[] = [];
  #length = 0;
  #inQuotes = false;

  constructor(quoted: boolean) {
    this.#quoted = quoted;
  }

  /** The records that end in this piece. */
  add(piece: Buffer): readonly Buffer[] {
    const records: Buffer[] = [];
    let start = 0;
    for (let at = 0; ; ) {
      const end = piece.indexOf(lineFeed, at);
      if (this.#quoted) this.#countQuotes(piece, at, end < 0 ? piece.length : end);
      if (end < 0) break;
      at = end + 1;
      if (this.#inQuotes) continue;
      records.push(this.#ended(piece.subarray(start, end)));
      start = at;
    }
    this.#keep(piece.subarray(start));
    return records;
  }

  rest(): Buffer {
    return this.#ended(Buffer.alloc(0));
  }

  #ended(end: Buffer): Buffer {
    if (this.#begun.length === 0) return end;
    const record = Buffer.concat([...this.#begun, end]);
    this.#begun = [];
    this.#length = 0;
    return record;
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#begun.push(piece);
    this.#length += piece.length;
    if (this.#length > longest) throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
  }

  #countQuotes(piece: Buffer, start: number, end: number): void {
    let odd = this.#inQuotes;
    for (let at = start; at < end; at++) if (piece[at] === quote) odd = !odd;
    this.#inQuotes = odd;
  }
}
