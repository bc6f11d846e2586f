import { sqlFiles } from "../../../duckdb/sql-text.js";
import { isJson, zonedTime } from "../../../duckdb/sql-types.js";
import { columns } from "../../../rows/columns.js";
import type { SelectRows } from "../format.js";

/**
 * SQL: the rows of Parquet files, whose types are those of their columns but for JSON, which Parquet does not have, and for
 * times that an older kbdump wrote without a zone.
 */
export const selectRows: SelectRows = (kind, { paths }, json) => {
  const cells = columns[kind].map(({ name, type }) => {
    if (type === "time") return `${zonedTime(`"${name}"`)} AS "${name}"`;
    return isJson(type) ? `"${name}"::${json} AS "${name}"` : `"${name}"`;
  });
  return `SELECT ${cells.join(", ")} FROM read_parquet(${sqlFiles(paths)}, hive_partitioning = false)`;
};
