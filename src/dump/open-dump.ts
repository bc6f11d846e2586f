import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type DuckDbOptions, isOwnError } from "../duckdb/open-duckdb.js";
import { StopError } from "../errors.js";
import type { Kind } from "../rows/columns.js";
import { ByteFacts, LongestRow } from "./files/byte-facts.js";
import { ifAbsent } from "./files/is-there.js";
import { readPieces } from "./files/read-pieces.js";
import type { RowFile } from "./formats/format.js";
import { type FileFormat, fileFormats, modulesOf } from "./formats/formats.js";
import { contradictionsIn } from "./manifest/contradictions.js";
import { type Manifest, type ManifestFile, manifestName, partsOf } from "./manifest/manifest.js";
import { readDumpFolder } from "./manifest/read-manifest.js";

/** A file whose bytes are those that its run wrote. */
export interface CheckedFile extends RowFile {
  readonly kind: Kind;
  readonly format: FileFormat;
  readonly rows: number;
}

export interface FileChoice {
  /** Files that are not exact will do: whoever reads them knows about the apostrophes of `csv_safe`. */
  readonly guarded?: boolean;
}

/** JSONL is read the quickest, and Parquet has types. */
const readFirst: readonly FileFormat[] = ["jsonl", "parquet"];

/**
 * Opens the folder of a run. UsageError when the path is none; StopError when its manifest is not sound. `consequence` says in
 * errors what comes of a dump that is not sound, such as `nothing was compared`.
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

/** A dump as every command but verify reads it, whatever its formats. */
export class Dump {
  /** With its symlinks resolved. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly #consequence: string;

  constructor(folder: string, manifest: Manifest, consequence: string) {
    this.folder = folder;
    this.manifest = manifest;
    this.#consequence = consequence;
  }

  /** The files of some kinds, in their order, in the best format that has all of them; undefined where none has. */
  filesOf(kinds: readonly Kind[], { guarded = false }: FileChoice = {}): readonly ManifestFile[] | undefined {
    const { files, options } = this.manifest;
    const best = [...readFirst, ...fileFormats.filter((format) => !readFirst.includes(format))];
    for (const format of best) {
      if (!guarded && modulesOf(format).isExact?.(options.output) === false) continue;
      const found = kinds.map((kind) => files.find(({ path }) => path === `${kind}.${format}`));
      if (found.every((file) => file !== undefined)) return found;
    }
    return undefined;
  }

  /** Reads every byte of a file. StopError when it is not the file that the manifest lists. */
  async check(file: ManifestFile, onBytes: (bytes: number) => void = () => {}): Promise<CheckedFile> {
    await this.checkSizes([file]);
    const { kind, format } = partsOf(file);
    const { hasQuotedLines = false } = await modulesOf(format).sql();
    const path = join(this.folder, file.path);
    const [facts, longest] = [new ByteFacts(), new LongestRow(hasQuotedLines)];
    for await (const piece of readPieces(path)) {
      facts.add(piece);
      if (hasQuotedLines) longest.add(piece);
      onBytes(piece.length);
    }
    const { sha256, longestLine, longNumbers } = facts.facts;
    if (sha256 !== file.sha256) throw this.unsound(`${file.path}: has another SHA-256 than the manifest says`);
    return {
      path,
      kind,
      format,
      rows: file.rows,
      longestLine: hasQuotedLines ? longest.bytes : longestLine,
      longNumbers,
    };
  }

  /** StopError, naming each, when files are missing, no regular files, or of another size than the manifest says. */
  async checkSizes(files: readonly ManifestFile[]): Promise<void> {
    const problems: string[] = [];
    for (const file of files) problems.push(...(await sizeProblems(this.folder, file)));
    if (problems.length > 0) throw new UnsoundError(this.folder, this.#consequence, problems);
  }

  /** SQL: the rows of a file, with JSON as DuckDB's type JSON, or as VARCHAR. */
  async select(file: CheckedFile, json: "JSON" | "VARCHAR"): Promise<string> {
    const { selectRows } = await modulesOf(file.format).sql();
    return selectRows(file.kind, file, json);
  }

  /** The rows of a file in their order, some at a time, each as one line of JSON. */
  async *lines(file: CheckedFile, options: DuckDbOptions): AsyncGenerator<Iterable<string>> {
    const { readRows } = await modulesOf(file.format).read();
    yield* readRows(file.kind, file, options);
  }

  /** The error of a dump that is not as its run left it. */
  unsound(reason: string, cause?: unknown): UnsoundError {
    return new UnsoundError(this.folder, this.#consequence, [reason], cause);
  }

  /** The error of a file that DuckDB cannot read; one that says nothing against the file stays as it is. */
  unreadable({ path }: Pick<ManifestFile, "path">, error: unknown): unknown {
    if (!(error instanceof Error) || isOwnError(error)) return error;
    return this.unsound(`${path}: cannot be read: ${error.message.split("\n")[0]}`, error);
  }
}

async function sizeProblems(folder: string, { path, bytes }: ManifestFile): Promise<readonly string[]> {
  const facts = await lstat(join(folder, path)).catch(ifAbsent(undefined));
  if (!facts) return [`${path}: is not there`];
  if (facts.isSymbolicLink()) return [`${path}: is a symlink, which is not followed`];
  if (!facts.isFile()) return [`${path}: is no regular file`];
  return facts.size === bytes ? [] : [`${path}: has ${facts.size} bytes instead of ${bytes}`];
}

/** A dump that is not as its run left it. */
export class UnsoundError extends StopError {
  readonly problems: readonly string[];

  constructor(folder: string, consequence: string, problems: readonly string[], cause?: unknown) {
    const name = /^[\w./@%+=:,-]+$/.test(folder) ? folder : JSON.stringify(folder);
    const hint = `kbdump verify ${name} tells everything that is wrong with it`;
    super(`${folder} is not sound, so ${consequence}:\n  ${problems.join("\n  ")}\n${hint}`, { cause });
    this.problems = problems;
  }
}
