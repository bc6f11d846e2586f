import { isUtf8 } from "node:buffer";
import type { Problem, ReadRow } from "./row-source.js";
import { RowError, type RowText } from "./row-text.js";

/** The rows of some records, the first of which is row `first`; what is none is told to `problem`. */
export function* readRows(
  records: readonly Buffer[],
  first: number,
  read: (text: string) => RowText,
  problem: Problem,
): Generator<ReadRow> {
  for (const [at, record] of records.entries()) yield readRow(first + at, record, read, problem);
}

function readRow(row: number, record: Buffer, read: (text: string) => RowText, problem: Problem): ReadRow {
  try {
    if (!isUtf8(record)) throw new RowError("is not UTF-8");
    return { row, text: read(record.toString("utf8")) };
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    problem(row, error.message);
    return { row, text: undefined };
  }
}
