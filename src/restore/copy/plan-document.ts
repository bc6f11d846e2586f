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
  const rule = details?.process_rule ?? null;
  const { values, losses } = planValues(details?.values ?? [], dataset);
  return {
    dataset_id,
    document_id,
    dataset_key,
    document_name: details?.name || document_id,
    doc_form: formOf(facts),
    doc_language: details?.doc_language ?? null,
    indexing_technique: dataset.indexing_technique,
    process_rule: rule ?? { mode: "automatic" },
    refused,
    earlier: facts.earlier,
    chunks: rows.chunks,
    disabled: rows.disabled,
    children: rows.children,
    characters: rows.characters,
    metadata: values,
    enabled: details?.enabled ?? true,
    archived: details?.archived ?? false,
    attachments: rows.attachments,
    attached: rows.attached,
    losses:
      refused === null
        ? [
            ...lossesOfRows(rows),
            ...stateLosses(rows, details),
            ...losses,
            ...ruleLosses(rule),
            ...sourceLosses(details),
          ]
        : [],
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

/** The values whose fields the dataset has, and the losses for the others. */
function planValues(
  all: DocumentDetails["values"],
  { fields }: DatasetDetails,
): { readonly values: readonly ValuePlan[]; readonly losses: readonly Loss[] } {
  const names = new Set(fields?.map(({ name }) => name));
  const known = all.filter(({ name }) => names.has(name));
  const values = known.flatMap(({ name, value }) => (isValue(value) ? [{ name, value }] : []));
  return {
    values,
    losses: [
      ...lossOf("metadata", all.length - known.length, "The dataset of the run has no metadata field of this name."),
      ...lossOf("metadata", known.length - values.length, "The value is neither a text nor a number."),
    ],
  };
}

function isValue(value: unknown): value is ValuePlan["value"] {
  return value === null || typeof value === "string" || typeof value === "number";
}

function lossesOfRows(rows: DocumentRows): readonly Loss[] {
  const { lost_chunks, lost_children, orphans, summaries, losing, reason } = rows;
  return [
    ...lossOf(
      "chunks",
      lost_chunks,
      "The service accepts no chunk without content, and in qa_model none without an answer.",
    ),
    ...lossOf("children", lost_children, "The service accepts no child chunk without content."),
    ...lossOf("children", orphans, "Their chunks are not copied."),
    ...lossOf("attachments", losing, reason),
    ...lossOf("summaries", summaries, "The service makes the summaries of chunks itself."),
  ];
}

/** The service disables the enabled chunks of a document when it disables or archives the document, which is the last step. */
function stateLosses({ chunks, disabled }: DocumentRows, details: DocumentDetails | undefined): readonly Loss[] {
  const { enabled = true, archived = false } = details ?? {};
  const isOff = enabled === false || archived === true;
  const reason = "The service disables the chunks of a document that is disabled or archived.";
  return lossOf("states", isOff ? chunks - disabled : 0, reason);
}

function ruleLosses(rule: object | null): readonly Loss[] {
  return lossOf("process rule", rule ? 0 : 1, "The run has no process rule of the document: it becomes automatic.");
}

function sourceLosses(details: DocumentDetails | undefined): readonly Loss[] {
  const type = details?.data_source_type ?? "upload_file";
  const isSynchronised = type !== "upload_file";
  return lossOf(
    "source",
    isSynchronised ? 1 : 0,
    `It is copied as text, and no longer synchronised with its source (${type}).`,
  );
}

function lossOf(part: LossPart, rows: number, reason: string): readonly Loss[] {
  return rows > 0 ? [{ part, rows, reason }] : [];
}

type DumpedDocument = Manifest["documents"][number];
/** Returns a function that explains why a document of a dump, with its form, cannot be copied; null if it can. */
export function refusalOf({ manifest }: Dump): (document: DumpedDocument, form: string) => string | null {
  const filtered = new Set(filteredDatasets(manifest.options));
  return (document, form) => {
    const lacksChildren = manifest.options.child_chunks === "none" && form === "hierarchical_model";
    return chunksRefusal(document, filtered, lacksChildren);
  };
}

function chunksRefusal(
  { dataset_id, status, error }: DumpedDocument,
  filtered: ReadonlySet<string>,
  lacksChildren: boolean,
): string | null {
  if (status !== "complete")
    return `The run did not read all of it: it is ${status}${error === null ? "" : ` (${error})`}.`;
  if (filtered.has(dataset_id)) return "The run left out chunks of it: the job has a filter (status, keyword).";
  if (lacksChildren) return "The run read no child chunks of it: the job has child_chunks: none.";
  return null;
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
