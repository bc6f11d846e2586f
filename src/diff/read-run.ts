import type { FileFormat } from "../dump/formats/formats.js";
import type { DumpTable } from "../dump/manifest/tables.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";

/** A dump to compare, and the two tables of it that are read. */
export interface ReadRun {
  readonly dump: Dump;
  readonly format: FileFormat;
  readonly chunks: DumpTable;
  readonly childChunks: DumpTable;
}

/** Opens a run folder. UsageError when the path is none; StopError when its manifest is not sound or names no rows. */
export async function readRun(path: string): Promise<ReadRun> {
  const dump = await openDump(path, "nothing was compared");
  const [chunks, childChunks] = dump.tablesOf(["chunks", "child_chunks"], { guarded: true }) ?? [];
  if (chunks && childChunks) return { dump, format: chunks.format, chunks, childChunks };
  throw new StopError(
    `${dump.folder} has no data files to compare: its run wrote ${dump.manifest.options.output.formats.join(", ") || "none"}; diff needs jsonl, parquet or csv`,
  );
}
