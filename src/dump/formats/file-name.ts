import type { Kind } from "../../rows/columns.js";
import { type Compression, endingOf } from "../files/compression.js";

/** The kinds whose files are divided by `output.partition: dataset`; the others are small. */
export const partitionedKinds: readonly Kind[] = ["chunks", "child_chunks"];

/** A file, and the dataset that its rows are of; undefined where it holds those of all. */
interface NamedFile {
  readonly kind: Kind;
  readonly format: string;
  readonly dataset: string | undefined;
  readonly compression: Compression;
}

/**
 * The path of a file in a run folder: `chunks.jsonl`, `chunks.csv.gz`, or in a folder for each dataset, as Hive names partitions:
 * `chunks.parquet/dataset_id=<id>/part-0.parquet`.
 */
export function fileName({ kind, format, dataset, compression }: NamedFile): string {
  const ending = `${format}${endingOf(compression)}`;
  if (dataset === undefined) return `${kind}.${ending}`;
  return `${kind}.${format}/${folderName(dataset)}/part-0.${ending}`;
}

/** Bytes of the longest name that ext4, XFS, APFS, NTFS and others take. */
const longestName = 255;

/** Whether the id of a dataset is so long that no folder can be named after it. */
export function isTooLongForFolder(dataset: string): boolean {
  return Buffer.byteLength(folderName(dataset)) > longestName;
}

/**
 * Percent signs stand for ASCII characters that are no letters, digits, `_`, `.` or `-`, as in Hive's names of folders. Other
 * characters stay: readers such as Spark take a percent sign for one character, never for a byte of UTF-8.
 */
function folderName(dataset: string): string {
  const code = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
  return `dataset_id=${dataset.replace(/[^\w.\u0080-\uffff-]/g, (character) => `%${code(character)}`)}`;
}
