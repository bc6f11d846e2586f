import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline, type Transform } from "node:stream";
import * as zlib from "node:zlib";
import { UnreadableError } from "./rows.js";

/** The bytes of a file. A symlink is not followed. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  yield* file.createReadStream({ highWaterMark: 1 << 18 }); // closes the file
}

/**
 * The bytes of the text in a file, which is compressed if its name ends in `.gz` or `.zst`. UnreadableError, at its end at the
 * latest, when the file is anything but one whole compressed text. StopError where this Node has no Zstandard.
 */
export async function* readText(path: string): AsyncGenerator<Buffer> {
  const compressed = compressions.find(({ ending }) => path.endsWith(ending));
  if (compressed) yield* decompressed(path, compressed);
  else yield* readPieces(path);
}

interface Compressed {
  readonly ending: string;
  readonly name: string;
  /** The bytes that every such file begins with. */
  readonly magic: Buffer;
  readonly open: (options: { readonly chunkSize: number }) => Transform & { readonly bytesWritten: number };
}

/** The magic numbers are those of RFC 1952, section 2.3.1, and of RFC 8878, section 3.1.1. */
const compressions: readonly Compressed[] = [
  { ending: ".gz", name: "gzip", magic: Buffer.from("1f8b", "hex"), open: zlib.createGunzip },
  { ending: ".zst", name: "zstd", magic: Buffer.from("28b52ffd", "hex"), open: zlib.createZstdDecompress },
];

async function* decompressed(path: string, { name, magic, open }: Compressed): AsyncGenerator<Buffer> {
  const text = open({ chunkSize: 1 << 18 });
  let [bytes, textBytes, isRead, end] = [0, 0, false, Buffer.alloc(0)];
  async function* pieces() {
    for await (const piece of readPieces(path)) {
      if (bytes === 0 && !piece.subarray(0, magic.length).equals(magic))
        throw new UnreadableError(`is not compressed with ${name}, as its name says`);
      bytes += piece.length;
      end = Buffer.concat([end, piece.subarray(-4)]).subarray(-4);
      yield piece;
    }
    isRead = true;
  }
  pipeline(pieces(), text, () => {}); // an error comes out below
  try {
    for await (const piece of text) {
      textBytes += piece.length;
      yield piece;
    }
  } catch (error) {
    throw plainError(error);
  }
  if (!isRead || text.bytesWritten < bytes) throw new UnreadableError(somethingBehind);
  if (name === "gzip" && end.readUInt32LE() !== textBytes % 2 ** 32)
    throw new UnreadableError("holds several compressed texts, one behind the other, where a run writes one");
}

const somethingBehind = "has something behind the end of its compressed text";

/** The errors of zlib and Zstandard in words; any other as it is. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || !/^(Z|ERR_Z)/.test(String(error.code))) return error;
  if (error.code === "Z_BUF_ERROR") return new UnreadableError("ends in the middle of its compressed text");
  const isBehind = error.message === "incorrect header check" || error.code === "ZSTD_error_prefix_unknown";
  return new UnreadableError(isBehind ? somethingBehind : "has a damaged compressed text");
}
