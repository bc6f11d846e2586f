import { createHash, type Hash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Lines, bytes and hash of a text file, counted while it is written. */
export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string;
  /** The number of line feeds; in JSONL, of rows. */
  readonly lines: number;
  /** Bytes of the longest line, without the line feed. */
  readonly longestLine: number;
  /** Whether the text may have numbers with more digits than a double holds. */
  readonly longNumbers: boolean;
}

/** Counts the lines and bytes of a text piece by piece. */
export class LineFacts {
  readonly #numbers: LongNumbers | undefined;
  #bytes = 0;
  #lines = 0;
  #longest = 0;
  #open = 0;

  /** `looksForNumbers`: whether to look for long numbers, which doubles the time. If not, `longNumbers` is true. */
  constructor({ looksForNumbers = true } = {}) {
    this.#numbers = looksForNumbers ? new LongNumbers() : undefined;
  }

  add(piece: Uint8Array): void {
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

  /** The facts of the pieces so far. */
  get facts(): Omit<FileFacts, "sha256"> {
    const longNumbers = this.#numbers?.found ?? true;
    return { bytes: this.#bytes, lines: this.#lines, longestLine: this.#longest, longNumbers };
  }
}

/** Counts and hashes a file piece by piece. */
export class ByteFacts extends LineFacts {
  readonly #hash: Hash = createHash("sha256");

  override add(piece: Uint8Array): void {
    this.#hash.update(piece);
    super.add(piece);
  }

  override get facts(): FileFacts {
    const { bytes, lines, longestLine, longNumbers } = super.facts;
    return { bytes, sha256: this.#hash.copy().digest("hex"), lines, longestLine, longNumbers };
  }
}

/** Finds the longest row of a text file. In CSV, a quoted line feed does not end a row. */
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

/** A number with at least this many digits and points counts as long: it may not fit a double. */
const long = 16;

const nothing = new Uint8Array();

/** Looks for long numbers in the pieces of a JSON file. Checks only every 16th byte, because every long number covers one of them. */
export class LongNumbers {
  found = false;
  /** The end of the previous pieces, if a number may continue in the next piece. */
  #before: Uint8Array = nothing;

  add(piece: Uint8Array): void {
    if (this.found) return;
    const seam = this.#before.length > 0 && Buffer.concat([this.#before, piece.subarray(0, long)]);
    this.found = hasLongNumber(piece) || (seam !== false && hasLongNumber(seam));
    const last = piece.at(-1);
    const mayContinue = last === undefined || isDigit(last) || startsNumber(last);
    this.#before = mayContinue ? Buffer.concat([this.#before, piece.subarray(-long - 1)]).subarray(-long - 1) : nothing;
  }
}

function hasLongNumber(bytes: Uint8Array): boolean {
  for (let at = long - 1; at < bytes.length; at += long) {
    if (!isDigit(bytes[at])) continue;
    let first = at;
    while (isDigit(bytes[first - 1])) first--;
    if (!startsNumber(bytes[first - 1])) continue;
    let last = at;
    while (isDigit(bytes[last + 1])) last++;
    if (last - first + 1 >= long) return true;
  }
  return false;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 46 && byte <= 57 && byte !== 47;
}

/** `:`, `,`, `[` or `-`. These characters precede numbers, but rarely digits in texts and hashes. */
function startsNumber(byte: number | undefined): boolean {
  return byte === 58 || byte === 44 || byte === 91 || byte === 45;
}

const pieceBytes = 1 << 20;

/** Whether two files have the same bytes. Does not follow links. Rejects with the reason of the signal if aborted. */
export async function haveSameBytes(one: string, other: string, signal: AbortSignal): Promise<boolean> {
  const left = await openPlain(one);
  try {
    const right = await openPlain(other);
    try {
      return await compare(left, right, signal);
    } finally {
      await right.close();
    }
  } finally {
    await left.close();
  }
}

const openPlain = (path: string) => open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);

async function compare(left: FileHandle, right: FileHandle, signal: AbortSignal): Promise<boolean> {
  const [these, those] = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)];
  for (;;) {
    signal.throwIfAborted();
    const [found, wanted] = await Promise.all([fill(left, these), fill(right, those)]);
    if (!these.subarray(0, found).equals(those.subarray(0, wanted))) return false;
    if (found < pieceBytes) return true;
  }
}

/** Reads until the buffer is full or the file ends, because a network drive may return fewer bytes than requested. */
async function fill(file: FileHandle, buffer: Buffer): Promise<number> {
  for (let length = 0; ; ) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
    length += bytesRead;
    if (bytesRead === 0 || length === buffer.length) return length;
  }
}
