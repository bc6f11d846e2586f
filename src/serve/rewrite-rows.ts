import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withDuckDb } from "../database/duckdb.js";
import { StopError } from "../errors.js";
import { type ColumnType, columns, type Kind } from "../rows/columns.js";
import type { StagedFile } from "../sinks/sink.js";
import { partsOf } from "../verify/check-manifest.js";
import { csvCells, csvRows } from "../verify/csv-rows.js";
import { type RowSource, UnreadableError } from "../verify/row-source.js";
import type { RowText } from "../verify/row-text.js";
import { parquetRows } from "../verify/sql-rows.js";
import type { OpenOptions } from "./serve-options.js";

/** Characters that are written at a time. */
const enough = 4_000_000;

/** What DuckDB may use while it reads a Parquet file. */
const memory = "800MB";

/**
 * Writes the rows of a CSV or Parquet file as JSONL into a temporary file that nobody else can open, and whose room is free
 * again when it is closed. StopError, naming the row, where the file cannot be read to its end.
 */
export async function rewriteRows(path: string, file: StagedFile, options: OpenOptions): Promise<FileHandle> {
  const { kind, format } = partsOf(file);
  const { signal, tally } = options;
  tally.step = `reading ${file.path}`;
  const folder = await mkdtemp(join(tmpdir(), "kbdump-serve-")).catch((error: NodeJS.ErrnoException) => {
    const hint = "set TMPDIR to a folder that can be written to";
    throw new StopError(`${file.path} is written anew in ${tmpdir()}, where that fails: ${error.code}; ${hint}`);
  });
  try {
    const rows = join(folder, "rows.jsonl");
    const handle = await open(rows, "wx+", 0o600);
    await rm(rows); // what is open stays until it is closed, and no longer, whatever happens
    const write = (rows: RowSource) => writeRows(rows, handle, signal);
    try {
      if (format === "csv") await write(csvRows(file.path, kind, path, csvCells));
      else
        await withDuckDb(":memory:", { memory, temporary: folder, signal }, (connection) =>
          write(parquetRows(connection, file.path, kind, path, "whole")),
        );
      tally.done += file.bytes;
      tally.expected += (await handle.stat()).size;
      return handle;
    } catch (error) {
      await handle.close();
      throw sayWhere(error, file.path);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeRows(source: RowSource, handle: FileHandle, signal: AbortSignal): Promise<void> {
  const wrong = (row: number, message: string) => {
    throw new UnreadableError(`row ${row} ${message}`);
  };
  for await (const rows of source.read(wrong)) {
    signal.throwIfAborted();
    let text = "";
    for (const { text: cells } of rows) {
      if (cells) text += jsonLine(source.kind, cells);
      if (text.length < enough) continue;
      await handle.appendFile(text);
      text = "";
    }
    await handle.appendFile(text);
  }
}

/** A row as a line of JSONL: what is JSON in a cell stays as it is, so that no number is rounded. */
export function jsonLine(kind: Kind, cells: RowText): string {
  const members = columns[kind].map(({ name, type }, at) => `"${name}":${cellJson(type, cells[at] ?? null)}`);
  return `{${members.join(",")}}\n`;
}

function cellJson(type: ColumnType, cell: string | null): string {
  if (cell === null) return "null";
  if (type === "text" || type === "time" || type === "any") return JSON.stringify(cell);
  return cell.replaceAll("\n", " "); // only between values
}

function sayWhere(error: unknown, name: string): unknown {
  if (error instanceof UnreadableError)
    return new StopError(`${name} cannot be read: ${error.message}; kbdump verify tells more`, { cause: error });
  if (error instanceof Error && "code" in error && error.code === "ENOSPC")
    return new StopError(`no room for the rows of ${name} in ${tmpdir()}; set TMPDIR to a folder that has it`, {
      cause: error,
    });
  return error;
}
