import { join } from "node:path";
import { withDuckDb } from "../../../duckdb/open-duckdb.js";
import { sqlPath } from "../../../duckdb/sql-text.js";
import { fingerprint } from "../../files/join-parts.js";
import { seal } from "../../files/seal.js";
import { type JoinedJsonl, joinedKinds, type StagedFile, type Writer, type WriterOptions } from "../format.js";
import { selectRows } from "../jsonl/sql.js";

/** JSONL that goes into one row group, in bytes: DuckDB holds some of them in memory, whatever its limit. */
const groupBytes = 33_554_432;
/** Rows of one row group at the most: DuckDB's own measure. */
const groupRows = 122_880;

/** Parquet, zstd-compressed, copied by DuckDB from the joined JSONL in its order. */
export function openWriter({ duckDb }: Pick<WriterOptions, "duckDb">): Writer {
  return {
    format: "parquet",
    finish: (staged) =>
      withDuckDb(":memory:", duckDb, async (connection) => {
        const files: StagedFile[] = [];
        for (const [kind, jsonl] of joinedKinds(staged)) {
          const path = `${kind}.parquet`;
          const target = join(staged.folder, path);
          const source = selectRows(kind, jsonl, "VARCHAR");
          const format = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsPerGroup(jsonl)}`;
          const { rowsChanged } = await connection.run(`COPY (${source}) TO ${sqlPath(target)} (${format})`);
          await seal(target);
          if (rowsChanged !== staged.rows(kind))
            throw new Error(`${path} has ${rowsChanged} rows for ${staged.rows(kind)}`);
          files.push({ path, rows: rowsChanged, ...(await fingerprint(target)) });
        }
        return files;
      }),
  };
}

function rowsPerGroup({ lines, bytes }: JoinedJsonl): number {
  return Math.max(1, Math.min(groupRows, Math.floor((groupBytes * lines) / Math.max(1, bytes))));
}
