import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { compressionOf, openDecompressor } from "./compression.js";
import { UnreadableError } from "./unreadable-error.js";

/** Bytes of a file that are read at a time. */
export const pieceBytes = 1 << 20;

/** The bytes of a file, a megabyte at a time. A symlink is not followed. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  yield* file.createReadStream({ highWaterMark: pieceBytes }); // closes the file
}

/** The same, each piece in the same memory: it is valid until the next one. For many files that are small. */
export async function* readInto(memory: Buffer, path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (;;) {
      const { bytesRead } = await file.read(memory, 0, memory.length, null);
      if (bytesRead === 0) return;
      yield memory.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** The bytes of the text in a file, which may be compressed, as its ending says. UnreadableError when that is not so. */
export async function* readTextPieces(path: string): AsyncGenerator<Buffer> {
  yield* textPieces(path, readPieces(path));
}

/** The same of pieces that are read already; the path gives the ending. */
export async function* textPieces(path: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const compression = compressionOf(path);
  if (compression === "none") return yield* pieces;
  const text = openDecompressor(compression, path);
  pipeline(pieces, text, () => {}); // an error comes out below
  try {
    yield* text;
  } catch (error) {
    if (error instanceof Error && "code" in error && /^(Z_|ERR_ZSTD|ZSTD_)/.test(String(error.code)))
      throw new UnreadableError(`cannot be decompressed: it is damaged, or no file of ${compression}`, {
        cause: error,
      });
    throw error;
  }
}
