import { readTextPieces } from "../dump/files/read-pieces.js";
import { splitLines } from "../dump/files/split-lines.js";
import { documentKey } from "../rows/document-row.js";

/** The rows of one document in a JSONL file: a range of its text. */
export interface RowRange {
  readonly key: string;
  readonly start: number;
  readonly bytes: number;
  readonly lines: number;
  /** Bytes, without the line feed. */
  readonly longestLine: number;
}

/** A run writes the columns in their order, and these are the first two of chunks and child chunks. */
const ids = /^\{"dataset_id":("(?:[^"\\]|\\.)*"),"document_id":("(?:[^"\\]|\\.)*"),/;

/** More than two ids take. */
const longestIds = 65_536;

/**
 * Finds the rows of each document in a JSONL file of chunks or child chunks, in the order of the file. A document whose rows do not
 * stand together has several ranges. Rejects with the error that `refuse` makes of a row that no run writes.
 */
export async function* scanRows(
  path: string,
  { refuse, signal }: { readonly refuse: (reason: string) => Error; readonly signal: AbortSignal },
): AsyncGenerator<RowRange> {
  let begin: Buffer | undefined;
  let range = { key: "", start: 0, bytes: 0, lines: 0, longestLine: 0 };
  let row = 0;
  for await (const lines of splitLines(readTextPieces(path))) {
    signal.throwIfAborted();
    for (const line of lines) {
      row++;
      if (!begin?.equals(line.subarray(0, begin.length))) {
        const start = range.start + range.bytes;
        if (range.lines > 0) yield range;
        const found = ids.exec(line.toString("latin1", 0, longestIds));
        if (!found) throw refuse(`row ${row} does not begin with its dataset and document`);
        begin = Buffer.from(found[0], "latin1");
        range = { key: keyIn(begin), start, bytes: 0, lines: 0, longestLine: 0 };
      }
      range.bytes += line.length + 1;
      range.lines++;
      range.longestLine = Math.max(range.longestLine, line.length);
    }
  }
  if (range.lines > 0) yield range;
}

/** The key of the document that the beginning of a row names. */
function keyIn(begin: Buffer): string {
  const { dataset_id, document_id } = JSON.parse(`${begin.toString("utf8", 0, begin.length - 1)}}`);
  return documentKey({ dataset_id, document_id });
}
