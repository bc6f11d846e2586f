import { sqlFile } from "../../../duckdb/sql-text.js";
import { sqlTypes } from "../../../duckdb/sql-types.js";
import type { ColumnType } from "../../../rows/column.js";
import { columns, type Kind } from "../../../rows/columns.js";
import type { RowFile, SelectRows } from "../format.js";
import { markedFractions, unmarkedFractions } from "./fractions.js";

/** The type that a column is read with: one that may hold any value is JSON at first. */
const readTypes: typeof sqlTypes = { ...sqlTypes, any: "JSON" };

/** SQL: the rows of a JSONL file. Types are given, never guessed, and no number is rounded. */
export const selectRows: SelectRows = (kind, file, json) => {
  const exact = file.longNumbers !== false;
  const expressions = columns[kind].map(({ name, type }) => expression(name, type, json, exact));
  return `SELECT ${expressions.join(", ")} FROM ${exact ? exactRows(kind, file) : rows(kind, file)}`;
};

function rows(kind: Kind, file: RowFile): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": '${readTypes[type]}'`);
  return `read_json(${from(file)}, format = 'newline_delimited', columns = {${types.join(", ")}})`;
}

/** The same with marked fractions; it takes two to three times as long. */
function exactRows(kind: Kind, file: RowFile): string {
  const types = columns[kind].map(({ name, type }) => `"${name}": "${readTypes[type]}"`);
  const line = markedFractions("json");
  return `(SELECT unnest(from_json(${line}, '{${types.join(", ")}}')) FROM read_ndjson_objects(${from(file)}))`;
}

/** The file and how to read it: no folder of its path is a partition, and a line may be long. */
function from({ path, longestLine }: RowFile): string {
  const size = Math.max(16_777_216, longestLine + 1024);
  return `${sqlFile(path)}, hive_partitioning = false, maximum_object_size = ${size}`;
}

/** A value of any type is a string as it is, and JSON text otherwise; Parquet has no JSON type. */
function expression(name: string, type: ColumnType, json: "JSON" | "VARCHAR", exact: boolean): string {
  if (readTypes[type] !== "JSON") return `"${name}"`;
  const text = exact ? unmarkedFractions(`"${name}"`) : `"${name}"::VARCHAR`;
  if (type === "any")
    return `CASE json_type(${text}) WHEN 'VARCHAR' THEN ${text} ->> '$' ELSE ${text} END AS "${name}"`;
  return `${text}::${json} AS "${name}"`;
}
