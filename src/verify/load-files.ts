import type { Kind } from "../rows/columns.js";
import type { StagedFile } from "../sinks/sink.js";
import { countOf } from "../words.js";
import { type CheckedManifest, type FileFormat, partsOf } from "./check-manifest.js";
import { fileRows } from "./file-rows.js";
import type { Findings } from "./findings.js";
import type { Loaded, RowStore } from "./row-store.js";
import type { Connection } from "./sql-rows.js";

/** A file whose rows are in the store. */
export interface LoadedFile extends Loaded {
  readonly format: FileFormat;
}

/** Reads the rows of the files of a run folder, as many as the manifest says; files that cannot be read are left out. */
export async function loadFiles(
  reader: Connection,
  store: RowStore,
  folder: string,
  files: readonly StagedFile[],
  findings: Findings,
): Promise<readonly LoadedFile[]> {
  const loaded: LoadedFile[] = [];
  for (const file of files) {
    const rows = await store.load(fileRows(reader, folder, file), findings);
    if (!rows) continue;
    if (rows.rows !== file.rows)
      findings.add(file.path, "rows", `has ${countOf(rows.rows, "row")}, the manifest says ${file.rows}`);
    loaded.push({ ...rows, ...partsOf(file) });
  }
  return loaded;
}

/** Whether apostrophes may stand before formulas, which no other format has. */
export function isGuarded(rows: Loaded | LoadedFile, { options }: CheckedManifest): boolean {
  return options.output.csv_safe && "format" in rows && rows.format === "csv";
}

/** The file of every kind that the others are compared with: the first that has as many rows as there should be. */
export function firstOfKinds(files: readonly LoadedFile[], { counts }: CheckedManifest): ReadonlyMap<Kind, LoadedFile> {
  const whole = files.filter(({ source, rows }) => rows === counts[source.kind]);
  return new Map([...files.toReversed(), ...whole.toReversed()].map((file) => [file.source.kind, file]));
}
