import { join, relative } from "node:path";
import { sqlFiles, sqlTypes } from "../../duckdb/sql.js";
import { makeFolders } from "../../files/files.js";
import { type JoinOptions, joinSegments } from "../../files/join-segments.js";
import { readTextPieces, splitLines } from "../../files/lines.js";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";
import { jsonText } from "../../rows/exact-json.js";
import {
  fileName,
  type JoinedJsonl,
  type ReadRows,
  type RowFiles,
  type SelectRows,
  type StagedTable,
  type TextFormat,
  textFile,
  type Writer,
} from "./format.js";

/** The format JSONL: one JSON object per line, with keys in column order. */
export const jsonlText: TextFormat = {
  format: "jsonl",
  head: () => "",
  texts: (_kind, rows) => rows.map(jsonText),
};

/** Joins the segments of a table into a file in a folder. Rejects if the number of lines differs from the rows written. */
export async function joinJsonl(
  folder: string,
  { kind, dataset, rows, segments }: Omit<StagedTable, "jsonl">,
  options: JoinOptions,
): Promise<JoinedJsonl> {
  const name = fileName({ kind, format: "jsonl", dataset, compression: options.compression ?? "none" });
  const path = join(folder, name);
  await makeFolders(folder, name);
  const joined = await joinSegments(path, "", segments("jsonl"), options);
  if (joined.text.lines !== rows) throw new Error(`${name} has ${joined.text.lines} lines for ${rows} rows`);
  return { path, ...joined };
}

/**
 * A writer that has nothing left to write: the files were already joined in the run folder, because the other formats are made
 * from them.
 */
export function openWriter(): Writer {
  return {
    format: "jsonl",
    text: jsonlText,
    finish: async ({ folder, tables }) =>
      tables.map(({ rows, jsonl }) => textFile(relative(folder, jsonl.path), rows, jsonl)),
  };
}

/** The type to read a column with. A column for any value is read as JSON first. */
const readTypes: typeof sqlTypes = { ...sqlTypes, any: "JSON" };

/** SQL: the rows of JSONL files. Types are fixed, never guessed, and numbers stay exact. */
export const selectRows: SelectRows = (kind, files, json) => {
  const exact = files.longNumbers !== false;
  const expressions = columns[kind].map(({ name, type }) => expression(name, type, json, exact));
  return `SELECT ${expressions.join(", ")} FROM ${exact ? exactRows(kind, files) : rows(kind, files)}`;
};

function rows(kind: Kind, files: RowFiles): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": '${readTypes[type]}'`);
  return `read_json(${from(files)}, format = 'newline_delimited', columns = {${types.join(", ")}})`;
}

/** SQL: the rows with exact fractions (see below); two to three times as slow as `rows`. */
function exactRows(kind: Kind, files: RowFiles): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": "${readTypes[type]}"`);
  const line = markedFractions("json");
  return `(SELECT unnest(from_json(${line}, '{${types.join(", ")}}')) FROM read_ndjson_objects(${from(files)}))`;
}

/** SQL: the files and how DuckDB reads them: folders are not partitions, and lines may be long. */
function from({ paths, longestLine }: RowFiles): string {
  const size = Math.max(16_777_216, longestLine + 1024);
  return `${sqlFiles(paths)}, hive_partitioning = false, maximum_object_size = ${size}`;
}

/** SQL: a column. A value of type `any`: a string stays as it is, all else becomes JSON text. Parquet has no JSON type. */
function expression(name: string, type: ColumnType, json: "JSON" | "VARCHAR", exact: boolean): string {
  if (readTypes[type] !== "JSON") return `"${name}"`;
  const text = exact ? unmarkedFractions(`"${name}"`) : `"${name}"::VARCHAR`;
  if (type === "any")
    return `CASE json_type(${text}) WHEN 'VARCHAR' THEN ${text} ->> '$' ELSE ${text} END AS "${name}"`;
  return `${text}::${json} AS "${name}"`;
}

/**
 * DuckDB rewrites the JSON that it parses, and rounds fractions to a double. So in a line with longer fractions, every fraction is
 * replaced by a unique string before parsing, and converted back afterwards.
 */

const fraction = "-?[0-9]+[.eE][-+.0-9eE]*";
const long = "[:,\\[]-?[0-9]([0-9.]{15}|[0-9.]*[eE])";
const string = '"(?:[^"\\\\]|\\\\.)*"';

/** SQL: a line of JSON. If DuckDB would round a fraction in it, all fractions outside of strings are marked. */
function markedFractions(line: string): string {
  // Marks the fractions with chr(1), which never occurs in JSON: it is added after every string and every fraction, and then
  // kept only around fractions.
  const apart = `regexp_replace(${line}, '(${string})|(${fraction})', '\\1' || chr(1) || '\\2' || chr(1), 'g')`;
  const around = `replace(${apart}, chr(1) || chr(1), '')`;
  const marked = `regexp_replace(${around}, '\\x01([^\\x01]+)\\x01', '"\\\\u0001fraction \\1"', 'g')`;
  return `CASE WHEN regexp_matches(${line}, '${long}') THEN ${marked} ELSE ${line} END`;
}

/** SQL: JSON with its marked fractions restored. */
function unmarkedFractions(json: string): string {
  return `regexp_replace(${json}::VARCHAR, '"\\\\u0001fraction (${fraction})"', '\\1', 'g')`;
}

/** The rows of JSONL files, which are their lines. */
export const readRows: ReadRows = async function* (_kind, { paths }) {
  for (const path of paths)
    for await (const lines of splitLines(readTextPieces(path))) yield lines.map((line) => line.toString("utf8"));
};
