import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../errors.js";
import type { Kind } from "../rows/columns.js";
import { type CheckedManifest, partsOf } from "../verify/check-manifest.js";
import { pickFile } from "./pick-file.js";
import { rewriteRows } from "./rewrite-rows.js";
import type { OpenOptions } from "./serve-options.js";
import type { SoundDump } from "./sound-dump.js";

/** The rows of a kind as JSONL, open to be read. */
export interface OpenRows {
  readonly handle: FileHandle;
  /** The file that the rows come from, as errors name it. */
  readonly name: string;
}

/**
 * Opens the rows of a kind. What is no JSONL is written anew as such, into a file without a name, which is gone when the
 * process ends. StopError when the dump has the rows in no format from which they can be had exactly.
 */
export async function openRows({ folder, manifest }: SoundDump, kind: Kind, options: OpenOptions): Promise<OpenRows> {
  const file = pickFile(manifest, kind);
  if (!file) throw new StopError(`${folder} cannot be served: ${reasonOf(manifest)}`);
  const path = join(folder, file.path);
  const handle =
    partsOf(file).format === "jsonl"
      ? await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
      : await rewriteRows(path, file, options);
  return { handle, name: file.path };
}

function reasonOf({ files, options }: CheckedManifest): string {
  const needs = "a dump is served from jsonl, parquet or csv, best from jsonl";
  if (files.length === 0) return `the run wrote none of its files, only the database; ${needs}`;
  if (options.output.csv_safe) return "the run wrote csv alone, with csv_safe, which is not lossless";
  return `some of its files are missing; ${needs}`;
}
