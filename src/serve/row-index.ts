import { plainText } from "../client/plain-text.js";
import { splitLines } from "../dump/files/split-lines.js";
import { UnreadableError } from "../dump/files/unreadable-error.js";
import { StopError } from "../errors.js";
import { documentKey } from "../rows/document-row.js";
import type { RowFile } from "./row-file.js";
import { type IdColumn, RowError, type RowKey, rowKey } from "./row-key.js";
import { RunTable } from "./run-table.js";

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
export interface DocumentRange extends RowRange {
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
