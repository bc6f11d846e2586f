import { constants } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UnreadableError } from "../dump/files/unreadable-error.js";
import type { ManifestFile } from "../dump/manifest/manifest.js";
import type { DumpTable } from "../dump/manifest/tables.js";
import type { Dump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import type { Kind } from "../rows/columns.js";
import type { OpenOptions } from "./serve-options.js";

/** The rows of a kind as JSONL, open to be read. */
export interface OpenRows {
  readonly handle: FileHandle;
  /** The file that the rows come from, as errors name it. */
  readonly name: string;
}

/** Characters that are written at a time. */
const enough = 4_000_000;

/** Memory that DuckDB may use while it reads a file. */
const memory = "800MB";

/**
 * Opens the rows of a kind. Those that are not in one file of plain JSONL are written anew as such, into a file without a name, which is gone
 * when the process ends. StopError when the dump has the rows in no format from which they can be had exactly, or when they
 * cannot be read to their end.
 */
export async function openRows(dump: Dump, kind: Kind, options: OpenOptions): Promise<OpenRows> {
  const [table] = dump.tablesOf([kind]) ?? [];
  if (!table) throw new StopError(`${dump.folder} cannot be served: ${reasonOf(dump)}`);
  const file = lineFile(table);
  const handle =
    file === undefined
      ? await rewriteRows(dump, table, options)
      : await open(join(dump.folder, file.path), constants.O_RDONLY | constants.O_NOFOLLOW);
  return { handle, name: table.path };
}

/** The file of JSONL that can be read as it is; undefined where the rows are in another form. */
function lineFile({ format, files }: DumpTable): ManifestFile | undefined {
  const [file, ...others] = files;
  return format === "jsonl" && others.length === 0 && !file?.uncompressed ? file : undefined;
}

function reasonOf({ manifest: { files, options } }: Dump): string {
  const needs = "a dump is served from jsonl, parquet or csv, best from jsonl";
  if (files.length === 0) return `the run wrote none of its files, only the database; ${needs}`;
  if (options.output.csv_safe) return "the run wrote csv alone, with csv_safe, which is not lossless";
  return `some of its files are missing; ${needs}`;
}

/** Writes the rows of a file as JSONL into a temporary file that nobody else can open, and whose room is free again when it is closed. */
async function rewriteRows(dump: Dump, table: DumpTable, options: OpenOptions): Promise<FileHandle> {
  const { signal, tally } = options;
  tally.step = `reading ${table.path}`;
  const folder = await mkdtemp(join(tmpdir(), "kbdump-serve-")).catch((error: NodeJS.ErrnoException) => {
    const hint = "set TMPDIR to a folder that can be written to";
    throw new StopError(`${table.path} is written anew in ${tmpdir()}, where that fails: ${error.code}; ${hint}`);
  });
  try {
    const rows = join(folder, "rows.jsonl");
    const handle = await open(rows, "wx+", 0o600);
    await rm(rows); // what is open stays until it is closed, and no longer, whatever happens
    try {
      const checked = await dump.check(table, () => signal.throwIfAborted());
      await writeLines(dump.lines(checked, { memory, temporary: folder, signal }), handle);
      tally.done += table.bytes;
      tally.expected += (await handle.stat()).size;
      return handle;
    } catch (error) {
      await handle.close();
      signal.throwIfAborted();
      throw sayWhere(error, table.path);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeLines(rows: AsyncIterable<Iterable<string>>, handle: FileHandle): Promise<void> {
  for await (const lines of rows) {
    let text = "";
    for (const line of lines) {
      text += `${line}\n`;
      if (text.length < enough) continue;
      await handle.appendFile(text);
      text = "";
    }
    await handle.appendFile(text);
  }
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
