import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { StopError } from "../../errors.js";

/** The ways in which text files are compressed, each with the ending of its files. */
const endings = { gzip: ".gz", zstd: ".zst" } as const;

export type Compression = "none" | keyof typeof endings;

/** Zstandard came to Node with 22.15: https://nodejs.org/api/zlib.html#zlibcreatezstdcompressoptions */
interface ZstdOfNode {
  readonly createGzip: () => Transform;
  readonly createZstdCompress?: () => Transform;
  readonly createZstdDecompress?: () => Transform;
}
const zstd: ZstdOfNode = zlib;

/** A sentence where this Node cannot read and write a compression; undefined where it can. */
export function missingCompression(compression: Compression): string | undefined {
  if (compression !== "zstd" || zstd.createZstdCompress) return undefined;
  return `zstd needs Node 22.15 or later, and this is ${process.version}; gzip works with every version`;
}

/** The ending of a compressed file; nothing for one that is not. */
export function endingOf(compression: Compression): string {
  return compression === "none" ? "" : endings[compression];
}

/** The compression of a file, by the ending of its name. */
export function compressionOf(path: string): Compression {
  if (path.endsWith(endings.gzip)) return "gzip";
  return path.endsWith(endings.zstd) ? "zstd" : "none";
}

/** Compresses text; the same version of the library gives the same bytes. StopError where Node cannot. */
export function openCompressor(compression: Exclude<Compression, "none">): Transform {
  if (compression === "gzip") return zlib.createGzip();
  return zstd.createZstdCompress?.() ?? refuse(compression);
}

/** Gives the text of compressed bytes. StopError where Node cannot. */
export function openDecompressor(compression: Exclude<Compression, "none">): Transform {
  if (compression === "gzip") return zlib.createGunzip();
  return zstd.createZstdDecompress?.() ?? refuse(compression);
}

function refuse(compression: Compression): never {
  throw new StopError(missingCompression(compression) ?? `${compression} is not known`);
}
