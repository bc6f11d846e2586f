import { groupRows, inexactReason } from "../../compare/document-rows.js";
import {
  compareDatasetSettings,
  copiedPermission,
  type DatasetDetails,
  type DocumentDetails,
  datasetFrom,
} from "../../compare/proof/settings.js";
import { filteredDatasets } from "../../dump/manifest.js";
import { attachmentFiles, type Dump } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import type { JournalFacts, KnownCopy } from "../../journal/journal-state.js";
import type { Kind } from "../../rows/columns.js";
import { nameAndId, shardText } from "../../words.js";
import { isSameService, shownId, unknownDocuments } from "../target.js";
import {
  type DatasetPlan,
  type DocumentPlan,
  datasetKey,
  type EarlierDocument,
  type Loss,
  type LossPart,
  type ValuePlan,
} from "./copy-plan.js";
import type { CopyOptions, CopyResult } from "./copy-result.js";
import { type FoundTarget, findTargets, type TargetApi, type WishedDataset } from "./find-targets.js";
import { type ReadDocument, readDump } from "./read-dump.js";

export interface PlanOptions
  extends Pick<CopyOptions, "baseUrl" | "documents" | "dataset" | "memory" | "signal" | "progress"> {
  readonly dump: Dump;
  /** The datasets and documents that earlier processes of this restore made. */
  readonly facts: JournalFacts;
}

/** Warnings are sentences. */
export type PlannedCopy = Pick<CopyResult, "plan" | "warnings">;

/**
 * Plans how a dump becomes datasets and documents of another service. Asks the target which datasets and documents it has; writes
 * nothing. Texts of chunks stay in DuckDB. Throws UsageError if the dump as a whole cannot be copied, or an option cannot be met;
 * StopError if a file differs from its manifest, or the target does not list what it has.
 */
export async function planCopy(api: TargetApi, options: PlanOptions): Promise<PlannedCopy> {
  const { dump, documents, facts, progress } = options;
  checkWishes(dump, options);
  progress.step = "reading the run";
  const isSame = isSameService(dump.manifest.service.base_url, options.baseUrl);
  const mayUpload = isSame || attachmentFiles(dump).size === 0;
  if (!mayUpload) await api.datasets(1); // checks that this is Dify: a service without the route answers with a web page
  const canUpload = mayUpload || (await api.hasFileUpload());
  const reading = await readDump(dump, { ...options, isSameService: isSame, canUpload });
  const chosen = chooseDatasets(dump, reading, documents);
  progress.step = "asking the service";
  const { targets, warnings } = await findTargets(api, chosen, options);
  const judge = refusalOf(dump);
  const datasets = chosen.flatMap((dataset) => {
    const found = targets.get(dataset.key);
    if (!found) return [];
    const plans = dataset.documents.map((document) => {
      const earlier = earlierCopy(facts.documents.get(document.document_id), found);
      return planDocument(document, dataset, { refusal: judge(document), earlier });
    });
    return [planDataset(dataset, found, plans)];
  });
  return { plan: { datasets }, warnings: [...(documents.length > 0 ? [] : listingWarnings(dump)), ...warnings] };
}

/** The copy of a document, if it is in the dataset. An incomplete list does not prove that a copy is gone. */
function earlierCopy(known: KnownCopy | undefined, { target, there }: FoundTarget): EarlierDocument | null {
  if (!known || !there || target.kind === "new" || target.id !== known.target_dataset_id) return null;
  const { target_id, state } = known;
  return there.flaw !== null || there.documents.has(target_id) ? { target_id, state } : null;
}

