import { type Compression, compressionOf } from "../../files/compression.js";
import { isKind, type Kind } from "../../rows/columns.js";
import { fileName } from "./format.js";
import { type FileFormat, isFileFormat } from "./formats.js";

/** The contents of a dump file, according to its name. */
export interface FileParts {
  readonly kind: Kind;
  readonly format: FileFormat;
  /** The dataset of the rows; undefined if the file holds all datasets. */
  readonly dataset: string | undefined;
  readonly compression: Compression;
}

/** Parses the path of a file in a run folder; undefined for any other path. */
export function partsOfName(path: string): FileParts | undefined {
  const names = /^(\w+)\.(\w+)(?:\/dataset_id=([^/]+)\/part-0\.(\w+))?(?:\.gz|\.zst)?$/.exec(path);
  const [, kind = "", format = "", folder, inner = format] = names ?? [];
  if (!isKind(kind) || !isFileFormat(format) || inner !== format) return undefined;
  const dataset = folder === undefined ? undefined : datasetOf(folder);
  const parts = { kind, format, dataset, compression: compressionOf(path) };
  return fileName(parts) === path ? parts : undefined;
}

function datasetOf(folder: string): string {
  try {
    return decodeURIComponent(folder);
  } catch {
    return folder;
  }
}
