import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { kinds } from "../normalise/columns.js";
import { type DuckDbOptions, sqlText, withDuckDb } from "./duckdb-open.js";
import { selectFromJsonl } from "./duckdb-read.js";
import { flush } from "./flush.js";
import { fingerprint } from "./join-parts.js";
import type { Sink, StagedFile } from "./sink.js";

/** Parquet, zstd-compressed, copied by DuckDB from the joined JSONL in its order. */
export function parquetSink(options: DuckDbOptions): Sink {
  return {
    format: "parquet",
    finish: (stage) =>
      withDuckDb(":memory:", options, async (connection) => {
        const files: StagedFile[] = [];
        for (const kind of kinds) {
          const path = `${kind}.parquet`;
          const target = join(stage.folder, path);
          const source = selectFromJsonl(kind, stage.jsonl[kind], "VARCHAR");
          const { rowsChanged } = await connection.run(`COPY (${source}) TO ${sqlText(target)} (FORMAT parquet, COMPRESSION zstd)`);
          await chmod(target, 0o600);
          await flush(target);
          if (rowsChanged !== stage.rows(kind)) throw new Error(`${path} has ${rowsChanged} rows for ${stage.rows(kind)}`);
          files.push({ path, rows: rowsChanged, ...(await fingerprint(target)) });
        }
        return files;
      }),
  };
}
