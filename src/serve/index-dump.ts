import type { FileHandle } from "node:fs/promises";
import { plainText } from "../client/plain-text.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import type { Dump } from "../dump/open-dump.js";
import { StopError } from "../errors.js";
import { allKinds, type Kind } from "../rows/columns.js";
import { documentKey } from "../rows/document-row.js";
import { countOf } from "../words.js";
import { DetailRows } from "./detail-rows.js";
import { DocumentInfo } from "./document-info.js";
import { MetadataFields } from "./metadata-fields.js";
import { openRows } from "./open-rows.js";
import { RowFile } from "./row-file.js";
import { RowIndex } from "./row-index.js";
import type { OpenOptions } from "./serve-options.js";
import { StatusReadings } from "./status-readings.js";

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
    options.tally.step = `indexing ${name}`;
    return make(new RowFile(name, handle), piecesOf(handle, options));
  };
  const { counts } = dump.manifest;
  const readDetails = (kind: "datasets" | "document_details") =>
    counts[kind] === undefined ? undefined : read(kind, (file, bytes) => DetailRows.make(file, bytes, kind));
  for (const kind of allKinds) options.tally.expected += dump.tablesOf([kind])?.[0]?.bytes ?? 0;
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

async function* piecesOf(handle: FileHandle, { signal, tally }: OpenOptions): AsyncGenerator<Buffer> {
  for await (const piece of handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 20 })) {
    signal.throwIfAborted();
    tally.done += piece.length;
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
