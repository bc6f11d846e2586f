import { resolve } from "node:path";
import { type ColumnType, columns, type Kind } from "../rows/columns.js";
import type { JsonlFile } from "../sinks/sink.js";
import { sqlText } from "./duckdb.js";
import { markedFractions, unmarkedFractions } from "./fractions.js";

/** The type of a column in DuckDB. */
export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "VARCHAR",
  integer: "BIGINT",
  boolean: "BOOLEAN",
  time: "TIMESTAMP",
  strings: "VARCHAR[]",
  list: "JSON",
  object: "JSON",
  any: "VARCHAR",
};

/** The type that a column is read with: one that may hold any value is JSON at first. */
const readTypes: typeof sqlTypes = { ...sqlTypes, any: "JSON" };

/** The columns of a kind, read from its JSONL: types are given, never guessed, and no number is rounded. */
export function selectFromJsonl(kind: Kind, file: JsonlFile, json: "JSON" | "VARCHAR" = "JSON"): string {
  const exact = file.longNumbers !== false;
  const expressions = columns[kind].map(({ name, type }) => expression(name, type, json, exact));
  return `SELECT ${expressions.join(", ")} FROM ${exact ? exactRows(kind, file) : rows(kind, file)}`;
}

function rows(kind: Kind, file: JsonlFile): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": '${readTypes[type]}'`);
  return `read_json(${from(file)}, format = 'newline_delimited', columns = {${types.join(", ")}})`;
}

/** The same with marked fractions; it takes two to three times as long. */
function exactRows(kind: Kind, file: JsonlFile): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": "${readTypes[type]}"`);
  const line = markedFractions("json");
  return `(SELECT unnest(from_json(${line}, '{${types.join(", ")}}')) FROM read_ndjson_objects(${from(file)}))`;
}

/** The file and how to read it: a path may look like a pattern or a partition and is neither, a line may be long. */
function from({ path, longestLine }: JsonlFile): string {
  const size = Math.max(16_777_216, longestLine + 1024);
  const literal = resolve(path).replace(/[*?[]/g, "[$&]");
  return `${sqlText(literal)}, hive_partitioning = false, maximum_object_size = ${size}`;
}

/** A value of any type is a string as it is, and JSON text otherwise; Parquet has no JSON type. */
function expression(name: string, type: ColumnType, json: "JSON" | "VARCHAR", exact: boolean): string {
  if (readTypes[type] !== "JSON") return `"${name}"`;
  const text = exact ? unmarkedFractions(`"${name}"`) : `"${name}"::VARCHAR`;
  if (type === "any")
    return `CASE json_type(${text}) WHEN 'VARCHAR' THEN ${text} ->> '$' ELSE ${text} END AS "${name}"`;
  return `${text}::${json} AS "${name}"`;
}
