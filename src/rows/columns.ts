/** The tables of every dump. Each text format has a file named after each table. */
export const kinds = ["chunks", "child_chunks", "documents", "indexing_status", "metadata_fields"] as const;
/**
 * Tables that a dump may lack. document_info exists only if the run listed documents. datasets and document_details are
 * missing with `details: false`.
 */
export const optionalKinds = ["document_info", "datasets", "document_details"] as const;
export const allKinds = [...kinds, ...optionalKinds] as const;
export type Kind = (typeof allKinds)[number];

/** Whether a text is the name of a kind. */
export function isKind(name: string): name is Kind {
  return allKinds.some((kind) => kind === name);
}

/** The number of rows in each table of a dump. */
export type Counts = PerKind<number>;

/** A value for every kind that all dumps have, and for the optional kinds that this dump has. */
export type PerKind<T> = Readonly<Record<(typeof kinds)[number], T>> & {
  readonly [Kind in (typeof optionalKinds)[number]]?: T;
};

const position = { role: "position", change: "moved" } as const;
const content = { role: "content", change: "changed", long: true } as const;
const progress = { role: "progress" } as const;

/** Makes a column. It gets every property, because objects of the same shape are faster to read. */
const column = <const Name extends string, const Type extends ColumnType>(
  name: Name,
  type: Type,
  about: string,
  traits: Traits,
): Column & { readonly name: Name; readonly type: Type } => ({
  name,
  type,
  field: traits.field,
  about,
  unit: traits.unit ?? (type === "time" ? "UTC" : undefined),
  role: traits.role,
  change: traits.change,
  signed: traits.signed ?? false,
  long: traits.long ?? false,
  sentToo: traits.sentToo ?? false,
  neverNull: traits.neverNull ?? false,
});
/** A column whose value kbdump itself provides. */
const own = <const Name extends string, const Type extends ColumnType>(
  name: Name,
  type: Type,
  about: string,
  traits: Traits = {},
) => column(name, type, about, traits);

const dataset = own("dataset_id", "text", "the dataset (knowledge base)", { role: "document" });

/** A column for a field of the service, by default of the same name. */
const sent = <const Name extends string, const Type extends ColumnType>(
  name: Name,
  type: Type,
  about: string,
  traits: Traits = {},
) => column(name, type, about, { field: name, ...traits });

const setting = { role: "setting" } as const;

/** The column `extra`, for all fields that have no column of their own. */
const extra = own(
  "extra",
  "object",
  "every field that the service sent and that has no column; null if there is none",
  setting,
);

/** The columns of `datasets`: the settings, metadata fields and tags of every dataset. */
const datasetColumns: readonly Column[] = [
  sent("dataset_id", "text", "the dataset (knowledge base)", { role: "document", field: "id" }),
  sent("name", "text", "the name of the dataset"),
  sent("description", "text", "its description"),
  sent("permission", "text", "who may use it: only_me, all_team_members or partial_members; open"),
  sent("indexing_technique", "text", "high_quality or economy; open"),
  sent("embedding_model", "text", "the model that embeds its chunks; null in economy datasets"),
  sent("embedding_model_provider", "text", "the provider of that model"),
  sent("doc_form", "text", "text_model, qa_model or hierarchical_model; open"),
  sent("retrieval_model", "object", "how it is searched: method, top_k, score threshold, reranking", {
    field: "retrieval_model_dict",
  }),
  sent("summary_index_setting", "object", "how summaries of its chunks are made"),
  sent("doc_metadata", "list", "its own metadata fields, with their ids; built-in fields are in metadata_fields"),
  sent("built_in_field_enabled", "boolean", "whether documents show the built-in metadata fields"),
  sent("tags", "list", "its tags, with their ids"),
  sent("runtime_mode", "text", "general, or rag_pipeline if a pipeline makes its chunks; open"),
  sent("pipeline_id", "text", "the pipeline that makes its chunks"),
  sent("enable_api", "boolean", "whether the API may read it"),
  sent("document_count", "integer", "number of its documents", { unit: "documents" }),
  sent("word_count", "integer", "length of all its documents", { unit: "characters" }),
  sent("created_by", "text", "who created it"),
  sent("created_at", "time", "when it was created"),
  sent("updated_by", "text", "who last changed its settings"),
  sent("updated_at", "time", "when its settings were last changed"),
  extra,
];

