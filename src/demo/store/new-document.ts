import type { Document } from "../knowledge.js";
import { stableId } from "../sample/stable-id.js";
import type { ProcessRule } from "./process-rule.js";

/** A document that is new. `createdAt` in Unix seconds; `by` is an account. */
export interface NewDocument {
  readonly id: string;
  readonly name: string;
  readonly form: string;
  readonly position: number;
  readonly createdAt: number;
  readonly by: string;
  /** The file that it was made from. */
  readonly file: { readonly id: string; readonly name: string };
}

/** A document as it is listed right after it was created: nobody has indexed it yet. */
export function newDocument({ id, name, form, position, createdAt, by, file }: NewDocument): Document {
  return {
    id,
    position,
    data_source_type: "upload_file",
    data_source_info: { upload_file_id: file.id },
    data_source_detail_dict: { upload_file: file },
    dataset_process_rule_id: ruleIdOf(id),
    name,
    created_from: "api",
    created_by: by,
    created_at: createdAt,
    tokens: 0,
    indexing_status: "waiting",
    error: null,
    enabled: true,
    disabled_at: null,
    disabled_by: null,
    archived: false,
    display_status: "queuing",
    word_count: 0,
    hit_count: 0,
    doc_form: form,
    doc_metadata: [],
    summary_index_status: null,
    need_summary: false,
  };
}

/** The facts that only the details of a document tell. Times in Unix seconds; an indexing sets those that are null. */
export interface DocumentDetails {
  readonly data_source_info: { readonly upload_file: NewDocument["file"] };
  readonly doc_language: string;
  readonly doc_type: string | null;
  readonly document_process_rule: ProcessRule & { readonly id: string };
  readonly updated_at: number;
  readonly completed_at: number | null;
  readonly indexing_latency: number | null;
}

/** The details of a document that nobody has indexed yet. */
export function newDetails({ id, createdAt, file }: NewDocument, language: string, rule: ProcessRule): DocumentDetails {
  return {
    data_source_info: { upload_file: file },
    doc_language: language,
    doc_type: null,
    document_process_rule: { id: ruleIdOf(id), ...rule },
    updated_at: createdAt,
    completed_at: null,
    indexing_latency: null,
  };
}

function ruleIdOf(documentId: string): string {
  return stableId(`${documentId}/rule`);
}
