import type { Listed } from "../demo/knowledge.js";
import type { Kind } from "../rows/columns.js";
import type { RawRecord, Row } from "../rows/row.js";
import { recordFromRow } from "../rows/row-from-record.js";
import { NumberList, noRow, type RowFile, rowOfLine } from "./row-file.js";
import type { Lines, RowRange } from "./row-index.js";

/** Bytes of rows that are looked through at a time. */
const pieceSize = 4_000_000;

/** The records of rows, as a service could have sent them. */
export async function recordsAt(file: RowFile, kind: Kind, { first, end }: RowRange): Promise<readonly Listed[]> {
  return recordsOfLines(file, kind, { first, lines: await file.lines(first, end) });
}

/** The records of lines that were read already. */
export function recordsOfLines({ name }: RowFile, kind: Kind, { first, lines }: Lines): readonly Listed[] {
  return lines.map((line, at) => recordOf(name, kind, line, first + at + 1));
}

/** The records of some rows, given by their numbers in order. */
export async function recordsOfRows(file: RowFile, kind: Kind, rows: readonly number[]): Promise<readonly Listed[]> {
  const ranges: { first: number; end: number }[] = [];
  for (const row of rows) {
    const last = ranges.at(-1);
    if (last?.end === row) last.end++;
    else ranges.push({ first: row, end: row + 1 });
  }
  return (await Promise.all(ranges.map((range) => recordsAt(file, kind, range)))).flat();
}

/** The rows of a range that match, by their numbers; memory is that of a few megabytes of rows. Their numbers may be rounded. */
export async function matchingRows(
  file: RowFile,
  { first, end }: RowRange,
  matches: (row: Row) => boolean,
): Promise<NumberList> {
  const found = new NumberList(4);
  for (let at = first; at < end; ) {
    const pieceEnd = endOfPiece(file, { first: at, end });
    for (const line of await file.lines(at, pieceEnd)) {
      if (matches(rowOfLine(line, file.name, at + 1, JSON.parse))) found.push(at);
      at++;
    }
  }
  return found;
}

/** Up to some megabytes of rows, and at least one. */
function endOfPiece(file: RowFile, range: RowRange): number {
  let end = range.first + 1;
  while (end < range.end && file.bytes(range.first, end + 1) <= pieceSize) end++;
  return end;
}

function recordOf(fileName: string, kind: Kind, line: Buffer, number: number): Listed {
  const record = recordFromRow(kind, rowOfLine(line, fileName, number));
  if (isListed(record)) return record;
  throw noRow(fileName, number, "has no id");
}

function isListed(record: RawRecord): record is Listed {
  return typeof record.id === "string";
}