/** The columns of `document_details`: how every document was made, and its metadata values. */
const documentDetailColumns: readonly Column[] = [
  own("dataset_id", "text", "the dataset (knowledge base)", { role: "document" }),
  sent("document_id", "text", "the document", { role: "document", field: "id" }),
  sent("name", "text", "the name of the document"),
  sent("doc_form", "text", "text_model, qa_model or hierarchical_model; open"),
  sent("doc_language", "text", "the language that it was indexed in"),
  sent("doc_type", "text", "what it is, such as book or web_page; open"),
  sent("doc_metadata", "list", "the values of its metadata, with the ids and types of their fields"),
  sent("data_source_type", "text", "where it came from, such as upload_file; open"),
  sent("data_source_info", "object", "its source; for an upload, the id, name and size of the file"),
  sent("process_rule", "object", "how it was cleaned and split", { field: "document_process_rule" }),
  sent("segment_count", "integer", "number that the service reports", { unit: "chunks" }),
  sent("average_segment_length", "any", "mean length of its chunks; may have a fraction", { unit: "characters" }),
  sent("indexing_latency", "any", "how long its indexing took; may have a fraction", { unit: "seconds" }),
  sent("updated_at", "time", "when it was last changed"),
  sent("archived", "boolean", "whether it is archived, and therefore not retrieved"),
  sent("enabled", "boolean", "whether the document is retrieved"),
  sent("indexing_status", "text", "waiting, parsing, cleaning, splitting, indexing, completed, error or paused; open"),
  sent("display_status", "text", "what the service shows: available, archived, disabled, error and others; open"),
  sent("disabled_at", "time", "when it was disabled"),
  sent("disabled_by", "text", "who disabled it"),
  sent("position", "integer", "place of the document in its dataset, from 1; may collide and have gaps"),
  sent("tokens", "integer", "length of the document; 0 in economy datasets", { unit: "tokens" }),
  sent("hit_count", "integer", "how often its chunks were retrieved", { unit: "times" }),
  sent("created_from", "text", "how it was created, such as web or api; open"),
  sent("created_by", "text", "who created it"),
  sent("created_at", "time", "when it was created"),
  sent("completed_at", "time", "when its indexing was done"),
  sent("error", "any", "why its indexing failed"),
  extra,
];

