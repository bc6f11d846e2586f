/** A chunk to add. */
export interface NewChunk {
  readonly content: string;
  readonly answer?: string;
  readonly keywords?: readonly string[];
}

/** All that a chunk shall be: the service loses most of what is left out. */
export interface ChunkUpdate extends NewChunk {
  readonly enabled?: boolean;
  readonly attachment_ids: readonly string[];
}

/** How a dataset or a document is indexed. The service chooses what is left out. */
interface Indexing {
  readonly indexing_technique?: string;
  readonly embedding_model?: string;
  readonly embedding_model_provider?: string;
  readonly retrieval_model?: object;
}

/** A dataset to create. The service takes names of 1 to 40 characters, each once. */
export interface NewDataset extends Indexing {
  readonly name: string;
  readonly description?: string;
  readonly permission?: string;
  readonly summary_index_setting?: object;
}

/** A document to make of a text, which the service cleans and cuts into chunks. */
export interface NewTextDocument extends Indexing {
  readonly name: string;
  readonly text: string;
  readonly doc_form: string;
  readonly doc_language?: string;
  readonly process_rule: object;
}

/** A metadata field of a dataset. */
export interface NewMetadataField {
  readonly type: string;
  readonly name: string;
}

/** The value of a metadata field in a document, with the id and name of the field. */
export interface MetadataValue {
  readonly id: string;
  readonly name: string;
  readonly value: string | number | null;
}
