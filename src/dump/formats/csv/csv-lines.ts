import { stringify } from "csv-stringify/sync";

/** Null is empty and unquoted, the empty string is `""`. */
export type CsvCell = string | number | bigint | null;

/** Rows as CSV, without a line feed at the end. `safe` puts an apostrophe before cells that a spreadsheet would run as formulas. */
export function csvLines(rows: readonly (readonly CsvCell[])[], safe = false): string {
  return stringify([...rows], { quoted_match: /^$|\r/, escape_formulas: safe, eof: false });
}
