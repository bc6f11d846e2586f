import { groupRows, inexactReason } from "../../compare/document-rows.js";
import type { Manifest } from "../../dump/manifest.js";
import { attachmentFiles, type Dump } from "../../dump/open-dump.js";
import { type Problem, UsageError } from "../../errors.js";
import type { Kind } from "../../rows/columns.js";
import { documentKey } from "../../rows/row.js";
import { nameAndId, shardText } from "../../words.js";
import type { JournalFacts, KnownCopy } from "../journal-facts.js";
import { shownId, unknownDocuments } from "../target.js";
import { compareDatasetSettings } from "./compare-settings.js";
import {
  type CopyPlan,
  type DatasetPlan,
  type DatasetSettings,
  type DocumentPlan,
  datasetKey,
  type EarlierDocument,
} from "./copy-plan.js";
import type { CopyOptions } from "./copy-result.js";
import { type DatasetDetails, type DumpDetails, datasetFrom } from "./details.js";
import { type FoundTarget, findTargets, type TargetApi, type WishedDataset } from "./find-targets.js";
import { planDocument, refusalOf } from "./plan-document.js";
import { formIn, noRows, readDump } from "./read-dump.js";

type OwnerOptions = "documents" | "dataset" | "memory" | "signal" | "progress";

export interface PlanOptions extends Pick<CopyOptions, OwnerOptions> {
  readonly dump: Dump;
  /** The datasets and documents that earlier processes of this restore made. */
  readonly facts: JournalFacts;
  /** Whether the target is the service of the dump, which has the attachments already. */
  readonly isSameService: boolean;
}

export interface PlannedCopy {
  readonly plan: CopyPlan;
  /** Sentences. */
  readonly warnings: readonly string[];
}

/**
 * Plans how a dump becomes datasets and documents of another service. Asks the target which datasets and documents it has; writes
 * nothing. Texts of chunks stay in DuckDB. Throws UsageError if the dump as a whole cannot be copied, or an option cannot be met;
 * StopError if a file differs from its manifest, or the target does not list what it has.
 */
