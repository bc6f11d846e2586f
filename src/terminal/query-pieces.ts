import { type CsvCell, csvLines } from "../dump/formats/csv.js";
import type { QueryColumn, QueryResult, QueryRow } from "../query/run-query.js";
import { plainText } from "./query-table.js";
import { jsonLine } from "./text.js";

type Pieces = AsyncGenerator<string>;

/** A result as a JSON array of objects, one on a line, in pieces. */
export async function* jsonOfQuery({ columns, rows }: QueryResult): Pieces {
  const objects = objectsOf(columns, rows, "\n");
  yield "[";
  yield* objects;
  yield "\n]\n";
}

/** A result as one JSON object on one line, with its columns and the number of its rows; in pieces. */
export async function* objectOfQuery({ columns, rows, rowCount, isCut }: QueryResult, source: string): Pieces {
  const head = jsonLine({ status: "ok", source, columns, row_count: rowCount, truncated: isCut });
  yield `${head.slice(0, -1)},"rows":[`;
  yield* objectsOf(columns, rows, "");
  yield "]}\n";
}

/** A result as CSV with a header, in pieces; null is empty, the empty string is `""`. */
export async function* csvOfQuery({ columns, rows }: QueryResult): Pieces {
  yield `${csvLines([columns.map(({ name }) => name)])}\n`;
  for await (const some of rows) if (some.length > 0) yield `${csvLines(some.map((row) => row.map(csvCell)))}\n`;
}

async function* objectsOf(
  columns: readonly QueryColumn[],
  rows: AsyncIterable<readonly QueryRow[]>,
  start: string,
): Pieces {
  let separator = start;
  for await (const some of rows) {
    for (const row of some) {
      yield `${separator}${jsonLine(Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])))}`;
      separator = `,${start}`;
    }
  }
}

function csvCell(value: unknown): CsvCell {
  return value === null ? null : plainText(value);
}