/** Throws UsageError with every problem if a dump as a whole cannot be copied, or lacks a requested document. */
export function checkWishes(dump: Dump, { documents }: Pick<PlanOptions, "documents">): void {
  const { counts, options } = dump.manifest;
  const hasDetails = counts.datasets !== undefined && counts.document_details !== undefined;
  const lack = !hasDetails ? "no details" : options.details === "auto" ? "details of edited documents only" : undefined;
  const hasExact = (kinds: readonly Kind[]) => dump.tablesOf(kinds) !== undefined;
  const isExact = (!hasDetails || hasExact(["datasets", "document_details"])) && hasExact(["chunks", "child_chunks"]);
  const flaws = [
    ...(lack === undefined ? [] : [`it has ${lack}: run the job with details: true; a copy needs the settings`]),
    ...(isExact ? [] : [inexactReason(dump)]),
  ];
  const problems = [...flaws.map((message) => ({ path: "", message })), ...unknownDocuments(dump.manifest, documents)];
  if (problems.length > 0) throw new UsageError(`${dump.folder} cannot be copied to another service:`, problems);
}

/** Plans a dataset: the settings to create it with, and those that are lost. */
export function planDataset(
  { key, details, dataset_name }: Pick<ChosenDataset, "key" | "details" | "dataset_name">,
  { target, there }: FoundTarget,
  documents: readonly DocumentPlan[],
): DatasetPlan {
  const standing = there && datasetFrom({ ...there.settings, retrieval_model: there.settings.retrieval_model_dict });
  return {
    key,
    dataset_id: details.dataset_id,
    dataset_name,
    target,
    settings: {
      description: details.description ?? "",
      indexing_technique: details.indexing_technique,
      permission: copiedPermission(details) ?? "only_me",
      embedding_model: details.embedding_model,
      embedding_model_provider: details.embedding_model_provider,
      retrieval_model: details.retrieval_model,
      summary_index_setting: details.summary_index_setting,
    },
    fields: details.fields ?? [],
    built_in_fields: details.built_in_fields === true,
    tags: details.tags ?? [],
    equipping: countEquipping(details, standing),
    losses: settingLosses(details, there?.existed ? standing : null),
    documents,
  };
}

/** One request per missing field and tag, one to bind the tags, and one to show the built-in fields. */
function countEquipping({ fields = [], tags, built_in_fields }: DatasetDetails, there: DatasetDetails | null): number {
  const missingFields = fields.filter(({ name }) => !there?.fields?.some((field) => field.name === name)).length;
  const missingTags = (tags ?? []).filter((name) => !there?.tags?.includes(name)).length;
  const isHidden = built_in_fields && there?.built_in_fields !== true;
  return missingFields + missingTags + (missingTags > 0 ? 1 : 0) + (isHidden ? 1 : 0);
}

/** `existing`: the dataset at the service, if the restore did not make it; it keeps its settings. */
function settingLosses(details: DatasetDetails, existing: DatasetDetails | null): readonly Loss[] {
  const differing = existing ? compareDatasetSettings(details, existing, true) : [];
  const hasPipeline = details.runtime_mode === "rag_pipeline" || Boolean(details.pipeline_id);
  const isPartial = copiedPermission(details) !== details.permission;
  const reasons = [
    details.name === null && "The run could not read the settings of the dataset: the service chooses them.",
    isPartial && "The permission partial_members becomes only_me: the run does not know the members.",
    ...differing.map((sentence) => `I${sentence.slice(1)}, and stays as it is there.`),
    hasPipeline && "A pipeline makes the chunks of the dataset: the pipeline itself is not copied.",
  ];
  return reasons.flatMap((reason) => (reason === false ? [] : [{ part: "settings", rows: 1, reason }]));
}

/** A dataset of a dump with its chosen documents of one form, in the order of the dump. */
interface ChosenDataset extends WishedDataset {
  readonly details: DatasetDetails;
  readonly documents: readonly ReadDocument[];
}

/**
 * Chooses the datasets of the chosen documents, once per form. If none are chosen, takes all datasets of the dump, including empty
 * ones. The keys depend on all documents of the dump, so that a document always has the same key.
 */