export async function planCopy(api: TargetApi, options: PlanOptions): Promise<PlannedCopy> {
  const { dump, documents, facts, progress } = options;
  checkWishes(dump, options);
  progress.step = "reading the run";
  const mayUpload = options.isSameService || attachmentFiles(dump).size === 0;
  if (!mayUpload) await api.datasets(1); // checks that this is Dify: a service without the route answers with a web page
  const canUpload = mayUpload || (await api.hasFileUpload());
  const reading = await readDump(dump, { ...options, canUpload });
  const chosen = chooseDatasets(dump, reading, documents);
  progress.step = "asking the service";
  const { targets, warnings } = await findTargets(api, chosen, options);
  const judge = refusalOf(dump);
  const datasets = chosen.flatMap((dataset) => {
    const found = targets.get(dataset.key);
    if (!found) return [];
    const plans = dataset.documents.map((document) => {
      const doc_form = formIn(reading, document);
      return planDocument({
        ...{ document, doc_form, dataset_key: dataset.key, dataset: dataset.details },
        details: reading.documents.get(documentKey(document)),
        refusal: judge(document, doc_form),
        earlier: earlierCopy(facts.documents.get(document.document_id), found),
        rows: reading.rows.get(documentKey(document)) ?? noRows,
      });
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
  const problems = [...dumpProblems(dump), ...unknownDocuments(dump.manifest, documents)];
  if (problems.length > 0) throw new UsageError(`${dump.folder} cannot be copied to another service:`, problems);
}

function dumpProblems(dump: Dump): readonly Problem[] {
  const { counts, options } = dump.manifest;
  const hasDetails = counts.datasets !== undefined && counts.document_details !== undefined;
  const lack = !hasDetails ? "no details" : options.details === "auto" ? "details of edited documents only" : undefined;
  const message = `it has ${lack}: run the job with details: true; a copy needs the settings`;
  const hasExact = (kinds: readonly Kind[]) => dump.tablesOf(kinds) !== undefined;
  const isExact = (!hasDetails || hasExact(["datasets", "document_details"])) && hasExact(["chunks", "child_chunks"]);
  return [
    ...(lack === undefined ? [] : [{ path: "", message }]),
    ...(isExact ? [] : [{ path: "", message: inexactReason(dump) }]),
  ];
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
    settings: settingsOf(details),
    fields: details.fields ?? [],
    built_in_fields: details.built_in_fields === true,
    tags: details.tags ?? [],
    equipping: countEquipping(details, standing),
    losses: settingLosses(details, there?.existed ? standing : null).map(
      (reason) => ({ part: "settings", rows: 1, reason }) as const,
    ),
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

/** The settings for POST /datasets, which accepts no list of members, although `partial_members` needs one. */
function settingsOf(details: DatasetDetails): DatasetSettings {
  const { indexing_technique, embedding_model, embedding_model_provider, retrieval_model } = details;
  return {
    description: details.description ?? "",
    indexing_technique,
    permission: isPartial(details) ? "only_me" : (details.permission ?? "only_me"),
    embedding_model,
    embedding_model_provider,
    retrieval_model,
    summary_index_setting: details.summary_index_setting,
  };
}

function isPartial({ permission }: DatasetDetails): boolean {
  return permission === "partial_members";
}

/** A sentence for each lost setting. `existing`: the dataset if the restore did not make it: it keeps its settings. */
function settingLosses(details: DatasetDetails, existing: DatasetDetails | null): readonly string[] {
  const differing = existing ? compareDatasetSettings(details, existing, true) : [];
  const hasPipeline = details.runtime_mode === "rag_pipeline" || Boolean(details.pipeline_id);
  return [
    ...(details.name === null ? ["The run could not read the settings of the dataset: the service chooses them."] : []),
    ...(isPartial(details)
      ? ["The permission partial_members becomes only_me: the run does not know the members."]
      : []),
    ...differing.map((sentence) => `I${sentence.slice(1)}, and stays as it is there.`),
    ...(hasPipeline ? ["A pipeline makes the chunks of the dataset: the pipeline itself is not copied."] : []),
  ];
}

type DumpedDocument = Manifest["documents"][number];

/** A dataset of a dump with its chosen documents of one form, in the order of the dump. */
interface ChosenDataset extends WishedDataset {
  readonly details: DatasetDetails;
  readonly documents: readonly DumpedDocument[];
}

/**
 * Chooses the datasets of the chosen documents, once per form. If none are chosen, takes all datasets of the dump, including empty
 * ones. The keys depend on all documents of the dump, so that a document always has the same key.
 */
function chooseDatasets({ manifest }: Dump, reading: DumpDetails, chosen: readonly string[]): readonly ChosenDataset[] {
  const { datasets } = reading;
  const datasetOf = ({ dataset_id }: DumpedDocument) => dataset_id;
  const formOf = (document: DumpedDocument) => formIn(reading, document);
  const ids = new Set(chosen);
  const documents = manifest.documents.filter(({ document_id }) => ids.size === 0 || ids.has(document_id));
  const groups = groupRows(documents, datasetOf);
  const all = groupRows(manifest.documents, datasetOf);
  const listings = new Map(manifest.discovered?.datasets.map((listing) => [listing.dataset_id, listing]));
  const isEmpty = (id: string) => ids.size === 0 && listings.get(id)?.state === "listed";
  const ordered = [...datasets.keys()].filter((id) => groups.has(id) || isEmpty(id));
  return [...new Set([...ordered, ...groups.keys()])].flatMap((id): readonly ChosenDataset[] => {
    const details = datasets.get(id) ?? datasetFrom({ dataset_id: id });
    const named = { details, dataset_id: id, dataset_name: details.name || listings.get(id)?.name || id };
    const own = groupRows(groups.get(id) ?? [], formOf);
    if (own.size === 0) return [{ ...named, key: id, form: null, documents: [] }];
    const mainForm = mostFrequent((all.get(id) ?? []).map(formOf));
    return [...own].map(([form, documents]) => ({ ...named, key: datasetKey(id, form, mainForm), form, documents }));
  });
}

/** The most frequent text; if several are, the first. */
function mostFrequent(texts: readonly string[]): string {
  const groups = [...groupRows(texts, (text) => text)].sort(([, one], [, other]) => other.length - one.length);
  return groups[0]?.[0] ?? "";
}

/** Sentences about documents that a run lacks or may lack. */
export function listingWarnings({ manifest: { discovered, shard } }: Dump): readonly string[] {
  const others =
    shard && shard.count > 1
      ? [
          `the run is ${shardText(shard)}, and lacks the documents and settings that the others read; join the shards, and restore the joined run`,
        ]
      : [];
  const flaws = (discovered?.datasets ?? [])
    .filter(({ state }) => state === "failed" || state === "unsettled")
    .map(({ dataset_id, name }) => {
      const which = nameAndId(name, shownId(dataset_id));
      return `the run may lack documents of the dataset ${which}: the service did not list all of them`;
    });
  return [...others, ...flaws];
}
