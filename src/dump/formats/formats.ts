import type { Format } from "./format.js";

/** Every file format of a dump, in writing order. Each has one file and one line here. */
// biome-ignore format: a line each
export const formats = {
  jsonl: { load: () => import("./jsonl.js"), isText: true },
  csv: { load: () => import("./csv.js"), isExact: ({ csv_safe }) => !csv_safe, isText: true, size: 0.8 },
  parquet: { load: () => import("./parquet.js"), size: 0.4 },
} satisfies Readonly<Record<string, Format>>;

export type FileFormat = keyof typeof formats;

/** Whether a text is the name of a format. */
export function isFileFormat(name: string): name is FileFormat {
  return Object.hasOwn(formats, name);
}

/** The names of the formats, in their order. */
export const fileFormats: readonly FileFormat[] = Object.keys(formats).filter(isFileFormat);

export function formatOf(name: FileFormat): Format {
  return formats[name];
}
