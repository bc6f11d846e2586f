import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { RowFile } from "../database/select-file.js";
import { LongestRow } from "../sinks/byte-facts.js";
import type { StagedFile } from "../sinks/sink.js";
import { partsOf } from "../verify/check-manifest.js";
import { readPieces } from "../verify/read-records.js";
import { notSound } from "./read-run.js";

/** A file whose bytes are those that its run wrote. */
export interface CheckedSource extends RowFile {
  readonly rows: number;
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
  // Exact fractions are not compared: reading them takes two to three times as long.
  return { path, format, rows: file.rows, longestLine: longest.bytes, longNumbers: false };
}
