import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline, type Transform } from "node:stream";
import * as zlib from "node:zlib";
import { StopError } from "../../errors.js";
import { UnreadableError } from "./row-source.js";

/** The bytes of a file. A symlink is not followed. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  yield* file.createReadStream({ highWaterMark: 1 << 20 }); // closes the file
}

/**
 * The bytes of the text in a file, which is compressed if its name ends in `.gz` or `.zst`; `onPiece` gets the bytes of the file.
 * UnreadableError when they are no compressed text. StopError where this Node has no Zstandard.
 */
export async function* readText(path: string, onPiece: (piece: Buffer) => void = () => {}): AsyncGenerator<Buffer> {
  async function* pieces() {
    for await (const piece of readPieces(path)) {
      onPiece(piece);
      yield piece;
    }
  }
  const text = decompressorOf(path);
  if (!text) return yield* pieces();
  pipeline(pieces(), text, () => {}); // an error comes out below
  try {
    yield* text;
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || !/^(Z|ERR_Z)/.test(String(error.code))) throw error;
    throw new UnreadableError(`its compression is broken: ${error.message}`);
  }
}

function decompressorOf(path: string): Transform | undefined {
  if (path.endsWith(".gz")) return zlib.createGunzip();
  if (!path.endsWith(".zst")) return undefined;
  const { createZstdDecompress }: { createGunzip: unknown; createZstdDecompress?: () => Transform } = zlib;
  if (createZstdDecompress) return createZstdDecompress();
  throw new StopError(
    `${path} is compressed with zstd, which needs Node 22.15 or later, and this is ${process.version}`,
  );
}
