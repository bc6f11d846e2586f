import type { Connection } from "../duckdb/open-duckdb.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import type { DumpTable } from "../dump/manifest/tables.js";
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
 * Reads the rows of the tables of a run folder, as many as the manifest says. Those that cannot be read, and those of a format
 * without a reader, are left out.
 */
export async function loadFiles(
  reader: Connection,
  store: RowStore,
  folder: string,
  tables: readonly DumpTable[],
  findings: Findings,
): Promise<readonly LoadedFile[]> {
  const loaded: LoadedFile[] = [];
  for (const table of tables) {
    const source = tableRows(reader, folder, table);
    const rows = source && (await store.load(source, findings));
    if (!rows) continue;
    checkRowCounts(table, rows, findings);
    loaded.push({ ...rows, format: table.format });
  }
  return loaded;
}

function checkRowCounts({ files }: DumpTable, { source, rows }: Loaded, findings: Findings): void {
  const found = source.files?.() ?? [{ name: source.name, rows }];
  for (const [at, { name, rows }] of found.entries()) {
    const listed = files[at]?.rows;
    if (rows !== listed) findings.add(name, "rows", `has ${countOf(rows, "row")}, the manifest says ${listed}`);
  }
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
