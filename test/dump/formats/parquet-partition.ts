import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openWriter } from "../../../src/dump/formats/parquet.js";
import { ByteFacts } from "../../../src/files/byte-facts.js";
import { columns } from "../../../src/rows/columns.js";
import { plainFolder } from "./folder.js";
import { duckDbOptions } from "./formats.js";

interface Amounts {
  readonly documents: number;
  /** The number of chunks in each document. */
  readonly chunks: number;
  /** The text at the start of each content. */
  readonly text: string;
}

/** The id of a document by its number; ids sort like the numbers. */
export const documentId = (at: number) => `document-${String(at).padStart(3, "0")}`;

/** Writes the chunks of one dataset as Parquet; returns the file and its hash. */
export async function writePartition({ documents, chunks, text: content }: Amounts) {
  const folder = await plainFolder();
  const empty = Object.fromEntries(columns.chunks.map(({ name }) => [name, null]));
  const counted = new ByteFacts();
  const path = join(folder, "chunks.jsonl");
  function* pieces() {
    for (let at = 0; at < documents; at++) {
      const document_id = documentId(at);
      const rows = Array.from({ length: chunks }, (_, chunk) => ({
        id: `${document_id}-${chunk}`,
        content: content + chunk,
      }));
      const lines = rows.map((row) => `${JSON.stringify({ ...empty, dataset_id: "d", document_id, ...row })}\n`);
      const piece = Buffer.from(lines.join(""));
      counted.add(piece);
      yield piece;
    }
  }
  await pipeline(Readable.from(pieces()), createWriteStream(path));
  const { facts: text } = counted;
  const jsonl = { path, bytes: text.bytes, sha256: text.sha256, text };
  const table = { kind: "chunks", dataset: "d", rows: text.lines, segments: () => [], jsonl } as const;
  const staged = { folder, compression: "none", tables: [table], rows: () => text.lines } as const;
  const [file] = await openWriter({ duckDb: duckDbOptions(folder) }).finish(staged);
  if (!file) throw new Error("no file was written");
  return { path: join(folder, file.path), sha256: file.sha256 };
}
