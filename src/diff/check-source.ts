import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { StagedFile } from "../sinks/sink.js";
import { type FileFormat, partsOf } from "../verify/check-manifest.js";
import { readPieces } from "../verify/read-records.js";
import { notSound } from "./read-run.js";

/** A file whose bytes are those that its run wrote. */
export interface CheckedSource {
  readonly path: string;
  readonly format: FileFormat;
  readonly rows: number;
  /** Bytes of the longest line, in CSV of the longest row. */
  readonly longestLine: number;
}

/** Reads every byte of a file. StopError when it is not the file that the manifest lists. */
export async function checkSource(
  folder: string,
  file: StagedFile,
  onBytes: (bytes: number) => void,
): Promise<CheckedSource> {
  const path = join(folder, file.path);
  const wrong = (reason: string) => notSound(folder, `${file.path}: ${reason}`);
  const facts = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw wrong("is not there");
  });
  if (facts.isSymbolicLink()) throw wrong("is a symlink, which is not followed");
  if (!facts.isFile()) throw wrong("is no regular file");
  if (facts.size !== file.bytes) throw wrong(`has ${facts.size} bytes instead of ${file.bytes}`);
  const { format } = partsOf(file);
  const hash = createHash("sha256");
  const longest = new LongestRow(format === "csv");
  for await (const piece of readPieces(path)) {
    hash.update(piece);
    if (format !== "parquet") longest.add(piece);
    onBytes(piece.length);
  }
  if (hash.digest("hex") !== file.sha256) throw wrong("has another SHA-256 than the manifest says");
  return { path, format, rows: file.rows, longestLine: longest.bytes };
}

/** Finds the longest row of a text file; in CSV, a line feed between quotes ends none. */
class LongestRow {
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
