import { attachmentIds, textIn } from "../../../compare/document-rows.js";
import type { Connection } from "../../../duckdb/open-duckdb.js";
import { streamTexts } from "../../../duckdb/read-rows.js";
import { filteredDatasets, type Manifest } from "../../../dump/manifest.js";
import { type Dump, savedFile } from "../../../dump/open-dump.js";
import { documentKey } from "../../../rows/row.js";
import { isMapping } from "../../../schema.js";
import {
  type AttachmentPlan,
  type CopySource,
  copyName,
  type DocumentPlan,
  type EarlierDocument,
  type FilePlan,
  type Loss,
  type LossPart,
  type ValuePlan,
} from "../copy-plan.js";
import type { DatasetDetails, DocumentDetails } from "./details.js";

/** Everything that the plan of a document goes by. */
export interface DocumentFacts {
  readonly document: Manifest["documents"][number];
  readonly dataset_key: string;
  readonly from: CopySource;
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

type DumpedDocument = Manifest["documents"][number];
type DumpedOriginal = NonNullable<Manifest["originals"]>[number];

/** How a document can come from a dump: with its original, with its chunks, or not at all. */
interface Fitness {
  /** Why it cannot, as a sentence; null where it can. */
  readonly refused: string | null;
  /** The file to upload, with `originals`. */
  readonly original: FilePlan | null;
}

/** Tells of a document of a dump, and its form, how it can come. */
export function fitnessOf(dump: Dump, from: CopySource): (document: DumpedDocument, form: string) => Fitness {
  if (from === "chunks") {
    const filtered = new Set(filteredDatasets(dump.manifest.options));
    const { child_chunks } = dump.manifest.options;
    return (document, form) => {
      const lacksChildren = child_chunks === "none" && form === "hierarchical_model";
      return { refused: chunksRefusal(document, filtered, lacksChildren), original: null };
    };
  }
  const own = dump.manifest.originals?.filter(({ attachment_id: id }) => id === null);
  const originals = new Map(own?.map((original) => [documentKey(original), original]));
  return (document) => {
    if (!dump.manifest.originals)
      return { refused: "The run has no originals: its job lacks originals: true.", original: null };
    const original = originals.get(documentKey(document));
    const file = original && savedFile(original, dump.folder);
    return file ? { refused: null, original: file } : { refused: originalRefusal(original), original: null };
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

function originalRefusal(original: DumpedOriginal | undefined): string {
  if (!original) return "The run has no original of it: it was not uploaded as a file.";
  const { verdict, reason } = original;
  return `Its original is not complete in the run: ${verdict}${reason === null ? "" : ` (${reason})`}.`;
}

/** Counts of the rows of one document. */
export interface RowCounts {
  /** Chunks that come, and those of them that are disabled, or have a summary. */
  readonly chunks: number;
  readonly disabled: number;
  readonly summaries: number;
  /** Chunks that the service refuses. */
  readonly lost_chunks: number;
  /** Child chunks that come, those that the service refuses, and those of chunks that do not come. */
  readonly children: number;
  readonly lost_children: number;
  readonly orphans: number;
  /** Code points of the chunks and child chunks that come. */
  readonly characters: number;
}

/** The counts of a document that has no rows. */
export const noRows: RowCounts = {
  ...{ chunks: 0, disabled: 0, summaries: 0, lost_chunks: 0 },
  ...{ children: 0, lost_children: 0, orphans: 0, characters: 0 },
};

const sql = `
  WITH chunk_counts AS (
    SELECT
      dataset_id, document_id,
      count(*) FILTER (comes) AS chunks,
      count(*) FILTER (comes AND disabled) AS disabled,
      count(*) FILTER (comes AND has_summary) AS summaries,
      count(*) FILTER (NOT comes) AS lost_chunks,
      coalesce(sum(characters) FILTER (comes), 0) AS chunk_characters
    FROM chunk_facts GROUP BY ALL
  ), child_counts AS (
    SELECT
      dataset_id, document_id,
      count(*) FILTER (comes) AS children,
      count(*) FILTER (NOT comes AND NOT is_orphan) AS lost_children,
      count(*) FILTER (is_orphan) AS orphans,
      coalesce(sum(characters) FILTER (comes), 0) AS child_characters
    FROM child_facts GROUP BY ALL
  )
  SELECT
    dataset_id, document_id, chunks, disabled, summaries, lost_chunks,
    coalesce(children, 0), coalesce(lost_children, 0), coalesce(orphans, 0),
    chunk_characters + coalesce(child_characters, 0)
  FROM chunk_counts LEFT JOIN child_counts USING (dataset_id, document_id)`;

/** Counts the rows in the tables of `loadFacts`, by `documentKey`. A document without chunks is not there. */
export async function countRows(connection: Connection): Promise<ReadonlyMap<string, RowCounts>> {
  const found = await connection.runAndReadAll(sql);
  return new Map(
    found.getRowsJson().map(([dataset_id, document_id, ...counts]) => {
      const [chunks = 0, disabled = 0, summaries = 0, lost_chunks = 0, ...ofChildren] = counts.map(Number);
      const [children = 0, lost_children = 0, orphans = 0, characters = 0] = ofChildren;
      const ofChunks = { chunks, disabled, summaries, lost_chunks };
      return [
        documentKey({ dataset_id, document_id }),
        { ...ofChunks, children, lost_children, orphans, characters },
      ] as const;
    }),
  );
}

/** The attachments of the chunks of a document that come. */
export interface DocumentAttachments {
  /** Those that can be bound, each once, in the order of the chunks. */
  readonly plans: readonly AttachmentPlan[];
  /** Chunks that some are bound to. */
  readonly attached: number;
  /** Chunks that lose some. */
  readonly losing: number;
}

/** Those of a document that has none. */
export const noAttachments: DocumentAttachments = { plans: [], attached: 0, losing: 0 };

interface AttachmentSource {
  /** The service has the files already, under the same ids. */
  readonly isSameService: boolean;
  /** The files that the dump has, by the ids of the attachments. */
  readonly files: ReadonlyMap<string, FilePlan>;
}

/** The same while it is read; the plans by their ids. */
interface Collected {
  readonly plans: Map<string, AttachmentPlan>;
  attached: number;
  losing: number;
}

/** Reads the attachments in the tables of `loadFacts`, by `documentKey`. A document without any is not there. */
export async function readAttachments(
  connection: Connection,
  source: AttachmentSource,
): Promise<ReadonlyMap<string, DocumentAttachments>> {
  const found = new Map<string, Collected>();
  const row = `to_json({'dataset_id': dataset_id, 'document_id': document_id, 'attachments': attachments})::VARCHAR`;
  const rows = `(FROM chunk_facts WHERE comes AND attachments IS NOT NULL ORDER BY row)`;
  for await (const texts of streamTexts(connection, row, rows)) for (const text of texts) collect(found, text, source);
  return new Map([...found].map(([key, own]) => [key, { ...own, plans: [...own.plans.values()] }]));
}

/** Adds the attachments of one chunk. */
function collect(found: Map<string, Collected>, text: string, source: AttachmentSource): void {
  const row: { dataset_id?: unknown; document_id?: unknown; attachments?: unknown } = JSON.parse(text);
  const key = documentKey(row);
  const own = found.get(key) ?? { plans: new Map(), attached: 0, losing: 0 };
  const ids = attachmentIds(textIn(row.attachments));
  const plans = ids.map((id) => planOf(id, source)).filter((plan) => plan !== undefined);
  if (plans.length > 0) own.attached++;
  if (plans.length < ids.length) own.losing++;
  for (const plan of plans) own.plans.set(plan.id, plan);
  found.set(key, own);
}

function planOf(id: string, { isSameService, files }: AttachmentSource): AttachmentPlan | undefined {
  if (isSameService) return { id, file: null };
  const file = files.get(id);
  return file && { id, file };
}
