import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type DuckDbOptions, isOwnError } from "../duckdb/open-duckdb.js";
import { StopError } from "../errors.js";
import { ByteFacts, LongestRow } from "../files/byte-facts.js";
import { ifAbsent, isThere, UnreadableError } from "../files/files.js";
import { readPieces, textPieces } from "../files/lines.js";
import type { Kind } from "../rows/columns.js";
import { countOf } from "../words.js";
import { allFiles, type RowFiles } from "./formats/format.js";
import { type FileFormat, fileFormats, formatOf } from "./formats/formats.js";
import {
  type DumpTable,
  type Manifest,
  type ManifestFile,
  manifestName,
  type Original,
  partsOf,
  tablesOf,
} from "./manifest.js";
import { contradictionsIn, readDumpFolder } from "./read-manifest.js";
import { guardedJob } from "./run-id.js";

/** A table whose files match the manifest. */
export interface CheckedTable extends RowFiles, Pick<DumpTable, "kind" | "format" | "path" | "rows"> {}

interface FileChoice {
  /** Whether CSV files written with `csv_safe` are acceptable, because the caller removes the apostrophes. */
  readonly guarded?: boolean;
}

/** Preferred formats, best first: JSONL is the fastest to read, and Parquet has types. */
const readFirst: readonly FileFormat[] = ["jsonl", "parquet"];

/**
 * Opens a run folder. Throws UsageError if the path is not one, StopError if its manifest is damaged or of another version.
 * `consequence` is the end of error messages, such as `nothing was compared`.
 */
export async function openDump(path: string, consequence: string): Promise<Dump> {
  const { folder, manifest, problems } = await readDumpFolder(path);
  const wrong = manifest ? contradictionsIn(manifest) : problems;
  if (!manifest || wrong.length > 0)
    throw new UnsoundError(
      folder,
      consequence,
      wrong.map((problem) => `${manifestName}: ${problem}`),
    );
  return new Dump(folder, manifest, consequence);
}

/** A dump in any format. Every command except verify reads dumps through this class. */
export class Dump {
  /** The path of the run folder, with symlinks resolved. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly #consequence: string;
  #tables: readonly DumpTable[] | undefined;

  constructor(folder: string, manifest: Manifest, consequence: string) {
    this.folder = folder;
    this.manifest = manifest;
    this.#consequence = consequence;
  }

  /** The tables of these kinds, in order, in the best format that has all of them; undefined if no format has. */
  tablesOf(kinds: readonly Kind[], { guarded = false }: FileChoice = {}): readonly DumpTable[] | undefined {
    const { files, options } = this.manifest;
    this.#tables ??= tablesOf(files);
    const best = [...readFirst, ...fileFormats.filter((format) => !readFirst.includes(format))];
    for (const format of best) {
      if (!guarded && formatOf(format).isExact?.(options.output) === false) continue;
      const tables = this.#tables.filter((table) => table.format === format);
      const found = kinds.flatMap((kind) => tables.find((table) => table.kind === kind) ?? []);
      if (found.length === kinds.length) return found;
    }
    return undefined;
  }

  /** Reads every byte of a table. Throws StopError if a file differs from the manifest. */
  async check(table: DumpTable, onBytes: (bytes: number) => void = () => {}): Promise<CheckedTable> {
    await this.checkSizes(table.files);
    const files: RowFiles[] = [];
    for (const file of table.files) files.push(await this.#checkFile(file, onBytes));
    const { kind, format, path, rows } = table;
    return { kind, format, path, rows, ...allFiles(files) };
  }

  async #checkFile(file: ManifestFile, onBytes: (bytes: number) => void): Promise<RowFiles> {
    const { hasQuotedLines = false } = await formatOf(partsOf(file).format).load();
    const path = join(this.folder, file.path);
    const [facts, longest, hash] = [new ByteFacts(), new LongestRow(hasQuotedLines), createHash("sha256")];
    const isCompressed = file.uncompressed !== undefined;
    async function* pieces() {
      for await (const piece of readPieces(path)) {
        if (isCompressed) hash.update(piece);
        onBytes(piece.length);
        yield piece;
      }
    }
    try {
      for await (const piece of textPieces(path, pieces())) {
        facts.add(piece);
        if (hasQuotedLines) longest.add(piece);
      }
    } catch (error) {
      throw error instanceof UnreadableError ? this.unsound(`${file.path}: ${error.message}`, error) : error;
    }
    const { sha256, longestLine, longNumbers } = facts.facts;
    const [ofFile, ofText] = isCompressed ? [hash.digest("hex"), sha256] : [sha256, undefined];
    if (ofFile !== file.sha256) throw this.unsound(`${file.path}: has another SHA-256 than the manifest says`);
    if (ofText !== file.uncompressed?.sha256)
      throw this.unsound(`${file.path}: its text has another SHA-256 than the manifest says`);
    return { paths: [path], longestLine: hasQuotedLines ? longest.bytes : longestLine, longNumbers };
  }

