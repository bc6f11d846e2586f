import { constants } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainText } from "../client/plain-text.js";
import { shownStatus } from "../demo/index-knowledge.js";
import type { Details, MetadataField } from "../demo/knowledge.js";
import type { DumpTable, Manifest, ManifestFile } from "../dump/manifest.js";
import type { Dump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import { UnreadableError } from "../files/files.js";
import { splitLines } from "../files/lines.js";
import type { ReadProgress } from "../read-progress.js";
import { allKinds, type Kind } from "../rows/columns.js";
import { documentKey } from "../rows/row.js";
import { recordFromRow } from "../rows/row-from-record.js";
import { countOf } from "../words.js";
import { recordsOfRows } from "./dump-rows.js";
import { RowFile, rowOfLine } from "./row-file.js";
import { RowIndex } from "./row-index.js";

/** A dump that is indexed. Its files are open: it may be moved or deleted while it is served. */
export interface IndexedDump {
  readonly manifest: Manifest;
  readonly chunks: RowIndex;
  /** By the chunk that they belong to. */
  readonly children: RowIndex;
  readonly readings: StatusReadings;
  readonly fields: MetadataFields;
  /** Only where the run asked which documents there are. */
  readonly info: DocumentInfo | undefined;
  /** Only of a job with `details: true`. */
  readonly datasets: DetailRows | undefined;
  readonly documents: DetailRows | undefined;
  close(): Promise<void>;
}

/** Reads a dump once and keeps where everything stands. StopError where it is not as a run leaves it. */
export async function indexDump(dump: Dump, options: OpenOptions): Promise<IndexedDump> {
  const handles: FileHandle[] = [];
  const close = async () => {
    for (const handle of handles) await handle.close();
  };
  const read = async <T>(kind: Kind, make: (file: RowFile, bytes: AsyncIterable<Buffer>) => Promise<T>): Promise<T> => {
    const { handle, name } = await openRows(dump, kind, options);
    handles.push(handle);
    options.progress.step = `indexing ${name}`;
    return make(new RowFile(name, handle), piecesOf(handle, options));
  };
  const { counts } = dump.manifest;
  const readDetails = (kind: "datasets" | "document_details") =>
    counts[kind] === undefined ? undefined : read(kind, (file, bytes) => DetailRows.make(file, bytes, kind));
  for (const kind of allKinds) options.progress.expected += dump.tablesOf([kind])?.[0]?.bytes ?? 0;
  try {
    const open = {
      manifest: dump.manifest,
      readings: await read("indexing_status", StatusReadings.make),
      fields: await read("metadata_fields", MetadataFields.make),
      info: counts.document_info === undefined ? undefined : await read("document_info", DocumentInfo.make),
      datasets: await readDetails("datasets"),
      documents: await readDetails("document_details"),
      chunks: await read("chunks", (file, bytes) => RowIndex.make(file, "id", bytes)),
      children: await read("child_chunks", (file, bytes) => RowIndex.make(file, "segment_id", bytes)),
      close,
    };
    checkCounts(open);
    return open;
  } catch (error) {
    await close();
    throw error;
  }
}

async function* piecesOf(handle: FileHandle, { signal, progress }: OpenOptions): AsyncGenerator<Buffer> {
  for await (const piece of handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 20 })) {
    signal.throwIfAborted();
    progress.done += piece.length;
    yield piece;
  }
}

/** Every document has as many rows as the manifest says, and there are no rows of others. */
function checkCounts({ manifest, chunks, children }: Pick<IndexedDump, "manifest" | "chunks" | "children">): void {
  for (const [index, column] of [
    [chunks, "chunk_count"],
    [children, "child_chunk_count"],
  ] as const) {
    const said = new Map(manifest.documents.map((document) => [documentKey(document), document[column]]));
    const found = new Map(index.documents());
    for (const key of new Set([...said.keys(), ...found.keys()])) {
      const [wanted, rows] = [said.get(key), found.get(key) ?? 0];
      if (wanted === rows) continue;
      const says = wanted === undefined ? "does not know that document" : `says ${wanted}`;
      throw new StopError(
        `${index.file.name} has ${countOf(rows, "row")} of document ${plainText(key, "")}, the manifest ${says}; kbdump verify tells more`,
      );
    }
  }
}

