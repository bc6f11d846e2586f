import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { ByteFacts, type FileFacts } from "../files/byte-facts.js";
import { isThere } from "../files/files.js";
import type { SegmentLocation, SegmentRange } from "../files/join-segments.js";
import { encodeLines, RangeReader } from "../files/lines.js";
import { count, listOf, object, text, valueIf } from "../schema.js";
import { factEntries, readLines, segmentLocation } from "./segment.js";

/** A document and the texts of its rows, by the names that its own segments would have. */
interface ReadDocument<Result> {
  readonly name: string;
  readonly state: Result;
  readonly texts: ReadonlyMap<string, readonly string[]>;
}

/** The result of a document, and the location of its rows. */
export interface SharedResult<Result> {
  readonly state: Result;
  readonly files: readonly SegmentRange[];
}

/** A document that waits to be written. Once it is written, `files` says where its rows are. */
interface Waiting<Result> extends ReadDocument<Result> {
  files: readonly SegmentRange[];
}

/** A file for rows of one kind in one format. */
interface RowFile {
  /** The name of the file in the folder. */
  readonly name: string;
  readonly place: SegmentLocation;
  readonly file: GrowingFile;
}

/**
 * Stores small documents: the rows of many in one file per kind and format, and their results in one journal. Rows are written
 * first, and the journal has their hashes. So after a kill or power cut, a document has its result and all its rows, or it is read
 * again. Rows without a journal line are ignored.
 */
export class SharedSegments<Result> {
  readonly #folder: string;
  readonly #found: ReadonlyMap<string, SharedResult<Result>>;
  readonly #rowFiles = new Map<string, RowFile>();
  #journal: GrowingFile | undefined;
  #waiting: Waiting<Result>[] = [];
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();

  private constructor(folder: string, found: ReadonlyMap<string, SharedResult<Result>>) {
    this.#folder = folder;
    this.#found = found;
  }

  /** Reads and checks the documents that earlier processes left in a folder. */
  static async open<Result>(folder: string, state: v.GenericSchema<unknown, Result>): Promise<SharedSegments<Result>> {
    const found = new Map<string, SharedResult<Result>>();
    const reader = new RangeReader();
    try {
      for (const line of await readSharedJournal(folder, state)) {
        const files = await checkRanges(folder, line.segments, reader);
        if (files) found.set(line.name, { state: line.state, files });
      }
    } finally {
      await reader.close();
    }
    return new SharedSegments(folder, found);
  }

  /** The document with this name, as earlier processes left it; undefined if it is missing or damaged. */
  found(name: string): SharedResult<Result> | undefined {
    return this.#found.get(name);
  }

  /**
   * Writes a document, together with others that arrived since the last write began, and returns the location of its rows. Also
   * rejects with the error of an earlier write, because that write may be incomplete.
   */
  async add(document: ReadDocument<Result>): Promise<readonly SegmentRange[]> {
    const waiting: Waiting<Result> = { ...document, files: [] };
    this.#waiting.push(waiting);
    this.#next ??= this.#last.then(() => this.#write());
    this.#last = this.#next;
    await this.#next;
    return waiting.files;
  }

