import type { Dataset } from "../knowledge.js";

/** A dataset that is new. `time` in Unix seconds; `by` is an account. */
export interface NewDataset {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly technique: string | null;
  readonly time: number;
  readonly by: string;
}

interface EmbeddingModel {
  readonly embedding_model: unknown;
  readonly embedding_model_provider: unknown;
}

const usualModel = {
  embedding_model: "text-embedding-3-small",
  embedding_model_provider: "openai",
};

/** A dataset without documents, with the defaults of the service. `model` is the one for its technique. */
export function newDataset(
  { id, name, description, technique, time, by }: NewDataset,
  model: EmbeddingModel = usualModel,
): Dataset {
  return {
    id,
    name,
    description,
    provider: "vendor",
    permission: "only_me",
    data_source_type: null,
    indexing_technique: technique,
    app_count: 0,
    document_count: 0,
    word_count: 0,
    created_by: by,
    author_name: "Sample author",
    created_at: time,
    updated_by: by,
    updated_at: time,
    ...embeddingOf(technique, model),
    embedding_available: true,
    retrieval_model_dict: {
      search_method: technique === "economy" ? "keyword_search" : "semantic_search",
      reranking_enable: false,
      reranking_mode: null,
      reranking_model: { reranking_provider_name: "", reranking_model_name: "" },
      weights: null,
      top_k: 4,
      score_threshold_enabled: false,
      score_threshold: null,
    },
    summary_index_setting: null,
    tags: [],
    doc_form: null,
    doc_metadata: [],
    built_in_field_enabled: false,
    pipeline_id: null,
    runtime_mode: "general",
    total_documents: 0,
    total_available_documents: 0,
    enable_api: true,
    is_multimodal: false,
  };
}

/** The model that embeds texts if nobody names one: the first of those that there are. */
export function defaultModel(models: readonly string[] | null) {
  return { ...usualModel, embedding_model: models?.[0] ?? usualModel.embedding_model };
}

/** The model of a dataset with this indexing technique: only high-quality ones embed. */
export function embeddingOf(technique: unknown, model: EmbeddingModel): EmbeddingModel {
  return technique === "high_quality" ? model : { embedding_model: null, embedding_model_provider: null };
}
