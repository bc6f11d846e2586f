import { join } from "node:path";
import { shareOf } from "../../../duckdb/memory-share.js";
import { withDuckDb } from "../../../duckdb/open-duckdb.js";
import { sqlPath } from "../../../duckdb/sql-text.js";
import { fingerprint } from "../../files/join-parts.js";
import { makeFolders } from "../../files/make-folders.js";
import { seal } from "../../files/seal.js";
import { fileName } from "../file-name.js";
import type { StagedFile, StagedTable, Writer, WriterOptions } from "../format.js";
import { selectRows } from "../jsonl/sql.js";

/** JSONL that goes into one row group, in bytes: DuckDB holds some of them in memory, whatever its limit. */
const groupBytes = 33_554_432;
/** Rows of one row group at the most: DuckDB's own measure. */
const groupRows = 122_880;
/**
 * The same in the file of one dataset, whose documents stand by their ids: a reader of one of them skips the other groups.
 * Measured with 100,000 chunks in 2,000 documents (DuckDB 1.5.5): one document takes 3.1 MB of a file of 55.1 MB, and the footer
 * 0.1 MB. With 2,048 rows these are 1.1 of 55.6 MB and 0.25 MB, with 10,240 rows 6.4 of 54.4 MB, with 122,880 all of 54.3 MB.
 */
const partitionRows = 4096;

/** Parquet, zstd-compressed, copied by DuckDB from the joined JSONL in its order. */
export function openWriter({ duckDb }: Pick<WriterOptions, "duckDb">): Writer {
  return {
    format: "parquet",
    finish: ({ folder, tables, ...work }) => {
      const { threads, ...share } = shareOf(duckDb, work);
      return withDuckDb(":memory:", share, async (connection) => {
        const files: StagedFile[] = [];
        for (const table of tables) {
          const { kind, dataset, rows, jsonl } = table;
          const path = fileName({ kind, format: "parquet", dataset, compression: "none" });
          const target = join(folder, path);
          await makeFolders(folder, path);
          const source = selectRows(kind, { paths: [jsonl.path], ...jsonl.text }, "VARCHAR");
          // Several threads cut small row groups where each of them happens to be: other bytes at every run.
          await connection.run(`SET threads = ${dataset === undefined ? threads : 1}`);
          const format = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsPerGroup(table)}`;
          const { rowsChanged } = await connection.run(`COPY (${source}) TO ${sqlPath(target)} (${format})`);
          await seal(target);
          if (rowsChanged !== rows) throw new Error(`${path} has ${rowsChanged} rows for ${rows}`);
          files.push({ path, rows, ...(await fingerprint(target)) });
        }
        return files;
      });
    },
  };
}

function rowsPerGroup({ dataset, jsonl: { text } }: StagedTable): number {
  const most = dataset === undefined ? groupRows : partitionRows;
  return Math.max(1, Math.min(most, Math.floor((groupBytes * text.lines) / Math.max(1, text.bytes))));
}
