import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import * as v from "valibot";
import { countText } from "../amounts.js";
import {
  type Arguments,
  defineCommand,
  type Environment,
  type Options,
  type Positionals,
  type Surroundings,
} from "../cli/command.js";
import { cutToWidth, padEnd, widthOf } from "../cli/display-width.js";
import { wholeNumberFrom } from "../cli/flag-values.js";
import { findOptionsFrom, memoryOption, outOption } from "../cli/options.js";
import { renderParagraphs } from "../cli/outline.js";
import { jsonItems, printFile, printPieces, printResult } from "../cli/output.js";
import { wrongLine } from "../cli/parse-command-line.js";
import { type Column, fitsPage, renderTable } from "../cli/table.js";
import { jsonLine, type Page, pageFor } from "../cli/text.js";
import { type CsvCell, csvLines } from "../dump/formats/csv.js";
import { exitCodes, type Problem } from "../errors.js";
import { ExactNumber, jsonText } from "../rows/exact-json.js";
import { cutText, escapeControls } from "../safe-text.js";
import { count, listOf, result, text, truth } from "../schema.js";
import { makeTemporaryFolder } from "../temporary-folder.js";

import type { QuerySource } from "./sql/database.js";
import type { QueryResult, QueryRow } from "./sql/statement.js";

const epilog = `Examples:
  kbdump sql nightly "SELECT document_id, count(*) AS chunks FROM chunks GROUP BY ALL"
  kbdump sql nightly.yaml "FROM coverage" --format csv
  kbdump sql nightly "FROM lost_texts" --format parquet > lost.parquet
  kbdump sql output/nightly/nightly.duckdb - < query.sql

The database is opened read-only. Times are shown in UTC.

Exit codes: 0 answered · 1 the database could not be read · 2 wrong usage, no database, or a wrong statement · 130, 143 interrupted`;

const positionals = {
  source: { type: "string", demandOption: true, names: "file", describe: "a job, a database file, or a run" },
  statement: { type: "string", describe: "one SQL statement; if missing or -, read from stdin" },
} as const satisfies Positionals;

const options = {
  format: { choices: ["table", "json", "csv", "parquet"], default: "table", describe: "output; default: table" },
  limit: {
    value: "N",
    read: (given: string, path: string) => wholeNumberFrom(path, given, 1),
    describe: "maximum rows to print; default: 1000 in a table, otherwise all",
  },
  ...outOption,
  ...memoryOption,
} as const satisfies Options;

type SqlArguments = Arguments<typeof positionals & typeof options>;

/** Maximum rows of a table, because it is held in memory. */
const tableRows = 1_000;

/** `kbdump sql <job or database> "SELECT …"`: queries the database of a job. */
export const command = defineCommand({
  name: "sql <source> [statement]",
  about: "query the database of a job with SQL, read-only",
  positionals,
  options,
  epilog,
  results: () => ({ sql: sqlResult }),
  check: problemsOf,
  async run(args, environment) {
    const { findDatabase } = await import("../store/find-run.js");
    const source = await findDatabase(args.source, findOptionsFrom(args, environment));
    const isPiped = args.statement === undefined || args.statement === "-";
    const statement = isPiped ? await textOf(environment.openStdin?.()) : args.statement;
    const { queryDatabase } = await import("./sql/database.js"); // slow to load; --help does not need it
    const limit = args.limit ?? (args.format === "table" && !args.json ? tableRows : undefined);
    const context = { memory: args.memory, signal: environment.signal, limit };
    if (args.format === "parquet") {
      await using temporary = await makeTemporaryFolder("sql");
      const file = join(temporary.path, "result.parquet");
      await queryDatabase(source, statement, { ...context, file }, (result) => writeParquet(result, file));
      await printFile(environment, file);
      return exitCodes.complete;
    }
    await queryDatabase(source, statement, context, (result) => print(result, source, args, environment));
    return exitCodes.complete;
  },
});

function problemsOf({ format, json }: SqlArguments, { stdout }: Surroundings): readonly Problem[] {
  const problems = [
    json &&
      (format === "csv" || format === "parquet") && { path: "--json", message: `it contradicts --format ${format}` },
    format === "parquet" &&
      stdout.isTTY && { path: "--format", message: "parquet is not text; write it to a file: … > result.parquet" },
  ];
  return problems.filter((problem) => typeof problem === "object");
}

async function writeParquet(result: QueryResult, file: string): Promise<void> {
  if (result.writeParquet) return result.writeParquet(file);
  throw wrongLine([{ path: "--format", message: "parquet needs a query: put the statement into FROM (…)" }]);
}

async function textOf(stdin: ReturnType<NonNullable<Environment["openStdin"]>> | undefined): Promise<string> {
  if (stdin && !stdin.isTTY) return readText(stdin);
  const message = 'expected in quotes, such as "SELECT count(*) FROM chunks", or on stdin';
  throw wrongLine([{ path: "<statement>", message }]);
}

