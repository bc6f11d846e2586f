import { join } from "node:path";
import { type DuckDbOptions, sqlPath, withDuckDb } from "../database/duckdb.js";
import { selectFromJsonl } from "../database/select-jsonl.js";
import { fingerprint } from "./join-parts.js";
import { seal } from "./seal.js";
import { type JoinedJsonl, joinedKinds, type Sink, type StagedFile } from "./sink.js";

/** JSONL that goes into one row group, in bytes: DuckDB holds some of them in memory, whatever its limit. */
const groupBytes = 33_554_432;
/** Rows of one row group at the most: DuckDB's own measure. */
const groupRows = 122_880;

/** Parquet, zstd-compressed, copied by DuckDB from the joined JSONL in its order. */
export function parquetSink(options: DuckDbOptions): Sink {
  return {
    format: "parquet",
    finish: (stage) =>
      withDuckDb(":memory:", options, async (connection) => {
        const files: StagedFile[] = [];
        for (const [kind, jsonl] of joinedKinds(stage)) {
          const path = `${kind}.parquet`;
          const target = join(stage.folder, path);
          const source = selectFromJsonl(kind, jsonl, "VARCHAR");
          const format = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsPerGroup(jsonl)}`;
          const { rowsChanged } = await connection.run(`COPY (${source}) TO ${sqlPath(target)} (${format})`);
          await seal(target);
          if (rowsChanged !== stage.rows(kind))
            throw new Error(`${path} has ${rowsChanged} rows for ${stage.rows(kind)}`);
          files.push({ path, rows: rowsChanged, ...(await fingerprint(target)) });
        }
        return files;
      }),
  };
}

function rowsPerGroup({ lines, bytes }: JoinedJsonl): number {
  return Math.max(1, Math.min(groupRows, Math.floor((groupBytes * lines) / Math.max(1, bytes))));
}