/** The rows of a kind as JSONL, open to be read. */
interface OpenRows {
  readonly handle: FileHandle;
  /** The file that the rows come from, as errors name it. */
  readonly name: string;
}

/** Characters that are written at a time. */
const enough = 4_000_000;

/** Memory that DuckDB may use while it reads a file. */
const memory = "800MB";

/**
 * Opens the rows of a kind. Those that are not in one file of plain JSONL are rewritten as such, into a file without a name, which is gone
 * when the process ends. StopError when the dump has the rows in no format from which they can be had exactly, or when they
 * cannot be read to their end.
 */
async function openRows(dump: Dump, kind: Kind, options: OpenOptions): Promise<OpenRows> {
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

/** Writes the rows of a file as JSONL into a temporary file that only we can open, and whose room is free again when it is closed. */
async function rewriteRows(dump: Dump, table: DumpTable, options: OpenOptions): Promise<FileHandle> {
  const { signal, progress } = options;
  progress.step = `reading ${table.path}`;
  const folder = await mkdtemp(join(tmpdir(), "kbdump-serve-")).catch((error: NodeJS.ErrnoException) => {
    const hint = "set TMPDIR to a folder that can be written to";
    throw new StopError(`${table.path} is rewritten in ${tmpdir()}, where that fails: ${error.code}; ${hint}`);
  });
  try {
    const rows = join(folder, "rows.jsonl");
    const handle = await open(rows, "wx+", 0o600);
    await rm(rows); // what is open stays until it is closed, and no longer, whatever happens
    try {
      const checked = await dump.check(table, () => signal.throwIfAborted());
      await writeLines(dump.lines(checked, { memory, temporary: folder, signal }), handle);
      progress.done += table.bytes;
      progress.expected += (await handle.stat()).size;
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

export interface ServeOptions {
  /** On 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number;
  /** The key that every request must carry; a random one by default. */
  readonly key?: string;
  /** Ends the indexing; its reason is what rejects. A service that runs is ended by `close`. */
  readonly signal?: AbortSignal;
  readonly progress?: ReadProgress;
}

/** The options that the opening of a dump takes. */
type OpenOptions = Required<Pick<ServeOptions, "signal" | "progress">>;

/** The rows of `datasets` or `document_details`, each found by its ids. */
class DetailRows {
  readonly #file: RowFile;
  readonly #kind: "datasets" | "document_details";
  readonly #rows = new Map<string, number>();

  private constructor(file: RowFile, kind: "datasets" | "document_details") {
    this.#file = file;
    this.#kind = kind;
  }

  /** Reads a file once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(
    file: RowFile,
    bytes: AsyncIterable<Buffer>,
    kind: "datasets" | "document_details",
  ): Promise<DetailRows> {
    const details = new DetailRows(file, kind);
    for await (const lines of splitLines(bytes)) {
      for (const line of lines) {
        const row = file.rows;
        file.add(line.length);
        details.#rows.set(documentKey(rowOfLine(line, file.name, row + 1)), row);
      }
    }
    return details;
  }

  /** As the service sent it; undefined where the run could not read it. */
  async of(ids: { readonly dataset_id: string; readonly document_id?: string }): Promise<Details | undefined> {
    const row = this.#rows.get(documentKey(ids));
    return row === undefined ? undefined : (await recordsOfRows(this.#file, this.#kind, [row]))[0];
  }
}

/** A document as the service listed it: the place of its row, its name, and the status that it showed. */
interface ListedInfo {
  readonly row: number;
  readonly name: unknown;
  readonly status: string | null;
}

/** The documents as the service listed them, from the dump of a run that asked for the list. */
class DocumentInfo {
  readonly file: RowFile;
  readonly metadata = new MetadataInUse();
  readonly #places = new Map<string, ListedInfo>();

  private constructor(file: RowFile) {
    this.file = file;
  }

  /** Reads `document_info` once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(file: RowFile, bytes: AsyncIterable<Buffer>): Promise<DocumentInfo> {
    const info = new DocumentInfo(file);
    for await (const lines of splitLines(bytes)) for (const line of lines) info.#add(line);
    return info;
  }

  /** Undefined for a document that the job named by its id. */
  of(document: { readonly dataset_id: string; readonly document_id: string }): ListedInfo | undefined {
    return this.#places.get(documentKey(document));
  }

  #add(line: Buffer): void {
    const row = this.file.rows;
    this.file.add(line.length);
    const { dataset_id, document_id, extra, ...listed } = rowOfLine(line, this.file.name, row + 1);
    this.#places.set(documentKey({ dataset_id, document_id }), { row, name: listed.name, status: shownStatus(listed) });
    this.metadata.add(dataset_id, extra);
  }
}

/** The metadata fields of every dataset of a dump; they are few. */
class MetadataFields {
  readonly #fields = new Map<string, MetadataField[]>();

  /** Reads `metadata_fields` once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(file: RowFile, bytes: AsyncIterable<Buffer>): Promise<MetadataFields> {
    const fields = new MetadataFields();
    for await (const lines of splitLines(bytes)) {
      for (const line of lines) {
        file.add(line.length);
        fields.#add(rowOfLine(line, file.name, file.rows));
      }
    }
    return fields;
  }

  /** In their order; undefined for a dataset of which the dump has none. */
  of(dataset: string): readonly MetadataField[] | undefined {
    return this.#fields.get(dataset);
  }

  #add(row: Readonly<Record<string, unknown>>): void {
    const dataset = String(row.dataset_id);
    const fields = this.#fields.get(dataset) ?? [];
    this.#fields.set(dataset, fields);
    const { name, type } = recordFromRow("metadata_fields", row);
    fields.push({ name, type });
  }
}

/** A metadata field of a dataset, as its documents name it. */
export interface UsedField {
  readonly id: string;
  readonly name: unknown;
  readonly type: unknown;
}

/**
 * The metadata fields that documents of a dataset carry, by what the service listed of them. Fields that no document of the
 * dump carries are not known, nor is how many documents of the whole dataset do.
 */
class MetadataInUse {
  readonly #datasets = new Map<unknown, Map<string, UsedField>>();

  /** `extra` is that of a row of `document_info`: what no column names, `doc_metadata` among it. */
  add(dataset: unknown, extra: unknown): void {
    const fieldValues = memberOf(extra, "doc_metadata");
    if (!Array.isArray(fieldValues)) return;
    const fields = this.#datasets.get(dataset) ?? new Map<string, UsedField>();
    this.#datasets.set(dataset, fields);
    for (const field of fieldValues) {
      const id = memberOf(field, "id");
      if (typeof id !== "string" || id === "built-in") continue; // every dataset has those, in a list of their own
      if (!fields.has(id)) fields.set(id, { id, name: memberOf(field, "name"), type: memberOf(field, "type") });
    }
  }

  /** Undefined where no document of the dataset says anything of metadata. */
  of(dataset: string): readonly UsedField[] | undefined {
    const fields = this.#datasets.get(dataset);
    return fields && [...fields.values()];
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** The newest reading of each document: its row, and when it was made. */
type Readings = Map<string, { readonly row: number; readonly at: number }>;

/** The place of the newest reading of every document of a batch, by dataset and batch. */
class StatusReadings {
  readonly file: RowFile;
  readonly #batches = new Map<string, Readings>();

  private constructor(file: RowFile) {
    this.file = file;
  }

  /** Reads `indexing_status` once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(file: RowFile, bytes: AsyncIterable<Buffer>): Promise<StatusReadings> {
    const readings = new StatusReadings(file);
    for await (const lines of splitLines(bytes)) for (const line of lines) readings.#add(line);
    return readings;
  }

  /** The rows of the newest readings, in the order of the dump; undefined for a batch that was not read. */
  rowsOf(dataset: string, batch: string): readonly number[] | undefined {
    const readings = this.#batches.get(JSON.stringify([dataset, batch]));
    return readings && [...readings.values()].map(({ row }) => row).sort((a, b) => a - b);
  }

  #add(line: Buffer): void {
    const row = this.file.rows;
    this.file.add(line.length);
    const { dataset_id, batch, document_id, captured_at } = rowOfLine(line, this.file.name, row + 1);
    const name = JSON.stringify([dataset_id, batch]);
    const readings: Readings = this.#batches.get(name) ?? new Map();
    this.#batches.set(name, readings);
    const [document, at] = [String(document_id), Date.parse(String(captured_at)) || 0];
    const earlier = readings.get(document);
    if (!earlier || earlier.at <= at) readings.set(document, { row, at });
  }
}
