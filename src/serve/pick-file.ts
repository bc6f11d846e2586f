import type { Kind } from "../rows/columns.js";
import type { StagedFile } from "../sinks/sink.js";
import { type CheckedManifest, type FileFormat, partsOf } from "../verify/check-manifest.js";

/** Which file of a dump has the rows of a kind, the best format first; undefined where none has them exactly. */
export function pickFile(
  { files, options }: Pick<CheckedManifest, "files" | "options">,
  kind: Kind,
): StagedFile | undefined {
  const exact: readonly FileFormat[] = options.output.csv_safe ? ["jsonl", "parquet"] : ["jsonl", "parquet", "csv"];
  const ofKind = files.filter((file) => partsOf(file).kind === kind);
  return exact.flatMap((format) => ofKind.filter((file) => partsOf(file).format === format))[0];
}
