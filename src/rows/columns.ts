import { type Column, type ColumnRole, extra, own, sent, setting } from "./column.js";
import { datasetColumns, documentDetailColumns } from "./detail-columns.js";

/** The tables that every dump has; a file of every text format is named after each. */
export const kinds = ["chunks", "child_chunks", "documents", "indexing_status", "metadata_fields"] as const;
/**
 * document_info is only in the dump of a run that asked the service which documents there are; datasets and document_details
 * are in that of a job with `details: true`.
 */
export const optionalKinds = ["document_info", "datasets", "document_details"] as const;
export const allKinds = [...kinds, ...optionalKinds] as const;
export type Kind = (typeof allKinds)[number];

/** Whether a text is the name of a kind. */
export function isKind(name: string): name is Kind {
  return allKinds.some((kind) => kind === name);
}

/** Rows of every table of a dump. */
export type Counts = PerKind<number>;

/** A value for every kind that each dump has, and for those of the other kinds that this one has. */
export type PerKind<T> = Readonly<Record<(typeof kinds)[number], T>> & {
  readonly [Kind in (typeof optionalKinds)[number]]?: T;
};

const position = { role: "position", change: "moved" } as const;
const content = { role: "content", change: "changed", long: true } as const;
const progress = { role: "progress" } as const;
const dataset = own("dataset_id", "text", "the dataset (knowledge base)", { role: "document" });

