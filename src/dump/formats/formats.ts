import { type Compression, compressionOf } from "../../files/compression.js";
import { isKind, type Kind } from "../../rows/columns.js";
import { type Format, fileName, type TextFormat } from "./format.js";
import { jsonlText } from "./jsonl.js";

/** Every format of the files of a dump, in the order in which they are written: one file and one line each. */
// biome-ignore format: a line each
export const formats = {
  jsonl: { load: () => import("./jsonl.js"), isText: true },
  csv: { load: () => import("./csv.js"), isExact: ({ csv_safe }) => !csv_safe, isText: true, size: 0.8 },
  parquet: { load: () => import("./parquet.js"), size: 0.4 },
} satisfies Readonly<Record<string, Format>>;

export type FileFormat = keyof typeof formats;

/** Whether a text is the name of a format. */
function isFileFormat(name: string): name is FileFormat {
  return Object.hasOwn(formats, name);
}

/** The names of the formats, in their order. */
export const fileFormats: readonly FileFormat[] = Object.keys(formats).filter(isFileFormat);

/** What is known of a format, and how its code is loaded. */
export function formatOf(name: FileFormat): Format {
  return formats[name];
}

/** The text formats in which rows are written while the crawl goes on: JSONL always, as the others are loaded from it. */
export async function openTexts(asked: readonly string[], csvSafe: boolean): Promise<readonly TextFormat[]> {
  const others: TextFormat[] = [];
  for (const name of fileFormats.filter((format) => asked.includes(format) && format !== jsonlText.format)) {
    const { openText } = await formatOf(name).load();
    if (openText) others.push(openText({ csvSafe }));
  }
  return [jsonlText, ...others];
}

/** The rows that a file of a dump holds, and how. */
export interface FileParts {
  readonly kind: Kind;
  readonly format: FileFormat;
  /** The dataset that the rows are of; undefined where the file holds those of all. */
  readonly dataset: string | undefined;
  readonly compression: Compression;
}

/** The parts of the path of a file in a run folder; undefined for any other path. */
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
