import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type DuckDbOptions, withDuckDb } from "../duckdb/open-duckdb.js";
import { selectRows } from "../dump/formats/jsonl.js";
import { isDiskError } from "../file-error.js";
import { joinSegments, type SegmentFile } from "../files/join-segments.js";
import { type DumpedDocument, failedDocument } from "../segments/document-result.js";
import type { Reading } from "./reading.js";

export interface RefusalOptions extends DuckDbOptions {
  /** A folder for a copy of one document's rows. */
  readonly scratch: string;
}

/** A row with more bytes than this counts as large: DuckDB needs several times that in memory, and may fail to load it. */
const largeRow = 65_536;

/**
 * Finds documents whose rows DuckDB cannot load, marks them as failed, and returns the reading without their rows. It tries
 * each document alone. If it can load all of them, it chooses the document with the largest row, because several large rows
 * together can exceed the memory. If no document has a large row, the error has another cause, and it returns undefined.
 */
export async function withoutRefused(
  reading: Reading,
  error: unknown,
  options: RefusalOptions,
): Promise<Reading | undefined> {
  if (!(error instanceof Error) || isDiskError(error)) return undefined;
  const reasons = new Map<DumpedDocument, string>();
  const large = reading.documents.filter((document) => largestRow(document) > largeRow);
  for (const document of large) {
    const reason = await refusalOf(document, options);
    if (reason !== undefined) reasons.set(document, reason);
  }
  const [largest] = large.toSorted((a, b) => largestRow(b) - largestRow(a));
  if (reasons.size === 0 && largest) reasons.set(largest, firstLine(error));
  if (reasons.size === 0) return undefined;
  const documents = reading.documents.map((document) => {
    const reason = reasons.get(document);
    return reason === undefined ? document : failed(document, reason, options.memory);
  });
  return { ...reading, documents };
}

const jsonlOf = ({ files }: DumpedDocument) => files.filter(({ format }) => format === "jsonl");

function largestRow(document: DumpedDocument): number {
  return Math.max(0, ...jsonlOf(document).map(({ longestLine }) => longestLine));
}

/** Tries to load the rows of one document alone. Returns DuckDB's error, if any. */
async function refusalOf(document: DumpedDocument, options: RefusalOptions): Promise<string | undefined> {
  for (const file of jsonlOf(document)) {
    try {
      await load(file, options);
    } catch (error) {
      if (isDiskError(error) || options.signal?.aborted) throw error;
      return firstLine(error);
    }
  }
  return undefined;
}

/**
 * Loads a segment into DuckDB. Copies it to its own file first: DuckDB reads whole files, but a segment may be a range of a
 * file.
 */
async function load(segment: SegmentFile, options: RefusalOptions): Promise<void> {
  const path = join(options.scratch, "probe.jsonl");
  await joinSegments(path, "", [segment]);
  try {
    await withDuckDb(":memory:", options, async (connection) => {
      await connection.run(
        `CREATE TEMP TABLE probe AS ${selectRows(segment.kind, { ...segment, paths: [path] }, "JSON")}`,
      );
    });
  } finally {
    await rm(path, { force: true });
  }
}

const firstLine = (error: unknown) =>
  error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);

function failed({ row }: DumpedDocument, reason: string, memory: string): DumpedDocument {
  const error = `DuckDB cannot load its rows with output.memory ${memory}: ${reason}. Raise output.memory, or write jsonl and csv only`;
  return failedDocument(row, error);
}