/** Every column of every table, in order. File headers, JSONL keys and DuckDB types follow from this. */
export const columns: Readonly<Record<Kind, readonly Column[]>> = {
  chunks: [
    dataset,
    own("document_id", "text", "the document", { role: "document", sentToo: true }),
    sent("id", "text", "the chunk; changes when the document is indexed anew", { role: "id", change: "reindexed" }),
    sent("position", "integer", "place in the document, from 1; may collide and have gaps", position),
    sent("content", "text", "the text; in qa_model documents the question", content),
    sent("answer", "text", "the answer, in qa_model documents", content),
    sent("word_count", "integer", "length of the content in characters"),
    sent("tokens", "integer", "tokens of the content; 0 in economy datasets"),
    sent("keywords", "strings", "keywords of the index", { ...setting, change: "keywords" }),
    sent("index_node_id", "text", "the node in the vector store"),
    sent("index_node_hash", "text", "the service's hash of the indexed text; no identity, no integrity check"),
    sent("hit_count", "integer", "times that the chunk was retrieved", { change: "hit_count" }),
    sent("enabled", "boolean", "whether the chunk is retrieved", { ...setting, change: "enabled" }),
    sent("disabled_at", "time", "when it was disabled, UTC"),
    sent("disabled_by", "text", "who disabled it"),
    sent("status", "text", "waiting, indexing, completed, error or re_segment; open", { ...setting, change: "status" }),
    sent("created_by", "text", "who created it"),
    sent("created_at", "time", "when it was created, UTC"),
    sent("updated_at", "time", "when it was last changed, UTC; edits of children, keywords and answer do not move it", {
      neverNull: true,
    }),
    sent("updated_by", "text", "who last changed it; null for what the indexer made"),
    sent("indexing_at", "time", "when its indexing began, UTC"),
    sent("completed_at", "time", "when its indexing was done, UTC"),
    sent("error", "any", "why its indexing failed", setting),
    sent("stopped_at", "time", "when its indexing was stopped, UTC"),
    sent(
      "sign_content",
      "text",
      "the content with links to files; their signatures are removed unless keep_signatures",
      { signed: true, long: true, neverNull: true },
    ),
    sent("attachments", "list", "files of the chunk; signatures of their links are removed unless keep_signatures", {
      role: "setting",
      signed: true,
      neverNull: true,
    }),
    sent("summary", "any", "the summary of the chunk", setting),
    extra,
  ],
  child_chunks: [
    dataset,
    own("document_id", "text", "the document", { role: "document" }),
    own("segment_id", "text", "the parent chunk: chunks.id", { role: "parent", change: "reindexed", sentToo: true }),
    sent("id", "text", "the child chunk", { role: "id", change: "reindexed" }),
    sent("position", "integer", "place in the parent, from 1; may collide and have gaps", position),
    sent("content", "text", "the text", content),
    sent("word_count", "integer", "length of the content in characters"),
    sent("type", "text", "automatic, or customized: made or edited by hand; open", { ...setting, change: "type" }),
    sent("created_at", "time", "when it was created, UTC"),
    sent("updated_at", "time", "when it was last changed, UTC", { neverNull: true }),
    extra,
  ],
  documents: [
    dataset,
    own("document_id", "text", "the document", { role: "document" }),
    own("doc_form", "text", "text_model, qa_model or hierarchical_model; open"),
    own("status", "text", "complete, unstable (it moved while it was read) or failed"),
    own("total", "integer", "chunks that the service counts"),
    own("chunk_count", "integer", "chunks in this dump"),
    own("child_chunk_count", "integer", "child chunks in this dump"),
    own("sweeps", "integer", "times that the document was read"),
    own("error", "any", "why it is not complete"),
  ],
  indexing_status: [
    own("captured_at", "time", "when the service was asked, UTC", { role: "id" }),
    dataset,
    own("batch", "text", "the batch that was asked for", { role: "parent" }),
    sent("document_id", "text", "the document", { field: "id" }),
    sent(
      "indexing_status",
      "text",
      "waiting, parsing, cleaning, splitting, indexing, completed, error or paused; open",
      progress,
    ),
    sent("processing_started_at", "time", "when processing began, UTC", progress),
    sent("parsing_completed_at", "time", "when parsing was done, UTC", progress),
    sent("cleaning_completed_at", "time", "when cleaning was done, UTC", progress),
    sent("splitting_completed_at", "time", "when splitting was done, UTC", progress),
    sent("completed_at", "time", "when indexing was done, UTC", progress),
    sent("paused_at", "time", "when it was paused, UTC", progress),
    sent("error", "any", "why it failed", progress),
    sent("stopped_at", "time", "when it was stopped, UTC", progress),
    sent("completed_segments", "integer", "chunks that are indexed", progress),
    sent("total_segments", "integer", "chunks to index", progress),
    extra,
  ],
  metadata_fields: [
    dataset,
    own("position", "integer", "place in the service's answer, from 1", { role: "id" }),
    sent("name", "text", "the built-in field"),
    sent("type", "text", "its type: string or time; open"),
  ],
  document_info: [
    dataset,
    sent("document_id", "text", "the document", { role: "document", field: "id" }),
    own("dataset_name", "text", "the name of the dataset; null where the job names the dataset by id"),
    sent("position", "integer", "place of the document in its dataset, from 1; may collide and have gaps"),
    sent("name", "text", "the name of the document"),
    sent("doc_form", "text", "text_model, qa_model or hierarchical_model; open"),
    sent("data_source_type", "text", "where it came from, such as upload_file; open"),
    sent(
      "indexing_status",
      "text",
      "waiting, parsing, cleaning, splitting, indexing, completed, error or paused; open",
    ),
    sent("display_status", "text", "what the service shows: available, archived, disabled, error and others; open"),
    sent("enabled", "boolean", "whether the document is retrieved"),
    sent("disabled_at", "time", "when it was disabled, UTC"),
    sent("disabled_by", "text", "who disabled it"),
    sent("archived", "boolean", "whether it is archived, and therefore not retrieved"),
    sent("word_count", "integer", "length of the document in characters"),
    sent("tokens", "integer", "tokens of the document; 0 in economy datasets"),
    sent("hit_count", "integer", "times that its chunks were retrieved"),
    sent("created_from", "text", "how it was created, such as web or api; open"),
    sent("created_by", "text", "who created it"),
    sent("created_at", "time", "when it was created, UTC"),
    sent("error", "any", "why its indexing failed"),
    extra,
  ],
  datasets: datasetColumns,
  document_details: documentDetailColumns,
};

/** The names of the columns of a kind that have one of these roles, in their order. */
export function namesWith(kind: Kind, ...roles: readonly ColumnRole[]): readonly string[] {
  return columns[kind].filter(({ role }) => role && roles.includes(role)).map(({ name }) => name);
}
