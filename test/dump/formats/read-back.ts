import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type ColumnType, columns, type Kind } from "../../../src/rows/columns.js";
import { parseJson } from "../../../src/rows/exact-json.js";
import { query, quoted } from "../../database/query.js";
import { plainFolder } from "./folder.js";
import { readCsv } from "./rfc4180.js";

export type Cells = readonly (readonly unknown[])[];

export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "VARCHAR",
  integer: "BIGINT",
  boolean: "BOOLEAN",
  time: "TIMESTAMP WITH TIME ZONE",
  strings: "VARCHAR[]",
  list: "JSON",
  object: "JSON",
  any: "VARCHAR",
};

const largeLines = "maximum_object_size = 80000000";
const namesOf = (kind: Kind) => columns[kind].map(({ name }) => name);
const isJson = (type: ColumnType) => type === "list" || type === "object" || type === "any";

/** Copies a file of the run folder to a path without glob characters. */
async function plainCopy(folder: string, name: string): Promise<string> {
  const copy = join(await plainFolder(), name);
  await copyFile(join(folder, name), copy);
  return copy;
}

/** The columns of a kind as text: times in microseconds, lists as JSON. */
export async function readColumns(kind: Kind, source: string, file?: string): Promise<Cells> {
  const expressions = columns[kind].map(({ name, type }) => {
    const value = type === "time" ? `epoch_us("${name}")` : type === "strings" ? `to_json("${name}")` : `"${name}"`;
    return `'=' || ${value}::VARCHAR`; // DuckDB's JavaScript client drops a byte order mark at the start of a text
  });
  const rows = await query(`SELECT ${expressions.join(", ")} FROM ${source}`, file);
  return rows.map((cells) => cells.map((cell) => (cell === null ? null : String(cell).slice(1))));
}

async function expectTypes(kind: Kind, source: string, json: "JSON" | "VARCHAR", file?: string): Promise<void> {
  const described = await query(`SELECT column_name, column_type FROM (DESCRIBE FROM ${source})`, file);
  const typeOf = (type: ColumnType) => (sqlTypes[type] === "JSON" ? json : sqlTypes[type]);
  const expected = columns[kind].map(({ name, type }) => [name, typeOf(type)]);
  expect(described.slice(0, expected.length)).toEqual(expected);
}

/** Reads a JSONL file with DuckDB. JSON columns come from the lines themselves, because read_json formats them differently. */
export async function readRowFile(folder: string, kind: Kind): Promise<Cells> {
  const copy = quoted(await plainCopy(folder, `${kind}.jsonl`));
  const fields = columns[kind].map(({ name, type }) => `"${name}": '${isJson(type) ? "JSON" : sqlTypes[type]}'`);
  const options = `format = 'newline_delimited', ${largeLines}, columns = {${fields.join(", ")}}`;
  const typed = await readColumns(kind, `read_json(${copy}, ${options})`);
  const lines = await query(`SELECT json::VARCHAR FROM read_ndjson_objects(${copy}, ${largeLines})`);
  return typed.map((cells, at) => {
    const members = Object.entries(parseJson(String(lines[at]?.[0])) ?? {});
    expect(members.map(([name]) => name)).toEqual(namesOf(kind));
    return cells.map((cell, place) => {
      const json = members[place]?.[1];
      return isJson(columns[kind][place]?.type ?? "text") && json !== null ? { json } : cell;
    });
  });
}

/** Reads a CSV file with DuckDB and with a strict RFC 4180 parser, and expects the same cells. */
export async function readCsvFile(folder: string, kind: Kind): Promise<Cells> {
  const copy = await plainCopy(folder, `${kind}.csv`);
  const [header, ...rows] = readCsv(await readFile(copy, "utf8"));
  expect(header).toEqual(namesOf(kind));
  const options =
    "all_varchar = true, header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', new_line = '\\n', " +
    "nullstr = '', allow_quoted_nulls = false, parallel = false, strict_mode = true, max_line_size = 80000000, " +
    `columns = {${namesOf(kind).map((name) => `"${name}": 'VARCHAR'`)}}`;
  const expressions = namesOf(kind).map((name) => `'=' || "${name}"`);
  const found = await query(`SELECT ${expressions} FROM read_csv(${quoted(copy)}, ${options})`);
  expect(found).toEqual(rows.map((row) => row.map((cell) => (cell === null ? null : `=${cell}`))));
  return rows;
}

export async function readParquetFile(folder: string, kind: Kind): Promise<Cells> {
  const source = `read_parquet(${quoted(await plainCopy(folder, `${kind}.parquet`))})`;
  await expectTypes(kind, source, "VARCHAR");
  return readColumns(kind, source);
}

export async function readTable(database: string, kind: Kind): Promise<Cells> {
  const copy = join(await plainFolder(), "copy.duckdb");
  await copyFile(database, copy);
  await expectTypes(kind, kind, "JSON", copy);
  return readColumns(kind, `(FROM ${kind} ORDER BY rowid)`, copy);
}

/** The number of rows in a file of the run folder. */
export async function countRows(folder: string, path: string): Promise<number> {
  const copy = await plainCopy(folder, path);
  if (path.endsWith(".csv")) return readCsv(await readFile(copy, "utf8")).length - 1;
  const source = path.endsWith(".parquet")
    ? `read_parquet(${quoted(copy)})`
    : `read_ndjson_objects(${quoted(copy)}, ${largeLines})`;
  const [[count] = []] = await query(`SELECT count(*)::INTEGER FROM ${source}`);
  return Number(count);
}
