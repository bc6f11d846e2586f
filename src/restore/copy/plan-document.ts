import { filteredDatasets, type Manifest } from "../../dump/manifest.js";
import type { Dump } from "../../dump/open-dump.js";
import type { AttachmentPlan, DocumentPlan, EarlierDocument, Loss, LossPart, ValuePlan } from "./copy-plan.js";
import type { DatasetDetails, DocumentDetails } from "./details.js";

/** All facts that the plan of a document needs. */
export interface DocumentFacts {
  readonly document: Manifest["documents"][number];
  readonly dataset_key: string;
  readonly dataset: DatasetDetails;
  /** Undefined if the run could not read them. */
  readonly details: DocumentDetails | undefined;
  /** Why it cannot be copied, as a sentence; null if it can. */
  readonly refusal: string | null;
  readonly earlier: EarlierDocument | null;
  readonly rows: DocumentRows;
}

/** Plans a document. A refused one has no other losses, because none of it is copied. */
export function planDocument(facts: DocumentFacts): DocumentPlan {
  const { document, dataset_key, dataset, details, refusal, rows } = facts;
  const { dataset_id, document_id } = document;
  const refused = refusal ?? (details ? null : noDetails);
  return {
    dataset_id,
    document_id,
    dataset_key,
    document_name: details?.name || document_id,
    doc_form: formOf(facts),
    doc_language: details?.doc_language ?? null,
    indexing_technique: dataset.indexing_technique,
    process_rule: details?.process_rule ?? { mode: "automatic" },
    refused,
    earlier: facts.earlier,
    chunks: rows.chunks,
    disabled: rows.disabled,
    children: rows.children,
    characters: rows.characters,
    metadata: knownValues(facts).filter(isPlain),
    enabled: details?.enabled ?? true,
    archived: details?.archived ?? false,
    attachments: rows.attachments,
    attached: rows.attached,
    losses: refused === null ? lossesOf(facts) : [],
  };
}

const noDetails = "The run has no details of it: the service did not return them.";

/** The form of a document, or of its dataset if unknown. */
export function formOf({
  document,
  details,
  dataset,
}: Pick<DocumentFacts, "document" | "details" | "dataset">): string {
  return document.doc_form ?? details?.doc_form ?? dataset.doc_form ?? "text_model";
}

/** The values whose fields the dataset has. */
function knownValues({ details, dataset }: DocumentFacts): DocumentDetails["values"] {
  const names = new Set(dataset.fields?.map(({ name }) => name));
  return details?.values.filter(({ name }) => names.has(name)) ?? [];
}

function isPlain(field: DocumentDetails["values"][number]): field is ValuePlan {
  return field.value === null || typeof field.value === "string" || typeof field.value === "number";
}

function lossesOf(facts: DocumentFacts): readonly Loss[] {
  const { details, rows } = facts;
  const { values = [], enabled, archived, process_rule, data_source_type } = details ?? {};
  const known = knownValues(facts);
  const isOff = enabled === false || archived === true; // the last step, which disables the enabled chunks
  const source = data_source_type ?? "upload_file";
  const loss = (part: LossPart, count: number, reason: string): Loss => ({ part, rows: count, reason });
  const noChunk = "The service accepts no chunk without content, and in qa_model none without an answer.";
  const isOffReason = "The service disables the chunks of a document that is disabled or archived.";
  const noField = "The dataset of the run has no metadata field of this name.";
  const noRule = "The run has no process rule of the document: it becomes automatic.";
  const asText = `It is copied as text, and no longer synchronised with its source (${source}).`;
  return [
    loss("chunks", rows.lost_chunks, noChunk),
    loss("children", rows.lost_children, "The service accepts no child chunk without content."),
    loss("children", rows.orphans, "Their chunks are not copied."),
    loss("attachments", rows.losing, rows.reason),
    loss("summaries", rows.summaries, "The service makes the summaries of chunks itself."),
    loss("states", isOff ? rows.chunks - rows.disabled : 0, isOffReason),
    loss("metadata", values.length - known.length, noField),
    loss("metadata", known.filter((value) => !isPlain(value)).length, "The value is neither a text nor a number."),
    loss("process rule", process_rule ? 0 : 1, noRule),
    loss("source", source === "upload_file" ? 0 : 1, asText),
  ].filter((each) => each.rows > 0);
}

/** Returns a function that explains why a document of a dump, with its form, cannot be copied; null if it can. */
export function refusalOf({ manifest }: Dump) {
  const { options } = manifest;
  const filtered = new Set(filteredDatasets(options));
  return ({ dataset_id, status, error }: DocumentFacts["document"], form: string): string | null => {
    if (status !== "complete")
      return `The run did not read all of it: it is ${status}${error === null ? "" : ` (${error})`}.`;
    if (filtered.has(dataset_id)) return "The run left out chunks of it: the job has a filter (status, keyword).";
    if (options.child_chunks === "none" && form === "hierarchical_model")
      return "The run read no child chunks of it: the job has child_chunks: none.";
    return null;
  };
}

export interface RowCounts {
  /** Chunks to copy, and how many of them are disabled or have a summary. */
  readonly chunks: number;
  readonly disabled: number;
  readonly summaries: number;
  /** Chunks that the service refuses. */
  readonly lost_chunks: number;
  /** Child chunks to copy, those that the service refuses, and those of chunks that are not copied. */
  readonly children: number;
  readonly lost_children: number;
  readonly orphans: number;
  /** Code points of the chunks and child chunks to copy. */
  readonly characters: number;
}

/** The rows of a document, and the attachments of its copied chunks. */
export interface DocumentRows extends RowCounts {
  /** The attachments that can be bound, each once, in the order of the chunks. */
  readonly attachments: readonly AttachmentPlan[];
  /** Chunks with attachments that can be bound. */
  readonly attached: number;
  /** Chunks that lose attachments, and why. */
  readonly losing: number;
  readonly reason: string;
}

/** For a document without rows. */
export const noRows: DocumentRows = {
  ...{ chunks: 0, disabled: 0, summaries: 0, lost_chunks: 0 },
  ...{ children: 0, lost_children: 0, orphans: 0, characters: 0 },
  ...{ attachments: [], attached: 0, losing: 0, reason: "" },
};
