import { columns, type Kind } from "../../../rows/columns.js";
import { readTextPieces } from "../../files/read-pieces.js";
import { UnreadableError } from "../../files/unreadable-error.js";
import type { ReadRows } from "../format.js";
import { jsonLine } from "../json-line.js";
import { splitRecords } from "./split-records.js";

/** The rows of CSV files. DuckDB would need many times the memory of a long row. */
export const readRows: ReadRows = async function* (kind, { paths }) {
  for (const path of paths) yield* readFile(kind, path);
};

async function* readFile(kind: Kind, path: string): AsyncGenerator<Iterable<string>> {
  const width = columns[kind].length;
  let row = -1; // the header
  for await (const records of splitRecords(readTextPieces(path))) {
    const lines: string[] = [];
    for (const record of records) {
      row++;
      const cells = cellsOf(record.toString("utf8"), row);
      if (cells.length !== width) throw new UnreadableError(`row ${row} has ${cells.length} cells instead of ${width}`);
      if (row > 0) lines.push(jsonLine(kind, cells));
    }
    yield lines;
  }
}

/** The cells of a record; an empty one without quotes is null. */
function cellsOf(record: string, row: number): readonly (string | null)[] {
  const cells: (string | null)[] = [];
  for (let at = 0; at <= record.length; ) {
    const isQuoted = record[at] === '"';
    const end = isQuoted ? endOfQuoted(record, at) : endOfBare(record, at);
    if (end < 0 || (end < record.length && record[end] !== ","))
      throw new UnreadableError(`row ${row} is no CSV at character ${at + 1}`);
    cells.push(isQuoted ? record.slice(at + 1, end - 1).replaceAll('""', '"') : record.slice(at, end) || null);
    at = end + 1;
  }
  return cells;
}

/** The place behind the closing quote; -1 where there is none. */
function endOfQuoted(record: string, start: number): number {
  for (let at = record.indexOf('"', start + 1); at >= 0; at = record.indexOf('"', at + 2))
    if (record[at + 1] !== '"') return at + 1;
  return -1;
}

function endOfBare(record: string, start: number): number {
  const comma = record.indexOf(",", start);
  return comma < 0 ? record.length : comma;
}
