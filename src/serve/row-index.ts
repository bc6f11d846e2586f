import { plainText } from "../client/plain-text.js";
import { StopError } from "../errors.js";
import { UnreadableError } from "../files/files.js";
import { splitLines } from "../files/lines.js";
import { documentKey } from "../rows/row.js";
import { NumberList, type RowFile } from "./row-file.js";

/** Rows from `first` to before `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** Lines of rows that stand together, and the number of the first of them, from 0. */
export interface Lines {
  readonly first: number;
  readonly lines: readonly Buffer[];
}

/** The rows of a document. */
interface DocumentRange extends RowRange {
  /** Bytes of the longest run of rows with the same id. */
  readonly longestRun: number;
}

type MutableRange = { -readonly [Name in keyof DocumentRange]: DocumentRange[Name] };

const noRows: DocumentRange = { first: 0, end: 0, longestRun: 0 };

/** The places in a file of the rows of each document, and of the rows of each id: chunks by `id`, child chunks by `segment_id`. */
export class RowIndex {
  readonly file: RowFile;
  readonly #idColumn: IdColumn;
  readonly #runs = new RunTable();
  readonly #documents = new Map<string, MutableRange>();
  #current: MutableRange = { ...noRows };
  #last: RowKey | undefined;
  #runFirst = 0;

  private constructor(file: RowFile, idColumn: IdColumn) {
    this.file = file;
    this.#idColumn = idColumn;
  }

