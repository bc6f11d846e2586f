import { createHash, type Hash } from "node:crypto";
import { LongNumbers } from "./long-numbers.js";

/** Lines, bytes and hash of a text file, counted while it is written. */
export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string;
  /** Line feeds, which are rows in JSONL. */
  readonly lines: number;
  /** Bytes of the longest line, without the line feed. */
  readonly longestLine: number;
  /** Whether there may be numbers of more digits than a double holds. */
  readonly longNumbers: boolean;
}

/** Counts and hashes a file piece by piece. */
export class ByteFacts {
  readonly #hash: Hash = createHash("sha256");
  readonly #numbers: LongNumbers | undefined;
  #bytes = 0;
  #lines = 0;
  #longest = 0;
  #open = 0;

  /** `looksForNumbers`: whether to look for long numbers, too, which takes as long as all else; if not, there may be some. */
  constructor({ looksForNumbers = true } = {}) {
    this.#numbers = looksForNumbers ? new LongNumbers() : undefined;
  }

  add(piece: Uint8Array): void {
    this.#hash.update(piece);
    this.#numbers?.add(piece);
    this.#bytes += piece.length;
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      this.#lines++;
      this.#longest = Math.max(this.#longest, this.#open + end - start);
      this.#open = 0;
      start = end + 1;
    }
    this.#open += piece.length - start;
  }

  /** The facts of the pieces so far; more may follow. */
  get facts(): FileFacts {
    return {
      bytes: this.#bytes,
      sha256: this.#hash.copy().digest("hex"),
      lines: this.#lines,
      longestLine: this.#longest,
      longNumbers: this.#numbers?.found ?? true,
    };
  }
}

/** Finds the longest row of a text file; in CSV, a line feed between quotes ends none. */
export class LongestRow {
  bytes = 0;
  readonly #quoted: boolean;
  #open = 0;
  #inQuotes = false;

  constructor(quoted: boolean) {
    this.#quoted = quoted;
  }

  add(piece: Uint8Array): void {
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, end + 1)) {
      if (this.#quoted && this.#leavesQuotesOpen(piece.subarray(start, end))) {
        this.#open += end - start;
        start = end;
        continue;
      }
      this.bytes = Math.max(this.bytes, this.#open + end - start);
      this.#open = 0;
      start = end + 1;
    }
    if (this.#quoted) this.#leavesQuotesOpen(piece.subarray(start));
    this.#open += piece.length - start;
    this.bytes = Math.max(this.bytes, this.#open);
  }

  #leavesQuotesOpen(bytes: Uint8Array): boolean {
    for (let at = bytes.indexOf(34); at >= 0; at = bytes.indexOf(34, at + 1)) this.#inQuotes = !this.#inQuotes;
    return this.#inQuotes;
  }
}