async function print(
  result: QueryResult,
  source: QuerySource,
  args: SqlArguments,
  environment: Environment,
): Promise<void> {
  const asked = environment.names("folder" in source ? source.folder : source.database);
  if (args.json) return printPieces(environment, objectOfQuery(result, asked));
  if (args.format === "json") return printPieces(environment, jsonOfQuery(result));
  if (args.format === "csv") return printPieces(environment, csvOfQuery(result));
  const rows: QueryRow[] = [];
  for await (const some of result.rows) rows.push(...some);
  return printResult(environment, renderQuery({ ...result, rows }, pageFor(environment.stdout, environment.env)));
}

/** The result of `kbdump sql --json`. */
const sqlResult = result({
  status: v.literal("ok"),
  source: v.pipe(text, v.description("the database or run folder that answered")),
  columns: listOf(result({ name: text, type: v.pipe(text, v.description("the type of DuckDB")) })),
  row_count: count,
  truncated: v.pipe(truth, v.description("whether --limit left rows out")),
  rows: v.pipe(
    listOf(v.record(v.string(), v.unknown())),
    v.description("one object per row, with the names of columns"),
  ),
});

/** Maximum characters per cell. */
const longest = 10_000;
/** How many characters a column must have at least; otherwise the result is printed with a line per cell. */
const narrowest = 8;

/** A result for people: a table, or a line per cell if the terminal is too narrow, and the number of rows. */
export function renderQuery(
  { columns, rows, isCut }: Pick<QueryResult, "columns" | "isCut"> & { readonly rows: readonly QueryRow[] },
  page: Page,
): string {
  const shown = columns.map(({ name, type }, at): Column<QueryRow> => {
    const head = cutText(escapeControls(name), longest);
    return { head, cell: (row) => cellText(row[at]), ...(isNumeric(type) ? { right: true } : { least: narrowest }) };
  });
  const render = fitsPage(rows, shown, page) ? renderTable : renderRecords;
  const count = `${countText(rows.length, "row")}${isCut ? "; there are more, see --limit" : ""}`;
  return renderParagraphs([[(to) => render(rows, shown, to)], [{ text: count, paint: "faint" }]], page);
}

/** A line for each cell, as `name value`, and a separator between rows. */
function renderRecords(
  rows: readonly QueryRow[],
  columns: readonly Column<QueryRow>[],
  { paint, columns: width }: Page,
): readonly string[] {
  const room = Math.min(Math.max(...columns.map(({ head }) => widthOf(head))), Math.floor(width / 2));
  const lineOf = ({ head, cell }: Column<QueryRow>, row: QueryRow) =>
    `${padEnd(cutToWidth(head, room), room)}  ${cutToWidth(cell(row), width - room - 2)}`.trimEnd();
  return rows.flatMap((row, at) => [
    paint.strong(cutToWidth(`row ${at + 1}`, width)),
    ...columns.map((column) => lineOf(column, row)),
  ]);
}

/** A cell on one line. NULL is visible, and control characters are escaped as in JSON. */
function cellText(value: unknown): string {
  const text = value === null ? "NULL" : plainText(value);
  return cutText(escapeControls(text).replaceAll("\\u000a", "\\n").replaceAll("\\u0009", "\\t"), longest);
}

/** A text unchanged; everything else as JSON. */
function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  return value instanceof ExactNumber ? value.text : jsonText(value);
}

function isNumeric(type: string): boolean {
  return /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\(.*\)|FLOAT|DOUBLE|BIGNUM)$/.test(type);
}

type Pieces = AsyncGenerator<string>;

/** Yields a JSON array of objects, one per line. */
async function* jsonOfQuery(result: QueryResult): Pieces {
  yield "[";
  yield* jsonItems(objectsOf(result), "\n");
  yield "\n]\n";
}

/** Yields one JSON object on one line, with the columns and the number of rows. */
async function* objectOfQuery(result: QueryResult, source: string): Pieces {
  const { columns, rowCount, isCut } = result;
  const head = jsonLine({ status: "ok", source, columns, row_count: rowCount, truncated: isCut });
  yield `${head.slice(0, -1)},"rows":[`;
  yield* jsonItems(objectsOf(result));
  yield "]}\n";
}

/** Yields CSV with a header. Null is empty; the empty string is `""`. */
async function* csvOfQuery({ columns, rows }: QueryResult): Pieces {
  yield `${csvLines([columns.map(({ name }) => name)])}\n`;
  for await (const some of rows) if (some.length > 0) yield `${csvLines(some.map((row) => row.map(csvCell)))}\n`;
}

async function* objectsOf({ columns, rows }: QueryResult): AsyncGenerator<object> {
  for await (const some of rows)
    for (const row of some) yield Object.fromEntries(columns.map(({ name }, at) => [name, row[at]]));
}

function csvCell(value: unknown): CsvCell {
  return value === null ? null : plainText(value);
}