const chunkColumns = [
  dataset,
  own("document_id", "text", "the document", { role: "document", sentToo: true }),
  sent("id", "text", "the chunk; changes when the document is re-indexed", { role: "id", change: "reindexed" }),
  sent("position", "integer", "place in the document, from 1; may collide and have gaps", position),
  sent("content", "text", "the text; in qa_model documents the question", content),
  sent("answer", "text", "the answer, in qa_model documents", content),
  sent("word_count", "integer", "length of the content", { unit: "characters" }),
  sent("tokens", "integer", "length of the content; 0 in economy datasets", { unit: "tokens" }),
  sent("keywords", "strings", "keywords of the index", { ...setting, change: "keywords" }),
  sent("index_node_id", "text", "the node in the vector store"),
  sent("index_node_hash", "text", "the service's hash of the indexed text; neither an identity nor an integrity check"),
  sent("hit_count", "integer", "how often the chunk was retrieved", { unit: "times", change: "hit_count" }),
  sent("enabled", "boolean", "whether the chunk is retrieved", { ...setting, change: "enabled" }),
  sent("disabled_at", "time", "when it was disabled"),
  sent("disabled_by", "text", "who disabled it"),
  sent("status", "text", "waiting, indexing, completed, error or re_segment; open", { ...setting, change: "status" }),
  sent("created_by", "text", "who created it"),
  sent("created_at", "time", "when it was created"),
  sent("updated_at", "time", "when it was last changed; edits of children, keywords and answer do not update it", {
    neverNull: true,
  }),
  sent("updated_by", "text", "who last changed it; null for a chunk as the indexer made it"),
  sent("indexing_at", "time", "when its indexing began"),
  sent("completed_at", "time", "when its indexing was done"),
  sent("error", "any", "why its indexing failed", setting),
  sent("stopped_at", "time", "when its indexing was stopped"),
  sent("sign_content", "text", "the content with links to files; their signatures are removed unless keep_signatures", {
    signed: true,
    long: true,
    neverNull: true,
  }),
  sent("attachments", "list", "files of the chunk; signatures of their links are removed unless keep_signatures", {
    role: "setting",
    signed: true,
    neverNull: true,
  }),
  sent("summary", "any", "the summary of the chunk", setting),
  extra,
] as const;

const childChunkColumns = [
  dataset,
  own("document_id", "text", "the document", { role: "document" }),
  own("segment_id", "text", "the parent chunk: chunks.id", { role: "parent", change: "reindexed", sentToo: true }),
  sent("id", "text", "the child chunk", { role: "id", change: "reindexed" }),
  sent("position", "integer", "place in the parent, from 1; may collide and have gaps", position),
  sent("content", "text", "the text", content),
  sent("word_count", "integer", "length of the content", { unit: "characters" }),
  sent("type", "text", "automatic, or customized: made or edited by hand; open", { ...setting, change: "type" }),
  sent("created_at", "time", "when it was created"),
  sent("updated_at", "time", "when it was last changed", { neverNull: true }),
  extra,
] as const;

/** Every column of every table, in order. They define file headers, JSONL keys and DuckDB types. */
export const columns: Readonly<Record<Kind, readonly Column[]>> = {
  chunks: chunkColumns,
  child_chunks: childChunkColumns,
  documents: [
    dataset,
    own("document_id", "text", "the document", { role: "document" }),
    own("doc_form", "text", "text_model, qa_model or hierarchical_model; open"),
    own("status", "text", "complete, unstable (it changed while it was read) or failed"),
    own("total", "integer", "number that the service reports", { unit: "chunks" }),
    own("chunk_count", "integer", "number in this dump", { unit: "chunks" }),
    own("child_chunk_count", "integer", "number in this dump", { unit: "child chunks" }),
    own("sweeps", "integer", "how often the document was read", { unit: "times" }),
    own("error", "any", "why it is not complete"),
  ],
  indexing_status: [
    own("captured_at", "time", "when the service was asked", { role: "id" }),
    dataset,
    own("batch", "text", "the batch that was requested", { role: "parent" }),
    sent("document_id", "text", "the document", { field: "id" }),
    sent(
      "indexing_status",
      "text",
      "waiting, parsing, cleaning, splitting, indexing, completed, error or paused; open",
      progress,
    ),
    sent("processing_started_at", "time", "when processing began", progress),
    sent("parsing_completed_at", "time", "when parsing was done", progress),
    sent("cleaning_completed_at", "time", "when cleaning was done", progress),
    sent("splitting_completed_at", "time", "when splitting was done", progress),
    sent("completed_at", "time", "when indexing was done", progress),
    sent("paused_at", "time", "when it was paused", progress),
    sent("error", "any", "why it failed", progress),
    sent("stopped_at", "time", "when it was stopped", progress),
    sent("completed_segments", "integer", "number already indexed", { ...progress, unit: "chunks" }),
    sent("total_segments", "integer", "number to index", { ...progress, unit: "chunks" }),
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
    own("dataset_name", "text", "the name of the dataset; null if the job names the dataset by id"),
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
    sent("disabled_at", "time", "when it was disabled"),
    sent("disabled_by", "text", "who disabled it"),
    sent("archived", "boolean", "whether it is archived, and therefore not retrieved"),
    sent("word_count", "integer", "length of the document", { unit: "characters" }),
    sent("tokens", "integer", "length of the document; 0 in economy datasets", { unit: "tokens" }),
    sent("hit_count", "integer", "how often its chunks were retrieved", { unit: "times" }),
    sent("created_from", "text", "how it was created, such as web or api; open"),
    sent("created_by", "text", "who created it"),
    sent("created_at", "time", "when it was created"),
    sent("error", "any", "why its indexing failed"),
    extra,
  ],
  datasets: datasetColumns,
  document_details: documentDetailColumns,
};

