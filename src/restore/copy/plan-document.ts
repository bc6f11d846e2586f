import { filteredDatasets, type Manifest } from "../../dump/manifest.js";
import type { Dump } from "../../dump/open-dump.js";
import type { DocumentPlan, EarlierDocument, Loss, LossPart, ValuePlan } from "./copy-plan.js";
import type { DatasetDetails, DocumentDetails } from "./details.js";
import type { DocumentRows } from "./read-dump.js";

/** All facts that the plan of a document needs. */
export interface DocumentFacts {
  readonly document: Manifest["documents"][number];
  readonly doc_form: string;
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
  const { document, doc_form, dataset_key, dataset, details, refusal, earlier, rows } = facts;
  const { dataset_id, document_id } = document;
  const refused = refusal ?? (details ? null : noDetails);
  return {
    dataset_id,
    document_id,
    dataset_key,
    document_name: details?.name || document_id,
    doc_form,
    doc_language: details?.doc_language ?? null,
    indexing_technique: dataset.indexing_technique,
    process_rule: details?.process_rule ?? { mode: "automatic" },
    refused,
    earlier,
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

/** The metadata values whose fields the dataset has. */
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
  const isOff = enabled === false || archived === true; // the last step disables or archives the copy, and thereby disables its chunks
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
