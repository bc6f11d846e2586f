import type { FileFormat } from "../dump/formats/formats.js";
import { type ManifestFile, partsOf } from "../dump/manifest/manifest.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";

/** A dump to compare, and the two files of it that are read. */
export interface ReadRun {
  readonly dump: Dump;
  readonly format: FileFormat;
  readonly chunks: ManifestFile;
  readonly childChunks: ManifestFile;
}

/** Opens a run folder. UsageError when the path is none; StopError when its manifest is not sound or names no rows. */
export async function readRun(path: string): Promise<ReadRun> {
  const dump = await openDump(path, "nothing was compared");
  const [chunks, childChunks] = dump.filesOf(["chunks", "child_chunks"], { guarded: true }) ?? [];
  if (chunks && childChunks) return { dump, format: partsOf(chunks).format, chunks, childChunks };
  throw new StopError(
    `${dump.folder} has no data files to compare: its run wrote ${dump.manifest.options.output.formats.join(", ") || "none"}; diff needs jsonl, parquet or csv`,
  );
}
