import { withSpill } from "../../duckdb/with-spill.js";
import type { Manifest } from "../../dump/manifest/manifest.js";
import type { Dump } from "../../dump/open-dump.js";
import { attachmentFiles } from "../../dump/saved-files.js";
import { documentKey } from "../../rows/document-row.js";
import type { MoveFrom } from "../move-plan.js";
import { loadFacts } from "./chunk-facts.js";
import { countRows, type RowCounts } from "./count-rows.js";
import { unknownDataset } from "./details.js";
import { formOf } from "./plan-document.js";
import { type DocumentAttachments, readAttachments } from "./read-attachments.js";
import { type DumpDetails, readDetails } from "./read-details.js";

/** Everything of a dump that a plan goes by; no texts of chunks. */
export interface DumpReading extends DumpDetails {
  /** By `documentKey`; none with `originals`. */
  readonly counts: ReadonlyMap<string, RowCounts>;
  /** By `documentKey`; none with `originals`. */
  readonly attachments: ReadonlyMap<string, DocumentAttachments>;
}

export interface ReadingOptions {
  readonly from: MoveFrom;
  /** Whether the target is the service that the dump came from. */
  readonly isSameService: boolean;
  /** The most memory that DuckDB may use, such as `800MB`. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/** Reads the settings in a dump, and counts its rows. StopError when a file is not as its run wrote it. */
export async function readDump(dump: Dump, options: ReadingOptions): Promise<DumpReading> {
  const { from, isSameService, memory, signal } = options;
  return withSpill(":memory:", { memory, signal }, async (connection) => {
    const details = await readDetails(connection, dump, { signal });
    if (from === "originals") return { ...details, counts: new Map(), attachments: new Map() };
    const qaDocuments = dump.manifest.documents.filter((document) => formIn(details, document) === "qa_model");
    await loadFacts(connection, dump, qaDocuments, { signal });
    const counts = await countRows(connection);
    const attachments = await readAttachments(connection, { isSameService, files: attachmentFiles(dump) });
    return { ...details, counts, attachments };
  });
}

/** The form of a document, by the settings in the dump. */
export function formIn({ datasets, documents }: DumpDetails, document: Manifest["documents"][number]): string {
  const dataset = datasets.get(document.dataset_id) ?? unknownDataset(document.dataset_id);
  return formOf({ document, details: documents.get(documentKey(document)), dataset });
}
