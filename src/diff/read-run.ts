import { StopError } from "../errors.js";
import type { StagedFile } from "../sinks/sink.js";
import { type CheckedManifest, type FileFormat, partsOf } from "../verify/check-manifest.js";
import { contradictionsIn } from "../verify/contradictions.js";
import { Findings } from "../verify/findings.js";
import { readDump } from "../verify/read-dump.js";

/** A run folder whose manifest can be relied on, and the two files of it that are compared. */
export interface ReadRun {
  readonly folder: string;
  readonly manifest: CheckedManifest;
  readonly format: FileFormat;
  readonly chunks: StagedFile;
  readonly childChunks: StagedFile;
}

/** The first that a run has is read: JSONL loses nothing and is the quickest, CSV may be guarded. */
const preferred: readonly FileFormat[] = ["jsonl", "parquet", "csv"];

/** Opens a run folder. UsageError when the path is none; StopError when its manifest is not sound or names no rows. */
export async function readRun(path: string): Promise<ReadRun> {
  const findings = new Findings();
  const { folder, manifest } = await readDump(path, findings);
  if (!manifest) throw notSound(folder, findings.list.map(({ file, message }) => `${file}: ${message}`).join("\n  "));
  const [contradiction] = contradictionsIn(manifest);
  if (contradiction !== undefined) throw notSound(folder, `manifest.json: ${contradiction}`);
  for (const format of preferred) {
    const fileOf = (kind: string) =>
      manifest.files.find((file) => partsOf(file).kind === kind && partsOf(file).format === format);
    const [chunks, childChunks] = [fileOf("chunks"), fileOf("child_chunks")];
    if (chunks && childChunks) return { folder, manifest, format, chunks, childChunks };
  }
  throw new StopError(
    `${folder} has no files of rows to compare: its run wrote ${manifest.options.output.formats.join(", ") || "none"}, and jsonl, parquet or csv is needed`,
  );
}

/** Why a dump is not compared, and what tells more. */
export function notSound(folder: string, reason: string, cause?: unknown): StopError {
  const hint = `kbdump verify ${/^[\w./@%+=:,-]+$/.test(folder) ? folder : JSON.stringify(folder)} tells everything that is wrong with it`;
  return new StopError(`${folder} is not sound, so nothing was compared:\n  ${reason}\n${hint}`, { cause });
}
