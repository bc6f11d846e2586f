import type { FormatModules } from "./format.js";

/** Every format of the files of a dump, in the order in which they are written: one folder and one line each. */
// biome-ignore format: a line each
export const formats = {
  jsonl: { write: () => import("./jsonl/write.js"), read: () => import("./jsonl/read.js"), sql: () => import("./jsonl/sql.js"), isText: true },
  csv: { write: () => import("./csv/write.js"), read: () => import("./csv/read.js"), sql: () => import("./csv/sql.js"), isExact: ({ csv_safe }) => !csv_safe, isText: true, size: 0.8 },
  parquet: { write: () => import("./parquet/write.js"), read: () => import("./parquet/read.js"), sql: () => import("./parquet/sql.js"), size: 0.4 },
} satisfies Readonly<Record<string, FormatModules>>;

export type FileFormat = keyof typeof formats;

/** Whether a text is the name of a format. */
export function isFileFormat(name: string): name is FileFormat {
  return Object.hasOwn(formats, name);
}

/** The names of the formats, in their order. */
export const fileFormats: readonly FileFormat[] = Object.keys(formats).filter(isFileFormat);

/** The code of a format. */
export function modulesOf(format: FileFormat): FormatModules {
  return formats[format];
}
