import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import { StopError } from "../errors.js";

const zstd: ZstdOfNode = zlib;

/** The ways in which text files are compressed, each with the ending of its files. */
const endings = { gzip: ".gz", zstd: ".zst" } as const;

export type Compression = "none" | keyof typeof endings;

/** Files of rows are 3 to 4 % larger than with level 6, the default of zlib, and take two thirds of the time. */
const gzipLevel = 4;

/** Bytes that come out at a time, as far as there are as many. */
const chunkSize = 1 << 18;

/** ZSTD_c_checksumFlag in zstd.h: the file ends with a checksum of its text, as one of gzip does. The constants of Node 20 lack it. */
const zstdChecksum = 201;

/** Zstandard came to Node with 22.15: https://nodejs.org/api/zlib.html#zlibcreatezstdcompressoptions */
interface ZstdOfNode {
  readonly createGzip: unknown;
  readonly createZstdCompress?: (options: object) => Transform;
  readonly createZstdDecompress?: (options: object) => Transform;
}

/** A sentence where this Node cannot read and write a compression; undefined where it can. */
export function missingCompression(compression: Compression): string | undefined {
  if (compression !== "zstd" || zstd.createZstdCompress) return undefined;
  return `zstd needs Node 22.15 or later, and this is ${process.version}`;
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
  if (compression === "gzip") return zlib.createGzip({ level: gzipLevel, chunkSize });
  return zstd.createZstdCompress?.({ params: { [zstdChecksum]: 1 }, chunkSize }) ?? refuse(compression, "a file");
}

/** Gives the text of compressed bytes. StopError where Node cannot. */
export function openDecompressor(compression: Exclude<Compression, "none">, path: string): Transform {
  if (compression === "gzip") return zlib.createGunzip({ chunkSize });
  return zstd.createZstdDecompress?.({ chunkSize }) ?? refuse(compression, path);
}

function refuse(compression: Compression, path: string): never {
  throw new StopError(`${path} cannot be read: ${missingCompression(compression)}; run kbdump with a newer Node`);
}
