import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { LongNumbers } from "./long-numbers.js";

/** What a joined file turned out to be, counted from its bytes. */
export interface JoinedFile {
  readonly bytes: number;
  readonly sha256: string;
  /** Line feeds, which are rows in JSONL. */
  readonly lines: number;
  /** Bytes of the longest line, without the line feed. */
  readonly longestLine: number;
  /** Whether there may be numbers of more digits than a double holds. */
  readonly longNumbers: boolean;
}

/** Writes `head` and then the parts, one after the other, to a new file that only its owner can read; flushed to disk. */
export async function joinParts(target: string, head: string, parts: readonly string[]): Promise<JoinedFile> {
  const count = new LineCount();
  const numbers = new LongNumbers();
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await open(target, "w", 0o600);
  try {
    const write = async (piece: Uint8Array) => {
      hash.update(piece);
      count.add(piece);
      numbers.add(piece);
      bytes += piece.length;
      await file.writeFile(piece);
    };
    if (head) await write(Buffer.from(head));
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (const part of parts) await readPieces(part, buffer, write);
    await file.sync();
  } finally {
    await file.close();
  }
  const { lines, longest: longestLine } = count;
  return { bytes, sha256: hash.digest("hex"), lines, longestLine, longNumbers: numbers.found };
}

/** Bytes and hash of a file, read in pieces. */
export async function fingerprint(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  await readPieces(path, Buffer.allocUnsafe(1 << 20), async (piece) => {
    hash.update(piece);
    bytes += piece.length;
  });
  return { bytes, sha256: hash.digest("hex") };
}

async function readPieces(path: string, buffer: Buffer, take: (piece: Uint8Array) => Promise<void>): Promise<void> {
  const file = await open(path, "r");
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      await take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

class LineCount {
  lines = 0;
  longest = 0;
  #open = 0;

  add(piece: Uint8Array): void {
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      this.lines++;
      this.longest = Math.max(this.longest, this.#open + end - start);
      this.#open = 0;
      start = end + 1;
    }
    this.#open += piece.length - start;
  }
}