  /** Waits for pending writes and closes the files. */
  async close(): Promise<void> {
    await this.#last.catch(() => {}); // the caller of `add` gets the error
    for (const { file } of this.#rowFiles.values()) await file.close();
    await this.#journal?.close();
  }

  async #write(): Promise<void> {
    const documents = this.#waiting;
    [this.#waiting, this.#next] = [[], undefined];
    const lines: SharedLine<Result>[] = [];
    for (const document of documents) {
      const rows: { readonly range: SegmentRange; readonly facts: RangeFacts }[] = [];
      for (const [name, texts] of document.texts) rows.push(await this.#addRows(name, texts));
      document.files = rows.map(({ range }) => range); // stays in memory until the end: `map` allocates the exact size, `push` more
      lines.push({ name: document.name, state: document.state, segments: rows.map(({ facts }) => facts) });
    }
    for (const { file } of this.#rowFiles.values()) await file.flush();
    this.#journal ??= await GrowingFile.open(join(this.#folder, journalFile));
    this.#journal.add(Buffer.from(journalText(lines)));
    await this.#journal.flush();
  }

  /** Queues rows for the next write. `name`: the name that the document's own segment would have. */
  async #addRows(name: string, rows: readonly string[]): Promise<{ range: SegmentRange; facts: RangeFacts }> {
    const content = encodeLines(rows);
    const { bytes, sha256, lines, longestLine, longNumbers } = factsOf(content);
    const shared = await this.#rowFile(name.slice(name.indexOf(".")));
    const { kind, format, path } = shared.place;
    const start = shared.file.add(content);
    return {
      range: { kind, format, path, start, bytes, lines, longestLine, longNumbers },
      facts: { file: shared.name, start, bytes, sha256 },
    };
  }

  /** The file for one kind and format, given by the ending of a segment's name. */
  async #rowFile(ending: string): Promise<RowFile> {
    const known = this.#rowFiles.get(ending);
    if (known) return known;
    const name = `${sharedName}${ending}`;
    const place = segmentLocation(this.#folder, name);
    const opened = { name, place, file: await GrowingFile.open(place.path) };
    this.#rowFiles.set(ending, opened);
    return opened;
  }
}

function factsOf(bytes: Uint8Array): FileFacts {
  const counted = new ByteFacts();
  counted.add(bytes);
  return counted.facts;
}

/** The rows of a document if their bytes match its journal line; otherwise undefined, and the document must be read again. */
async function checkRanges(
  folder: string,
  segments: readonly RangeFacts[],
  reader: RangeReader,
): Promise<readonly SegmentRange[] | undefined> {
  const ranges: SegmentRange[] = [];
  for (const { file, start, bytes, sha256 } of segments) {
    const counted = new ByteFacts();
    try {
      const place = segmentLocation(folder, file);
      for await (const piece of reader.pieces({ path: place.path, start, bytes })) counted.add(piece);
      const { sha256: found, ...facts } = counted.facts;
      if (found !== sha256) return undefined;
      ranges.push({ ...place, start, ...facts });
    } catch {
      return undefined; // a power cut can truncate a file, and damage a name in the journal
    }
  }
  return ranges;
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;

/** An append-only file that writes everything that is queued at once. This process is its only writer. */
class GrowingFile {
  readonly #file: FileHandle;
  #end: number;
  #waiting: Uint8Array[] = [];

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** Opens a file to append to, or creates it. Does not follow a symlink. */
  static async open(path: string): Promise<GrowingFile> {
    const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      return new GrowingFile(file, (await file.stat()).size);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Queues bytes. Returns the offset in the file where they will start. */
  add(bytes: Uint8Array): number {
    const start = this.#end;
    this.#waiting.push(bytes);
    this.#end += bytes.length;
    return start;
  }

  /** Writes all queued bytes. After an error, do not write again: the end of the file is unknown. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    await this.#file.writeFile(bytes);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** The beginning of the names of all shared files. No document has this name. */
const sharedName = "shared";

/** The rows of a document in a file shared with others. `start`: the offset at which they start. */
const rangeSchema = object({ ...factEntries, start: count });
type RangeFacts = v.InferOutput<typeof rangeSchema>;

/** A journal line: the result of a document, and the location of its rows. */
interface SharedLine<Result> {
  readonly name: string;
  readonly state: Result;
  readonly segments: readonly RangeFacts[];
}

const nameSchema = object({ name: text });

function lineSchema<Result>(state: v.GenericSchema<unknown, Result>) {
  return object({ name: text, state, segments: listOf(rangeSchema) });
}

/** The name of the journal in the folder of the segments. */
export const journalFile = `${sharedName}.results.jsonl`;

/** The text of some journal lines. It starts with a line feed, so that a line cut short by a kill stays separate and is skipped. */
function journalText(lines: readonly SharedLine<unknown>[]): string {
  return `\n${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** The last journal line of every document in a folder. The rows are not checked yet. */
export async function readSharedJournal<Result>(
  folder: string,
  state: v.GenericSchema<unknown, Result>,
): Promise<readonly SharedLine<Result>[]> {
  const lines = new Map<string, SharedLine<Result>>();
  for await (const line of readChecked(folder, lineSchema(state))) lines.set(line.name, line);
  return [...lines.values()];
}

/** The names of documents that are finished or can be resumed. Segments without a journal or a result do not count. */
export async function namesOfBegun(folder: string): Promise<ReadonlySet<string>> {
  const files = (await readdir(folder)).filter((file) => /\.(journal|result\.json)$/.test(file));
  const names = new Set(files.map((file) => file.slice(0, file.indexOf("."))));
  for await (const { name } of readChecked(folder, nameSchema)) names.add(name);
  return names;
}

async function* readChecked<T>(folder: string, schema: v.GenericSchema<unknown, T>): AsyncGenerator<T> {
  const path = join(folder, journalFile);
  if (!(await isThere(path))) return;
  const parsed = v.pipe(v.string(), v.parseJson(), schema);
  for await (const line of readLines(path)) {
    const value = valueIf(parsed, line);
    if (value !== undefined) yield value;
  }
}
