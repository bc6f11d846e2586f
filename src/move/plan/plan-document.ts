import type { Manifest } from "../../dump/manifest/manifest.js";
import { isMapping } from "../../schema.js";
import { copyName } from "../copy-name.js";
import type { DocumentPlan, EarlierDocument, FilePlan, Loss, LossPart, MoveFrom, ValuePlan } from "../move-plan.js";
import type { RowCounts } from "./count-rows.js";
import type { DatasetDetails, DocumentDetails } from "./details.js";
import type { DocumentAttachments } from "./read-attachments.js";
import type { Fitness } from "./refuse-document.js";

/** Everything that the plan of a document goes by. */
export interface DocumentFacts {
  readonly document: Manifest["documents"][number];
  readonly dataset_key: string;
  readonly from: MoveFrom;
  readonly dataset: DatasetDetails;
  /** Undefined where the run could not read them. */
  readonly details: DocumentDetails | undefined;
  readonly fitness: Fitness;
  readonly earlier: EarlierDocument | null;
  readonly counts: RowCounts;
  readonly attachments: DocumentAttachments;
}

/** Plans a document. One that is refused loses nothing else: none of it comes. */
export function planDocument(facts: DocumentFacts): DocumentPlan {
  const { document, dataset_key, from, dataset, details, fitness, counts, attachments } = facts;
  const { dataset_id, document_id } = document;
  const refused = fitness.refused ?? (details ? null : noDetails);
  const rule = processRule(details?.process_rule ?? null);
  const { values, losses } = planValues(details?.values ?? [], dataset);
  const isFromChunks = from === "chunks";
  const name = details?.name || document_id;
  const original = refused === null ? fitness.original : null;
  const rowLosses = isFromChunks ? lossesOfRows(counts, attachments) : [];
  return {
    dataset_id,
    document_id,
    dataset_key,
    document_name: name,
    doc_form: formOf(facts),
    doc_language: details?.doc_language ?? null,
    indexing_technique: dataset.indexing_technique,
    process_rule: rule ?? { mode: "automatic" },
    refused,
    earlier: facts.earlier,
    chunks: isFromChunks ? counts.chunks : 0,
    disabled: isFromChunks ? counts.disabled : 0,
    children: isFromChunks ? counts.children : 0,
    characters: isFromChunks ? counts.characters : 0,
    metadata: values,
    enabled: details?.enabled ?? true,
    archived: details?.archived ?? false,
    original,
    attachments: isFromChunks ? attachments.plans : [],
    attached: isFromChunks ? attachments.attached : 0,
    losses:
      refused === null
        ? [...rowLosses, ...losses, ...ruleLosses(rule), ...sourceLosses(details), ...nameLosses(name, original)]
        : [],
  };
}

const noDetails = "The run has no details of it: the service did not give them.";

/** The form of a document: its own, else that of its dataset. */
export function formOf({
  document,
  details,
  dataset,
}: Pick<DocumentFacts, "document" | "details" | "dataset">): string {
  return document.doc_form ?? details?.doc_form ?? dataset.doc_form ?? "text_model";
}

/** A process rule as create-by-text takes it; null where there is none that it takes. The mode `automatic` has no rules. */
function processRule(rule: DocumentDetails["process_rule"]): object | null {
  if (rule?.mode === "automatic") return { mode: "automatic" };
  if (typeof rule?.mode !== "string" || !isMapping(rule.rules)) return null;
  return { mode: rule.mode, rules: rule.rules };
}

/** The values whose fields the dataset has, and the loss of the others. */
function planValues(
  all: DocumentDetails["values"],
  { fields }: DatasetDetails,
): { readonly values: readonly ValuePlan[]; readonly losses: readonly Loss[] } {
  const names = new Set(fields.map(({ name }) => name));
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

function lossesOfRows(counts: RowCounts, { losing }: DocumentAttachments): readonly Loss[] {
  const { lost_chunks, lost_children, orphans, summaries } = counts;
  return [
    ...lossOf(
      "chunks",
      lost_chunks,
      "The service takes no chunk without content, and in qa_model none without an answer.",
    ),
    ...lossOf("children", lost_children, "The service takes no child chunk without content."),
    ...lossOf("children", orphans, "Their chunks do not come."),
    ...lossOf("attachments", losing, "The run does not have the files of attachments."),
    ...lossOf("summaries", summaries, "The service makes the summaries of chunks itself."),
  ];
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
    `It comes as text: it is not synchronised with its source (${type}) any more.`,
  );
}

function nameLosses(name: string, original: FilePlan | null): readonly Loss[] {
  const isNamedAfterFile = original !== null && copyName(name, original.name) !== name;
  return lossOf("name", isNamedAfterFile ? 1 : 0, "The service names it after its file, whose name ends otherwise.");
}

function lossOf(part: LossPart, rows: number, reason: string): readonly Loss[] {
  return rows > 0 ? [{ part, rows, reason }] : [];
}