function chooseDatasets(
  { manifest }: Dump,
  { datasets, documents }: Awaited<ReturnType<typeof readDump>>,
  chosen: readonly string[],
): readonly ChosenDataset[] {
  const ids = new Set(chosen);
  const listings = new Map(manifest.discovered?.datasets.map((listing) => [listing.dataset_id, listing]));
  const groups = groupRows(documents, ({ dataset_id }) => dataset_id);
  return [...new Set([...datasets.keys(), ...groups.keys()])].flatMap((id): readonly ChosenDataset[] => {
    const [all, listing] = [groups.get(id) ?? [], listings.get(id)];
    const details = datasets.get(id) ?? datasetFrom({ dataset_id: id });
    const named = { details, dataset_id: id, dataset_name: details.name || listing?.name || id };
    const isEmpty = all.length === 0 && listing?.state === "listed";
    if (isEmpty && ids.size === 0) return [{ ...named, key: id, form: null, documents: [] }];
    const own = byForm(all.filter(({ document_id }) => ids.size === 0 || ids.has(document_id)));
    const [[mainForm] = [""]] = byForm(all).toSorted(([, one], [, other]) => other.length - one.length);
    return own.map(([form, documents]) => ({ ...named, key: datasetKey(id, form, mainForm), form, documents }));
  });
}

function byForm(documents: readonly ReadDocument[]) {
  return [...groupRows(documents, ({ doc_form }) => doc_form)];
}

/** Sentences about documents that a run lacks or may lack. */
export function listingWarnings({ manifest: { discovered, shard } }: Dump): readonly string[] {
  const warnings: string[] = [];
  if (shard && shard.count > 1)
    warnings.push(
      `the run is ${shardText(shard)}, and lacks the documents and settings that the others read; join the shards, and restore the joined run`,
    );
  for (const { dataset_id, name, state } of discovered?.datasets ?? []) {
    const which = nameAndId(name, shownId(dataset_id));
    if (state === "failed" || state === "unsettled")
      warnings.push(`the run may lack documents of the dataset ${which}: the service did not list all of them`);
  }
  return warnings;
}

/**
 * Plans a document. `refusal`: why it cannot be copied, as a sentence; null if it can. A refused one has no other losses, because none of
 * it is copied.
 */
export function planDocument(
  document: ReadDocument,
  { key, details: dataset }: Pick<ChosenDataset, "key" | "details">,
  { refusal, earlier }: Pick<DocumentPlan, "earlier"> & { readonly refusal: string | null },
): DocumentPlan {
  const { dataset_id, document_id, doc_form, details } = document;
  const { chunks, disabled, children, characters, attachments, attached } = document.rows;
  const refused = refusal ?? (details ? null : noDetails);
  const values = details?.values.filter(({ name }) => dataset.fields?.some((field) => field.name === name)) ?? [];
  return {
    dataset_id,
    document_id,
    dataset_key: key,
    document_name: details?.name || document_id,
    doc_form,
    doc_language: details?.doc_language ?? null,
    indexing_technique: dataset.indexing_technique,
    process_rule: details?.process_rule ?? { mode: "automatic" },
    refused,
    earlier,
    ...{ chunks, disabled, children, characters },
    metadata: values.filter(isPlain),
    enabled: details?.enabled ?? true,
    archived: details?.archived ?? false,
    ...{ attachments, attached },
    losses: refused === null ? lossesOf(document, values) : [],
  };
}

const noDetails = "The run has no details of it: the service did not return them.";

function isPlain(field: DocumentDetails["values"][number]): field is ValuePlan {
  return field.value === null || typeof field.value === "string" || typeof field.value === "number";
}

/** `known`: the metadata values whose fields the dataset has. */
function lossesOf({ details, rows }: ReadDocument, known: DocumentDetails["values"]): readonly Loss[] {
  const { values = [], enabled, archived, process_rule, data_source_type } = details ?? {};
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

/** Returns a function that explains why a document of a dump cannot be copied; null if it can. */
function refusalOf({ manifest: { options } }: Dump) {
  const filtered = new Set(filteredDatasets(options));
  return ({ dataset_id, doc_form, status, error }: ReadDocument): string | null => {
    if (status !== "complete")
      return `The run did not read all of it: it is ${status}${error === null ? "" : ` (${error})`}.`;
    if (filtered.has(dataset_id)) return "The run left out chunks of it: the job has a filter (status, keyword).";
    if (options.child_chunks === "none" && doc_form === "hierarchical_model")
      return "The run read no child chunks of it: the job has child_chunks: none.";
    return null;
  };
}
