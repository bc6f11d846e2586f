import { columns, type Kind } from "../../rows/columns.js";
import { shortText } from "./long-text.js";
import { readRecords } from "./read-records.js";
import { readRows } from "./read-row.js";
import { type RowSource, UnreadableError } from "./row-source.js";
import { RowError, type RowText } from "./row-text.js";

/** The rows of a CSV file by the letter of RFC 4180, below its header. An empty cell without quotes is null. */
export function csvRows(name: string, kind: Kind, path: string): RowSource {
  const header = Buffer.from(columns[kind].map((column) => column.name).join(","));
  return {
    name,
    kind,
    async *read(problem) {
      let first = 0; // the header
      for await (const records of readRecords(path, true)) {
        const [top] = records;
        if (first === 0 && top?.equals(header) === false) throw new UnreadableError("has another header");
        const rows = first === 0 ? records.slice(1) : records;
        yield readRows(rows, Math.max(first, 1), (text) => rowTextFromCsv(kind, text), problem);
        first += records.length;
      }
      if (first === 0) throw new UnreadableError("has no header");
    },
  };
}

/** The cells of one record, long texts short; RowError as with `csvCells`. */
function rowTextFromCsv(kind: Kind, record: string): RowText {
  return csvCells(kind, record).map((cell, at) =>
    cell !== null && columns[kind][at]?.type === "text" ? shortText(cell) : cell,
  );
}

/** The cells of one record as they are; RowError when it is none, or has other than as many cells as there are columns. */
function csvCells(kind: Kind, record: string): RowText {
  const cells: (string | null)[] = [];
  for (let at = 0; at <= record.length; ) {
    const end = record[at] === '"' ? endOfQuoted(record, at) : endOfBare(record, at);
    if (end < record.length && record[end] !== ",") throw new RowError(`is not valid CSV at character ${end + 1}`);
    cells.push(
      record[at] === '"' ? record.slice(at + 1, end - 1).replaceAll('""', '"') : record.slice(at, end) || null,
    );
    at = end + 1;
  }
  const expected = columns[kind];
  if (cells.length !== expected.length) throw new RowError(`has ${cells.length} cells instead of ${expected.length}`);
  return cells;
}

function endOfQuoted(record: string, start: number): number {
  for (let at = record.indexOf('"', start + 1); at >= 0; at = record.indexOf('"', at + 2)) {
    if (record[at + 1] !== '"') return at + 1;
  }
  throw new RowError(`has an unclosed quote at character ${start + 1}`);
}

function endOfBare(record: string, start: number): number {
  const comma = record.indexOf(",", start);
  const end = comma < 0 ? record.length : comma;
  if (/["\r]/.test(record.slice(start, end))) throw new RowError(`is not valid CSV at character ${start + 1}`);
  return end;
}