  /** Throws StopError, naming each file, if files are missing, not regular, or of another size than the manifest says. */
  async checkSizes(files: readonly Pick<ManifestFile, "path" | "bytes">[]): Promise<void> {
    const problems = new Set<string>(); // a symlink is named once, even with many files below it
    for (const file of files) for (const problem of await sizeProblems(this.folder, file)) problems.add(problem);
    if (problems.size > 0) throw new UnsoundError(this.folder, this.#consequence, [...problems]);
  }

  /** SQL: the rows of a table, with JSON as DuckDB's type JSON or as VARCHAR. */
  async select(table: CheckedTable, json: "JSON" | "VARCHAR"): Promise<string> {
    const { selectRows } = await formatOf(table.format).load();
    return selectRows(table.kind, table, json);
  }

  /** The rows of a table in order and in batches, each as one line of JSON. */
  async *lines(table: CheckedTable, options: DuckDbOptions): AsyncGenerator<Iterable<string>> {
    const { readRows } = await formatOf(table.format).load();
    yield* readRows(table.kind, table, options);
  }

  /** The error for a dump that differs from what its run wrote. */
  unsound(reason: string, cause?: unknown): UnsoundError {
    return new UnsoundError(this.folder, this.#consequence, [reason], cause);
  }

  /** The error for a file that DuckDB cannot read. Errors that do not concern the file stay unchanged. */
  unreadable({ path }: Pick<DumpTable, "path">, error: unknown): unknown {
    if (!(error instanceof Error) || isOwnError(error)) return error;
    return this.unsound(`${path}: cannot be read: ${error.message.split("\n")[0]}`, error);
  }
}

async function sizeProblems(
  folder: string,
  { path, bytes }: Pick<ManifestFile, "path" | "bytes">,
): Promise<readonly string[]> {
  const names = path.split("/");
  for (let depth = 1; depth < names.length; depth++) {
    const above = names.slice(0, depth).join("/");
    const facts = await lstat(join(folder, above)).catch(ifAbsent(undefined));
    if (facts?.isSymbolicLink()) return [`${above}: is a symlink, which is not followed`];
  }
  const facts = await lstat(join(folder, path)).catch(ifAbsent(undefined));
  if (!facts) return [`${path}: is not there`];
  if (facts.isSymbolicLink()) return [`${path}: is a symlink, which is not followed`];
  if (!facts.isFile()) return [`${path}: is not a regular file`];
  return facts.size === bytes ? [] : [`${path}: has ${facts.size} bytes instead of ${bytes}`];
}

/** Maximum problems to list in an error. A manifest can have one for every document. */
const shown = 20;

/** Thrown if a dump differs from what its run wrote. */
export class UnsoundError extends StopError {
  readonly problems: readonly string[];

  constructor(folder: string, consequence: string, problems: readonly string[], cause?: unknown) {
    const name = /^[\w./@%+=:,-]+$/.test(folder) ? folder : JSON.stringify(folder);
    const hint = `kbdump verify ${name} shows everything that is wrong with it`;
    const more = problems.length - shown;
    const lines = [...problems.slice(0, shown), ...(more > 0 ? [`and ${countOf(more, "other problem")}`] : [])];
    super(`${folder} is not sound, so ${consequence}:\n  ${lines.join("\n  ")}\n${hint}`, { cause });
    this.problems = problems;
  }
}

/** A complete original or attachment of a dump. */
interface SavedFile {
  /** The absolute path of the file. */
  readonly path: string;
  /** The name of the file in the service; if unknown, the name of the saved file. */
  readonly name: string;
  readonly mime_type: string | null;
  readonly bytes: number;
  /** The SHA-256 from the manifest, in hex. */
  readonly sha256: string;
}

/** The complete files attached to a dump's chunks, by attachment id. They are not opened. */
export function attachmentFiles({
  folder,
  manifest,
}: Pick<Dump, "folder" | "manifest">): ReadonlyMap<string, SavedFile> {
  const files = new Map<string, SavedFile>();
  for (const original of manifest.originals ?? []) {
    const { attachment_id: id } = original;
    const file = savedFile(original, folder);
    if (id !== null && file && !files.has(id)) files.set(id, file);
  }
  return files;
}

/** The file of an original in its run folder; undefined if it is incomplete. */
function savedFile(original: Original, folder: string): SavedFile | undefined {
  const { verdict, path, sha256, name, mime_type, bytes } = original;
  if (verdict !== "complete" || path === null || sha256 === null) return undefined;
  return { path: join(folder, path), name: name ?? basename(path), mime_type, bytes, sha256 };
}

/** The job's database, next to the folder of its runs; undefined if there is none. */
export async function databaseOf({ folder, manifest }: Dump): Promise<string | undefined> {
  if (basename(dirname(folder)) !== "runs") return undefined;
  const path = join(dirname(dirname(folder)), `${manifest.job}.duckdb`);
  return (await isThere(path)) ? path : undefined;
}

/**
 * The database with the history of a run: that of its job, or of the job whose documents guard backed up; undefined if there is
 * none.
 */
export async function historyOf(dump: Dump): Promise<string | undefined> {
  const own = await databaseOf(dump);
  const job = guardedJob(dump.manifest.job);
  if (own !== undefined || job === undefined || basename(dirname(dump.folder)) !== "runs") return own;
  const path = join(dirname(dump.folder), "..", "..", job, `${job}.duckdb`);
  return (await isThere(path)) ? path : undefined;
}