  /** Reads the bytes of the file once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(file: RowFile, idColumn: IdColumn, bytes: AsyncIterable<Buffer>): Promise<RowIndex> {
    const index = new RowIndex(file, idColumn);
    try {
      for await (const lines of splitLines(bytes)) for (const line of lines) index.#add(line);
      await index.#finish();
    } catch (error) {
      if (!(error instanceof RowError) && !(error instanceof UnreadableError)) throw error;
      throw new StopError(`${file.name}: ${plainText(error.message, "")}; kbdump verify tells more`, { cause: error });
    }
    return index;
  }

  /** The documents that have rows, as `documentKey` names them, with how many. */
  *documents(): Generator<readonly [key: string, rows: number]> {
    for (const [key, { first, end }] of this.#documents) yield [key, end - first];
  }

  /** The rows of a document; none where it has none. */
  document(dataset: string, document: string): DocumentRange {
    return this.#documents.get(documentKey({ dataset_id: dataset, document_id: document })) ?? noRows;
  }

  /** The rows with the id; undefined where there are none. */
  async rowsOf(key: RowKey): Promise<RowRange | undefined> {
    for (const range of this.#candidates(key)) if (isSame(await this.#keyAt(range.first), key)) return range;
    return undefined;
  }

  /** The lines of all rows of several ids, each with the number of the first; rows that stand together are read at once. */
  async linesOf(keys: readonly RowKey[]): Promise<readonly Lines[]> {
    const candidates = keys.map((key) => [...this.#candidates(key)]);
    const blocks: { first: number; end: number }[] = [];
    for (const { first, end } of candidates.flat().sort((a, b) => a.first - b.first)) {
      const last = blocks.at(-1);
      if (last && first <= last.end) last.end = Math.max(last.end, end);
      else blocks.push({ first, end });
    }
    const read = await Promise.all(
      blocks.map(async (block) => ({ ...block, lines: await this.file.lines(block.first, block.end) })),
    );
    return keys.map((key, at) => {
      for (const { first, end } of candidates[at] ?? []) {
        const block = read.find((each) => each.first <= first && end <= each.end);
        const lines = block?.lines.slice(first - block.first, end - block.first) ?? [];
        if (lines[0] && isSame(keyOfLine(lines[0], this.#idColumn, first), key)) return { first, lines };
      }
      return { first: 0, lines: [] };
    });
  }

  #add(line: Buffer): void {
    const row = this.file.rows;
    const [key, last] = [keyOfLine(line, this.#idColumn, row), this.#last];
    this.file.add(line.length);
    const isNew = !last || !isSame(last, key);
    if (!isNew && this.#idColumn === "id") throw twice(key, row);
    if (isNew) {
      this.#runs.add(key, row);
      this.#runFirst = row;
    }
    const isOther = !last || last.document !== key.document || last.dataset !== key.dataset;
    if (isOther) this.#current = this.#begin(key, row);
    this.#current.end = row + 1;
    this.#current.longestRun = Math.max(this.#current.longestRun, this.file.bytes(this.#runFirst, row + 1));
    this.#last = key;
  }

  #begin({ dataset, document }: RowKey, row: number): MutableRange {
    const name = documentKey({ dataset_id: dataset, document_id: document });
    if (this.#documents.has(name))
      throw new RowError(`row ${row + 1} stands apart from the others of document ${document}`);
    const range = { first: row, end: row, longestRun: 0 };
    this.#documents.set(name, range);
    return range;
  }

  async #finish(): Promise<void> {
    for (const [one, other] of this.#runs.finish()) {
      const row = this.#rangeOf(other).first;
      const key = await this.#keyAt(row);
      if (isSame(await this.#keyAt(this.#rangeOf(one).first), key)) throw twice(key, row);
    }
  }

  /** The rows that may have the id: one run or none, but for hashes that collide. */
  *#candidates(key: RowKey): Generator<RowRange> {
    for (const run of this.#runs.find(key)) yield this.#rangeOf(run);
  }

  #rangeOf(run: number): RowRange {
    const { rows } = this.file;
    return { first: this.#runs.firstRow(run, rows), end: this.#runs.firstRow(run + 1, rows) };
  }

  async #keyAt(row: number): Promise<RowKey> {
    const [line = Buffer.alloc(0)] = await this.file.lines(row, row + 1);
    return keyOfLine(line, this.#idColumn, row);
  }
}

function keyOfLine(line: Buffer, idColumn: IdColumn, row: number): RowKey {
  try {
    return rowKey(line, idColumn);
  } catch (error) {
    if (error instanceof RowError) throw new RowError(`row ${row + 1} ${error.message}`);
    throw error;
  }
}

function twice({ document, id }: RowKey, row: number): RowError {
  return new RowError(`row ${row + 1}, of chunk ${id} of document ${document}, stands apart or a second time`);
}

function isSame(one: RowKey, other: RowKey): boolean {
  return one.id === other.id && one.document === other.document && one.dataset === other.dataset;
}

/**
 * The places of the rows of a key, for rows that stand together by key: a row of chunks, or the children of a chunk. It keeps
 * hashes and no keys, sixteen to 24 bytes a run of rows; who asks compares the key with that of the row found.
 */
export class RunTable {
  readonly #firsts = new NumberList(4);
  readonly #hashes = new NumberList(4);
  #slots = new Uint32Array(0);

  get runs(): number {
    return this.#firsts.length;
  }

  /** A run of the key begins with this row. */
  add(key: RowKey, firstRow: number): void {
    this.#firsts.push(firstRow);
    this.#hashes.push(hashOf(key));
  }

  /** The first row of a run, from 0; behind the last one, `rows`. */
  firstRow(run: number, rows: number): number {
    return run < this.runs ? this.#firsts.at(run) : rows;
  }

  /** To be called after the last `add`. Gives the pairs of runs that may have the same key: few, or the dump is not sound. */
  *finish(): Generator<readonly [number, number]> {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(this.runs * 2 + 2)));
    for (let run = 0; run < this.runs; run++) {
      const hash = this.#hashes.at(run);
      let slot = this.#slotOf(hash);
      for (let found = this.#slots[slot]; found; found = this.#slots[slot]) {
        if (this.#hashes.at(found - 1) === hash) yield [found - 1, run];
        slot = this.#next(slot);
      }
      this.#slots[slot] = run + 1;
    }
  }

  /** The runs that may have the key: with next to all keys one or none. */
  *find(key: RowKey): Generator<number> {
    const hash = hashOf(key);
    let slot = this.#slotOf(hash);
    for (let found = this.#slots[slot]; found; found = this.#slots[slot]) {
      if (this.#hashes.at(found - 1) === hash) yield found - 1;
      slot = this.#next(slot);
    }
  }

  #slotOf(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }
}

/** 32 bits of the key, well spread (FNV-1a, and the last steps of murmur3). */
function hashOf({ dataset, document, id }: RowKey): number {
  let hash = 0x811c9dc5;
  for (const text of [id, document, dataset]) {
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ 0x1f, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The first three columns of a row of chunks or child chunks. `id` is the chunk's; of a child chunk, its parent's. */
export interface RowKey {
  readonly dataset: string;
  readonly document: string;
  readonly id: string;
}

/** A line that is no row of its kind; the message says why. */
class RowError extends Error {
  override readonly name = "RowError";
}

/** The column that, with dataset and document, tells which rows stand together. */
type IdColumn = "id" | "segment_id";

const string = String.raw`("(?:[^"\\]|\\.)*")`;
const start = new RegExp(`^\\{"dataset_id":${string},"document_id":${string},"(?:id|segment_id)":${string},`);

/** Bytes that hold the first three columns of nearly every row. */
const enough = 400;

/** The key of a line of JSONL. Only its beginning is looked at where that is as kbdump writes it. RowError when it has none. */
function rowKey(line: Buffer, idColumn: IdColumn): RowKey {
  const found = start.exec(line.toString("utf8", 0, enough));
  if (found) {
    const [, dataset = "", document = "", id = ""] = found;
    return { dataset: textOf(dataset), document: textOf(document), id: textOf(id) };
  }
  return keyOfWhole(line.toString("utf8"), idColumn);
}

function textOf(json: string): string {
  return json.includes("\\") ? String(JSON.parse(json)) : json.slice(1, -1);
}

function keyOfWhole(line: string, idColumn: IdColumn): RowKey {
  const row = objectFrom(line);
  const { dataset_id: dataset, document_id: document, [idColumn]: id } = row;
  if (typeof dataset === "string" && typeof document === "string" && typeof id === "string") {
    return { dataset, document, id };
  }
  throw new RowError(`has no dataset_id, document_id and ${idColumn}`);
}

function objectFrom(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // said below
  }
  throw new RowError("is no JSON object");
}
