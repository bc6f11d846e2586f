export interface DocumentId {
  readonly dataset_id: string;
  readonly document_id: string;
}

/** A chunk of a dump, with everything that a restore looks at. */
export interface ChunkRow {
  readonly id: string;
  readonly document_id: string;
  readonly position: number | null;
  readonly content: string;
  readonly answer: string | null;
  readonly keywords: readonly string[] | null;
  readonly enabled: boolean;
  readonly status: string | null;
  readonly updated_by: string | null;
  readonly disabled_by: string | null;
  /** Unix seconds. */
  readonly created_at: number | null;
  readonly attachment_ids: readonly string[];
  /** Null where there is none, or an empty one. */
  readonly summary: string | null;
}

/** A child chunk of a dump, likewise. */
export interface ChildRow {
  readonly id: string;
  readonly segment_id: string;
  readonly position: number | null;
  readonly content: string;
  /** automatic, customized; open. */
  readonly type: string | null;
}

/** The rows of one document in the order of its dump. */
export interface DocumentRows extends DocumentId {
  readonly doc_form: string | null;
  readonly chunks: readonly ChunkRow[];
  readonly children: readonly ChildRow[];
}
