import { open } from "node:fs/promises";
import { join } from "node:path";
import type { TextFormat } from "../dump/formats/format.js";
import { jsonlText } from "../dump/formats/jsonl.js";
import { ByteFacts } from "../files/byte-facts.js";
import { compressionOf } from "../files/compression.js";
import type { SegmentFile, SegmentRange } from "../files/join-segments.js";
import { encodeLines, gatherPieces, readTextPieces, splitLines } from "../files/lines.js";
import { parseJson } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";
import { isMapping } from "../schema.js";
import type { DocumentRange, ScannedFile } from "./prove-shards.js";

export interface SegmentOptions {
  /** The folder for files that the parts are ranges of. */
  readonly folder: string;
  /** A name for these files that no other has. */
  readonly name: string;
  readonly formats: readonly TextFormat[];
  readonly signal: AbortSignal;
}

/** Takes the parts of a document, by its place in the manifest. */
type TakeSegment = (document: number, segment: SegmentFile) => void;

/**
 * Makes the parts of the documents in a file of a shard, in every text format: JSONL is in the file itself, or in a copy that is not
 * compressed, and the other formats are made of its rows.
 */
export async function makeSegments(file: ScannedFile, options: SegmentOptions, take: TakeSegment): Promise<void> {
  const { kind, ranges, longNumbers } = file;
  const path = compressionOf(file.path) === "none" ? file.path : await unpack(file, options);
  for (const { document, start, bytes, lines, longestLine } of ranges)
    take(document, { kind, format: jsonlText.format, path, start, bytes, lines, longestLine, longNumbers });
  for (const format of options.formats)
    if (format.format !== jsonlText.format) await writeAs(format, { ...file, path }, options, take);
}

const nameOf = ({ folder, name }: SegmentOptions, format: string) => join(folder, `${name}.${format}`);

async function unpack({ path }: ScannedFile, options: SegmentOptions): Promise<string> {
  const target = nameOf(options, jsonlText.format);
  const file = await open(target, "wx", 0o600);
  try {
    for await (const piece of readTextPieces(path)) {
      options.signal.throwIfAborted();
      await file.writeFile(piece);
    }
  } finally {
    await file.close();
  }
  return target;
}

/** Writes the rows of a file in another format, in the same order. */
async function writeAs(
  text: TextFormat,
  { kind, path, ranges }: ScannedFile,
  options: SegmentOptions,
  take: TakeSegment,
): Promise<void> {
  const target = nameOf(options, text.format);
  const encode = (lines: readonly Buffer[]) =>
    encodeLines(
      text.texts(
        kind,
        lines.map((line) => rowFromLine(line.toString("utf8"))),
      ),
    );
  const found = new RangeFinder(ranges, (document, range) =>
    take(document, { kind, format: text.format, path: target, ...range }),
  );
  async function* pieces() {
    for await (const lines of splitLines(readTextPieces(path))) {
      options.signal.throwIfAborted();
      yield* found.encode(lines, encode);
    }
  }
  const file = await open(target, "wx", 0o600);
  try {
    for await (const piece of gatherPieces(pieces())) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

/** The row that a line of JSONL holds, its numbers exactly. */
export function rowFromLine(line: string): Row {
  const row = parseJson(line);
  if (!isMapping(row)) throw new Error("a row of a shard is no object");
  return row;
}

/** Makes the text of rows, and tells where those of each document stand in it. */
class RangeFinder {
  readonly #ranges: Iterator<DocumentRange>;
  readonly #onRange: (document: number, range: Omit<SegmentRange, "kind" | "format" | "path">) => void;
  #range: DocumentRange | undefined;
  #facts = new ByteFacts();
  /** Rows of the present document that are still to come. */
  #left = 0;
  #start = 0;

  constructor(
    ranges: readonly DocumentRange[],
    onRange: (document: number, range: Omit<SegmentRange, "kind" | "format" | "path">) => void,
  ) {
    this.#ranges = ranges.values();
    this.#onRange = onRange;
  }

  /** Gives the text of the next rows, piece by piece. */
  *encode(lines: readonly Buffer[], encode: (lines: readonly Buffer[]) => Buffer): Generator<Buffer> {
    for (let done = 0; done < lines.length; ) {
      if (this.#left === 0) this.#begin();
      const some = lines.slice(done, done + this.#left);
      const bytes = encode(some);
      this.#facts.add(bytes);
      yield bytes;
      this.#left -= some.length;
      done += some.length;
      if (this.#left === 0) this.#end();
    }
  }

  #begin(): void {
    this.#range = this.#ranges.next().value;
    this.#facts = new ByteFacts();
    this.#left = this.#range?.lines ?? 0;
    if (!this.#range) throw new Error("a file of a shard has more rows than it had");
  }

  #end(): void {
    const { sha256: _, ...facts } = this.#facts.facts;
    if (this.#range) this.#onRange(this.#range.document, { start: this.#start, ...facts });
    this.#start += facts.bytes;
  }
}
