import { join } from "node:path";
import { isOwnError, openDuckDb, shareOf, withDuckDb } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/read-rows.js";
import { isJson, sqlFiles, sqlPath, utcTime, zonedTime } from "../../duckdb/sql.js";
import { makeFolders, seal, UnreadableError } from "../../files/files.js";
import { fingerprint } from "../../files/join-segments.js";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";
import {
  fileName,
  jsonLine,
  type ReadRows,
  type SelectRows,
  type StagedFile,
  type StagedTable,
  type Writer,
  type WriterOptions,
} from "./format.js";
import { selectRows as selectJsonl } from "./jsonl.js";

/** The size of a row group, in bytes of JSONL. It is small, because DuckDB holds some row groups in memory, whatever its limit. */
const groupBytes = 33_554_432;
/** Maximum rows per row group; DuckDB's own default. */
const groupRows = 122_880;
/**
 * Maximum rows per row group in the file of one dataset, which is sorted by document, so that a reader of one document skips the
 * other groups. Measured with 100,000 chunks in 2,000 documents (DuckDB 1.5.5): one document takes 3.1 MB of a 55.1 MB file, and
 * the footer 0.1 MB. With 2,048 rows: 1.1 of 55.6 MB, footer 0.25 MB. With 10,240 rows: 6.4 of 54.4 MB. With 122,880 rows: all of
 * 54.3 MB.
 */
const partitionRows = 4096;

/**
 * Parquet with zstd, written by DuckDB from the joined JSONL in the same order. Uses one thread: a second one hardly saves time,
 * needs two to three times the memory, and makes the borders of small row groups, and so the bytes, depend on timing.
 */
export function openWriter({ duckDb }: Pick<WriterOptions, "duckDb">): Writer {
  return {
    format: "parquet",
    finish: ({ folder, tables, instances }) =>
      withDuckDb(":memory:", { ...shareOf(duckDb, instances), threads: 1 }, async (connection) => {
        const files: StagedFile[] = [];
        for (const table of tables) {
          const { kind, dataset, rows, jsonl } = table;
          const path = fileName({ kind, format: "parquet", dataset, compression: "none" });
          const target = join(folder, path);
          await makeFolders(folder, path);
          const source = selectJsonl(kind, { paths: [jsonl.path], ...jsonl.text }, "VARCHAR");
          const format = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsPerGroup(table)}`;
          const { rowsChanged } = await connection.run(`COPY (${source}) TO ${sqlPath(target)} (${format})`);
          await seal(target);
          if (rowsChanged !== rows) throw new Error(`${path} has ${rowsChanged} rows for ${rows}`);
          files.push({ path, rows, ...(await fingerprint(target)) });
        }
        return files;
      }),
  };
}

function rowsPerGroup({ dataset, jsonl: { text } }: StagedTable): number {
  const most = dataset === undefined ? groupRows : partitionRows;
  return Math.max(1, Math.min(most, Math.floor((groupBytes * text.lines) / Math.max(1, text.bytes))));
}

/** SQL: the rows of Parquet files. Their types are those of the columns, but Parquet has no JSON, and times get the zone UTC. */
export const selectRows: SelectRows = (kind, { paths }, json) => {
  const cells = columns[kind].map(({ name, type }) => {
    if (type === "time") return `${zonedTime(`"${name}"`)} AS "${name}"`;
    return isJson(type) ? `"${name}"::${json} AS "${name}"` : `"${name}"`;
  });
  return `SELECT ${cells.join(", ")} FROM read_parquet(${sqlFiles(paths)}, hive_partitioning = false)`;
};

export const readRows = readRowsBy(selectRows);

/** Reads the rows of a file with DuckDB, each as a line of JSON. */
function readRowsBy(selectRows: SelectRows): ReadRows {
  return async function* (kind, file, options) {
    const cells = columns[kind].map(({ name, type }) => cellSql(`"${name}"`, type));
    // Fetches a row as one text, because the client strips a byte order mark from the start of a text, and a cell may begin
    // with one.
    const row = `to_json([${cells.join(", ")}])::VARCHAR`;
    const { connection, close } = await openDuckDb(":memory:", options);
    try {
      for await (const texts of streamTexts(connection, row, `(${selectRows(kind, file, "VARCHAR")})`))
        yield linesOf(kind, texts);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isOwnError(error)) throw error;
      throw new UnreadableError(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    } finally {
      close();
    }
  };
}

/** Converts rows one by one as they are consumed, because a chunk's row may be long. */
function* linesOf(kind: Kind, texts: Iterable<string>): Generator<string> {
  for (const text of texts) yield jsonLine(kind, JSON.parse(text));
}

/** SQL: a cell as text. */
function cellSql(column: string, type: ColumnType): string {
  if (type === "strings") return `to_json(${column})::VARCHAR`;
  return type === "time" ? timeSql(column) : `${column}::VARCHAR`;
}

/** SQL: a time as JSONL has it, with milliseconds only if not zero. */
function timeSql(column: string): string {
  const text = (fraction: string) => `strftime(${utcTime(column)}, '%Y-%m-%dT%H:%M:%S${fraction}Z')`;
  return `CASE WHEN epoch_us(${column}) % 1000000 = 0 THEN ${text("")} ELSE ${text(".%g")} END`;
}
