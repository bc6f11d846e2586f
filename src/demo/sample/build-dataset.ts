import type { Batch, StoredDataset, StoredDocument } from "../index-knowledge.js";
import type { Dataset, StatusEntry } from "../knowledge.js";
import { newDataset } from "../store/new-rows.js";
import { buildDocument, sumOf } from "./build-document.js";
import { accounts, type BatchOutline, type DatasetOutline, datasetId } from "./outline.js";

/** Builds a dataset with its documents and batches. Only a batch under way asks the clock, and only it ever changes. */
export function buildDataset(outline: DatasetOutline, clock: () => Date): StoredDataset {
  const documents = outline.documents.map((document) => buildDocument(outline, document));
  const batches = outline.batches.map((batch) => buildBatch(batch, documents, clock));
  return { row: datasetRow(outline, documents), documents, batches };
}

function buildBatch(
  { id, documents: names, underWay }: BatchOutline,
  documents: readonly StoredDocument[],
  clock: () => Date,
): Batch {
  const members = documents.filter(({ row }) => names.includes(row.name));
  return underWay ? batchUnderWay(id, members, clock) : restingBatch(id, members);
}

function datasetRow(outline: DatasetOutline, documents: readonly StoredDocument[]): Dataset {
  const rows = documents.map(({ row }) => row);
  const createdAt = Math.min(...rows.map(({ created_at }) => created_at));
  const { name, description, technique } = outline;
  return {
    ...newDataset({ id: datasetId(outline), name, description, technique, time: createdAt, by: accounts.author }),
    permission: "all_team_members",
    data_source_type: "upload_file",
    document_count: rows.length,
    word_count: sumOf(rows, "word_count"),
    doc_form: rows[0]?.doc_form ?? null,
    built_in_field_enabled: true,
    total_documents: rows.length,
    total_available_documents: rows.filter(({ error }) => error === null).length,
  };
}

/** A batch that nothing works on any more: its entries follow from the documents and never change. */
export function restingBatch(id: string, documents: readonly StoredDocument[]): Batch {
  const entries = documents.map(entryOf);
  return { id, entries: () => entries };
}

/** Chunks that are being replaced are not counted. */
function entryOf({ row, chunks }: StoredDocument): StatusEntry {
  const { id, created_at, error = null } = row;
  const counted = chunks.filter((chunk) => chunk.row.status !== "re_segment");
  return {
    id,
    indexing_status: error === null ? "completed" : "error",
    processing_started_at: created_at,
    parsing_completed_at: created_at + 4,
    cleaning_completed_at: created_at + 5,
    splitting_completed_at: created_at + 9,
    completed_at: error === null ? created_at + 60 : null,
    paused_at: null,
    error,
    stopped_at: error === null ? null : created_at + 30,
    completed_segments: counted.filter((chunk) => chunk.row.status === "completed").length,
    total_segments: counted.length,
  };
}

const readsToSplit = 5;
const readsToFinish = 20;

/**
 * A batch whose counts grow with each read until, after 20 reads, it is completed; no count ever falls. It is a picture of
 * progress only: the chunks of its documents are all there from the start, so that every dump of them is the same.
 */
function batchUnderWay(id: string, documents: readonly StoredDocument[], clock: () => Date): Batch {
  const now = (): number => Math.floor(clock().getTime() / 1000);
  const startedAt = now();
  let reads = 0;
  let splitAt: number | null = null;
  let completedAt: number | null = null;
  return {
    id,
    entries() {
      reads = Math.min(reads + 1, readsToFinish);
      if (reads > readsToSplit) splitAt ??= now();
      if (reads === readsToFinish) completedAt ??= now();
      return documents.map(({ row, chunks }) => ({
        id: row.id,
        indexing_status: stageAfter(reads),
        processing_started_at: startedAt,
        parsing_completed_at: startedAt,
        cleaning_completed_at: startedAt,
        splitting_completed_at: splitAt,
        completed_at: completedAt,
        paused_at: null,
        error: null,
        stopped_at: null,
        ...countsAfter(reads, chunks.length),
      }));
    },
  };
}

function stageAfter(reads: number): string {
  if (reads === readsToFinish) return "completed";
  return reads > readsToSplit ? "indexing" : "splitting";
}

function countsAfter(reads: number, chunks: number): Pick<StatusEntry, "completed_segments" | "total_segments"> {
  return {
    completed_segments: Math.floor((chunks * reads) / readsToFinish),
    total_segments: Math.ceil((chunks * Math.min(reads, readsToSplit)) / readsToSplit),
  };
}
