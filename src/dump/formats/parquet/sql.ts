import { sqlFile } from "../../../duckdb/sql-text.js";
import { isJson } from "../../../duckdb/sql-types.js";
import { columns } from "../../../rows/columns.js";
import type { SelectRows } from "../format.js";

/** SQL: the rows of a Parquet file, whose types are those of its columns but for JSON, which Parquet does not have. */
export const selectRows: SelectRows = (kind, { path }, json) => {
  const cells = columns[kind].map(({ name, type }) => (isJson(type) ? `"${name}"::${json} AS "${name}"` : `"${name}"`));
  return `SELECT ${cells.join(", ")} FROM read_parquet(${sqlFile(path)}, hive_partitioning = false)`;
};