/** The columns of a kind that have one of these roles, in order. */
export function namesWith(kind: Kind, ...roles: readonly ColumnRole[]): readonly string[] {
  return columns[kind].filter(({ role }) => role && roles.includes(role)).map(({ name }) => name);
}

/**
 * The type of a column. text, integer, boolean; time: Unix seconds, stored as an ISO string; strings: an array of strings; list: an
 * array of anything; object: JSON; any: a string unchanged, other values as JSON.
 */
export type ColumnType = "text" | "integer" | "boolean" | "time" | "strings" | "list" | "object" | "any";

/**
 * The role of a column when rows are compared. document, parent and id: together they identify a row within its kind. position: its
 * position, which may collide. content: text written by people. Its fingerprint matches rows across a re-index. setting: other
 * values that count as a difference. progress: the state of indexing. Columns without a role are kept, but not compared by diff:
 * they change with use or with every indexing.
 */
type ColumnRole = "document" | "parent" | "id" | "position" | "content" | "setting" | "progress";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** The field of the service's record; undefined if kbdump provides the value. */
  readonly field: string | undefined;
  /** The meaning of the values. */
  readonly about: string;
  /** The unit of the values, such as `characters`; undefined if they have none. */
  readonly unit: string | undefined;
  readonly role: ColumnRole | undefined;
  /** How the table of changes names a change of this column; undefined if it has no name. */
  readonly change: ChangeName | undefined;
  /** Whether the values have links to files, which the service signs again on every read. */
  readonly signed: boolean;
  /** Whether the texts of the column can have any length. */
  readonly long: boolean;
  /** Whether the service sends the value too, although kbdump provides it. */
  readonly sentToo: boolean;
  /** Whether the service never sends null. A null then means that an older service left the field out. */
  readonly neverNull: boolean;
}

/** The names of changes in the tables of changes. If several columns differ, the first one in this list counts. */
export const changeNames = [
  "changed",
  "enabled",
  "status",
  "keywords",
  "type",
  "reindexed",
  "moved",
  "hit_count",
] as const;
export type ChangeName = (typeof changeNames)[number];

type Traits = Partial<Omit<Column, "name" | "type" | "about">>;

/** The value of a column in JSONL. Null where the service sent none. Times are ISO 8601 in UTC. */
interface Values {
  readonly text: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly time: string;
  readonly strings: readonly string[];
  readonly list: readonly unknown[];
  readonly object: Readonly<Record<string, unknown>>;
  readonly any: unknown;
}

type RowOf<Columns extends readonly { readonly name: string; readonly type: ColumnType }[]> = {
  readonly [Each in Columns[number] as Each["name"]]:
    | Values[Each["type"]]
    | (Each["name"] extends "dataset_id" | "document_id" | "segment_id" | "id" ? never : null);
};

/** A row of chunks with every column, as in JSONL. */
export type Chunk = RowOf<typeof chunkColumns>;
/** A row of child_chunks with every column, as in JSONL. */
export type ChildChunk = RowOf<typeof childChunkColumns>;
