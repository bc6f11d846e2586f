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
