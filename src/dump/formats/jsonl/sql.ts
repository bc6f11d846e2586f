import { sqlFiles } from "../../../duckdb/sql-text.js";
import { sqlTypes } from "../../../duckdb/sql-types.js";
import type { ColumnType } from "../../../rows/column.js";
import { columns, type Kind } from "../../../rows/columns.js";
import type { RowFiles, SelectRows } from "../format.js";
import { markedFractions, unmarkedFractions } from "./fractions.js";

/** The type that a column is read with: one that may hold any value is JSON at first. */
const readTypes: typeof sqlTypes = { ...sqlTypes, any: "JSON" };

/** SQL: the rows of JSONL files. Types are given, never guessed, and no number is rounded. */
export const selectRows: SelectRows = (kind, files, json) => {
  const exact = files.longNumbers !== false;
  const expressions = columns[kind].map(({ name, type }) => expression(name, type, json, exact));
  return `SELECT ${expressions.join(", ")} FROM ${exact ? exactRows(kind, files) : rows(kind, files)}`;
};

function rows(kind: Kind, files: RowFiles): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": '${readTypes[type]}'`);
  return `read_json(${from(files)}, format = 'newline_delimited', columns = {${types.join(", ")}})`;
}

/** The same with marked fractions; it takes two to three times as long. */
function exactRows(kind: Kind, files: RowFiles): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": "${readTypes[type]}"`);
  const line = markedFractions("json");
  return `(SELECT unnest(from_json(${line}, '{${types.join(", ")}}')) FROM read_ndjson_objects(${from(files)}))`;
}

/** The files and how to read them: no folder of a path is a partition, and a line may be long. */
function from({ paths, longestLine }: RowFiles): string {
  const size = Math.max(16_777_216, longestLine + 1024);
  return `${sqlFiles(paths)}, hive_partitioning = false, maximum_object_size = ${size}`;
}

/** A value of any type is a string as it is, and JSON text otherwise; Parquet has no JSON type. */
function expression(name: string, type: ColumnType, json: "JSON" | "VARCHAR", exact: boolean): string {
  if (readTypes[type] !== "JSON") return `"${name}"`;
  const text = exact ? unmarkedFractions(`"${name}"`) : `"${name}"::VARCHAR`;
  if (type === "any")
    return `CASE json_type(${text}) WHEN 'VARCHAR' THEN ${text} ->> '$' ELSE ${text} END AS "${name}"`;
  return `${text}::${json} AS "${name}"`;
}
