/** Null is empty and unquoted, the empty string is `""`. */
export type CsvCell = string | number | bigint | null;

/** Text that has to stand in quotes, by RFC 4180. */
const special = /[",\r\n]/;

/** Starts of cells that a spreadsheet runs as formulas, also in full width: https://owasp.org/www-community/attacks/CSV_Injection */
const formula = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** A row as CSV, without the line feed at its end. `safe` puts an apostrophe before formulas; a number is none. */
export function csvLine(cells: readonly CsvCell[], safe = false): string {
  return cells.map((cell) => textOf(cell, safe)).join(",");
}

function textOf(cell: CsvCell, safe: boolean): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  const text = safe && formula.test(cell) ? `'${cell}` : cell;
  return text === "" || special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
