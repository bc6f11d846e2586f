import { describe, expect, it } from "vitest";
import { allKinds, type Column, columns, kinds } from "../../src/rows/columns.js";

const names = (list: string) => list.split(/[\s,]+/);

/** The expected columns, spelled out as users see them, because a new, renamed or moved column breaks their queries. */
const expected = {
  chunks: names(`dataset_id, document_id, id, position, content, answer, word_count, tokens, keywords, index_node_id,
    index_node_hash, hit_count, enabled, disabled_at, disabled_by, status, created_by, created_at, updated_at, updated_by,
    indexing_at, completed_at, error, stopped_at, sign_content, attachments, summary, extra`),
  child_chunks: names(
    "dataset_id, document_id, segment_id, id, position, content, word_count, type, created_at, updated_at, extra",
  ),
  documents: names("dataset_id, document_id, doc_form, status, total, chunk_count, child_chunk_count, sweeps, error"),
  indexing_status: names(`captured_at, dataset_id, batch, document_id, indexing_status, processing_started_at,
    parsing_completed_at, cleaning_completed_at, splitting_completed_at, completed_at, paused_at, error, stopped_at,
    completed_segments, total_segments, extra`),
  metadata_fields: names("dataset_id, position, name, type"),
  document_info:
    names(`dataset_id, document_id, dataset_name, position, name, doc_form, data_source_type, indexing_status,
    display_status, enabled, disabled_at, disabled_by, archived, word_count, tokens, hit_count, created_from, created_by,
    created_at, error, extra`),
  datasets: names(`dataset_id, name, description, permission, indexing_technique, embedding_model,
    embedding_model_provider, doc_form, retrieval_model, summary_index_setting, doc_metadata, built_in_field_enabled, tags,
    runtime_mode, pipeline_id, enable_api, document_count, word_count, created_by, created_at, updated_by, updated_at, extra`),
  document_details: names(`dataset_id, document_id, name, doc_form, doc_language, doc_type, doc_metadata,
    data_source_type, data_source_info, process_rule, segment_count, average_segment_length, indexing_latency, updated_at,
    archived, enabled, indexing_status, display_status, disabled_at, disabled_by, position, tokens, hit_count, created_from,
    created_by, created_at, completed_at, error, extra`),
};

const types = {
  integer: names(`position, word_count, tokens, hit_count, total, chunk_count, child_chunk_count, sweeps,
    completed_segments, total_segments, document_count, segment_count`),
  boolean: ["enabled", "archived", "built_in_field_enabled", "enable_api"],
  strings: ["keywords"],
  list: ["attachments", "doc_metadata", "tags"],
  object: ["extra", "retrieval_model", "summary_index_setting", "data_source_info", "process_rule"],
  any: ["error", "summary", "average_segment_length", "indexing_latency"],
};

/** The type of this column; it must be the same in every table. */
function typeOf(name: string): string {
  if (name.endsWith("_at")) return "time";
  const found = Object.entries(types).find(([, columns]) => columns.includes(name));
  return found ? found[0] : "text";
}

describe("columns", () => {
  it("are those of the five tables and of the optional ones, in this order", () => {
    expect(Object.keys(columns)).toEqual(Object.keys(expected));
    expect([...allKinds]).toEqual(Object.keys(expected));
    expect([...kinds, "document_info", "datasets", "document_details"]).toEqual([...allKinds]);
    for (const kind of allKinds) expect(columns[kind].map(({ name }) => name)).toEqual(expected[kind]);
  });

  it.each(
    allKinds.flatMap((kind) => columns[kind].map((column): [string, Column] => [`${kind}.${column.name}`, column])),
  )("%s has its type and says what it is", (_name, { name, type, about }) => {
    expect(type).toBe(typeOf(name));
    expect(about).toMatch(/^\S.{5,}\S$/);
  });

  it("have the name of the field that the service sends, except ids under the name id, and two with a clearer name", () => {
    const renamed = allKinds.flatMap((kind) =>
      columns[kind]
        .filter(({ name, field }) => field !== undefined && field !== name)
        .map(({ name }) => `${kind}.${name}`),
    );
    expect(renamed).toEqual([
      ...["indexing_status.document_id", "document_info.document_id"],
      ...["datasets.dataset_id", "datasets.retrieval_model"],
      ...["document_details.document_id", "document_details.process_rule"],
    ]);
  });
});
