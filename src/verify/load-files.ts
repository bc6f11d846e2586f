import type { Connection } from "../duckdb/open-duckdb.js";
import type { Manifest, ManifestFile } from "../dump/manifest/manifest.js";
import { tablesOf } from "../dump/manifest/tables.js";
import type { Kind } from "../rows/columns.js";
import { countOf } from "../words.js";
import type { Findings } from "./findings.js";
import { tableRows } from "./readers/table-rows.js";
import type { Loaded, RowStore } from "./row-store.js";

/** A file whose rows are in the store. */
export interface LoadedFile extends Loaded {
  readonly format: string;
}

/**
 * Reads the rows of the files of a run folder, as many as the manifest says. Files that cannot be read, and those of a format
 * without a reader, are left out.
 */
export async function loadFiles(
  reader: Connection,
  store: RowStore,
  folder: string,
  files: readonly ManifestFile[],
  findings: Findings,
): Promise<readonly LoadedFile[]> {
  const loaded: LoadedFile[] = [];
  for (const table of tablesOf(files)) {
    const source = tableRows(reader, folder, table);
    const rows = source && (await store.load(source, findings));
    if (!rows) continue;
    if (rows.rows !== table.rows)
      findings.add(table.path, "rows", `has ${countOf(rows.rows, "row")}, the manifest says ${table.rows}`);
    loaded.push({ ...rows, format: table.format });
  }
  return loaded;
}

/** Whether apostrophes may stand before formulas, which no other format has. */
export function isGuarded(rows: Loaded | LoadedFile, { options }: Manifest): boolean {
  return options.output.csv_safe && "format" in rows && rows.format === "csv";
}

/** The file of every kind that the others are compared with: the first that has as many rows as there should be. */
export function firstOfKinds(files: readonly LoadedFile[], { counts }: Manifest): ReadonlyMap<Kind, LoadedFile> {
  const whole = files.filter(({ source, rows }) => rows === counts[source.kind]);
  return new Map([...files.toReversed(), ...whole.toReversed()].map((file) => [file.source.kind, file]));
}
