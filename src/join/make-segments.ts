import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { TextFormat } from "../dump/formats/format.js";
import { jsonlText } from "../dump/formats/jsonl.js";
import { StopError } from "../errors.js";
import { LineFacts } from "../files/byte-facts.js";
import { compressionOf } from "../files/compression.js";
import type { SegmentFile, SegmentLocation } from "../files/join-segments.js";
import { encodeLines, readTextPieces, splitLines } from "../files/lines.js";
import type { Kind } from "../rows/columns.js";
import { parseJson } from "../rows/exact-json.js";
import type { DocumentRow, Row } from "../rows/row.js";
import { isMapping } from "../schema.js";

type DocumentIds = Pick<DocumentRow, "dataset_id" | "document_id">;

export interface SegmentOptions {
  /** The folder for the files with the segments. */
  readonly folder: string;
  /** A unique name for these files. */
  readonly name: string;
  readonly formats: readonly TextFormat[];
  readonly signal: AbortSignal;
}

/**
 * Makes the segments of the documents in a shard's JSONL file, in every text format: JSONL segments are in the file itself, or in an
 * uncompressed copy; the other formats are made from its rows. Passes each segment to `take`, with the ids of its document. A document
 * whose rows are not adjacent has several.
 */
export async function makeSegments(
  path: string,
  kind: Kind,
  { folder, name, formats, signal }: SegmentOptions,
  take: (document: DocumentIds, segment: SegmentFile) => void,
): Promise<void> {
  const outputs: Output[] = [];
  try {
    for (const text of formats) {
      const isInPlace = text.format === jsonlText.format && compressionOf(path) === "none";
      const target = isInPlace ? path : join(folder, `${name}.${text.format}`);
      const file = isInPlace ? undefined : await open(target, "wx", 0o600);
      outputs.push(new Output({ kind, format: text.format, path: target }, text, file));
    }
    const end = (document: DocumentIds) => {
      for (const output of outputs) take(document, output.takeSegment());
    };
    let begin: RowBegin | undefined;
    for await (const lines of splitLines(readTextPieces(path))) {
      signal.throwIfAborted();
      for (let at = 0, next = 0; at < lines.length; at = next) {
        const first = lines[at];
        if (begin && !isOf(begin, first)) end(begin.document);
        if (!begin || !isOf(begin, first)) begin = beginOf(first);
        for (next = at + 1; next < lines.length && isOf(begin, lines[next]); ) next++;
        for (const output of outputs) await output.add(lines.slice(at, next));
      }
    }
    if (begin) end(begin.document);
  } finally {
    for (const output of outputs) await output.close();
  }
}

/** The text of the rows in one format, and the positions of each document in it. */
class Output {
  readonly #location: SegmentLocation;
  readonly #text: TextFormat;
  readonly #file: FileHandle | undefined;
  #facts = new LineFacts();
  #start = 0;

  /** `file`: where to write the text; undefined if the text is already in a file. */
  constructor(location: SegmentLocation, text: TextFormat, file: FileHandle | undefined) {
    this.#location = location;
    this.#text = text;
    this.#file = file;
  }

  async add(lines: readonly Buffer[]): Promise<void> {
    const { kind, format } = this.#location;
    const bytes =
      format === jsonlText.format
        ? Buffer.concat(lines.flatMap((line) => [line, lineFeed]))
        : encodeLines(
            this.#text.texts(
              kind,
              lines.map((line) => rowFromLine(line.toString("utf8"))),
            ),
          );
    this.#facts.add(bytes);
    await this.#file?.writeFile(bytes);
  }

  /**
   * Ends the current segment and returns it. Lists the properties by name, because each object made by spread would take 400 more
   * bytes in V8.
   */
  takeSegment(): SegmentFile {
    const { kind, format, path } = this.#location;
    const { bytes, lines, longestLine, longNumbers } = this.#facts.facts;
    const segment = { kind, format, path, start: this.#start, bytes, lines, longestLine, longNumbers };
    this.#start += bytes;
    this.#facts = new LineFacts();
    return segment;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

const lineFeed = Buffer.from("\n");

/** The beginning of a row with the document's ids. It identifies the document without parsing the row. */
interface RowBegin {
  readonly document: DocumentIds;
  readonly bytes: Buffer;
}

/** Matches the ids of dataset and document at the start of a row: a run writes the columns in order, and these come first. */
const ids = /^\{"dataset_id":("(?:[^"\\]|\\.)*"),"document_id":("(?:[^"\\]|\\.)*"),/;
/** Maximum bytes to search for the two ids, more than they ever take. */
const longestIds = 65_536;

function beginOf(line: Buffer | undefined): RowBegin {
  const [begin] = ids.exec(line?.toString("latin1", 0, longestIds) ?? "") ?? [];
  if (begin === undefined) throw new StopError("a row of a shard does not begin with its dataset and document");
  const bytes = Buffer.from(begin, "latin1");
  return { bytes, document: JSON.parse(`${bytes.toString("utf8", 0, bytes.length - 1)}}`) };
}

function isOf({ bytes }: RowBegin, line: Buffer | undefined): boolean {
  return line?.subarray(0, bytes.length).equals(bytes) === true;
}

/** Parses a row from a line of JSONL, keeping numbers exact. */
export function rowFromLine(line: string): Row {
  const row = parseJson(line);
  if (!isMapping(row)) throw new Error("a row of a shard is no object");
  return row;
}
