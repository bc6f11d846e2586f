import { isDeepStrictEqual } from "node:util";
import type { Listed } from "../../../client/check-answer.js";
import { groupRows, textIn } from "../../../compare/document-rows.js";
import type { Manifest } from "../../../dump/manifest.js";
import type { Dump } from "../../../dump/open-dump.js";
import { cutText } from "../../../safe-text.js";
import { isMapping } from "../../../schema.js";
import { nameAndId, shardText } from "../../../words.js";
import { type DatasetPlan, type DatasetSettings, type DocumentPlan, datasetKey, type Loss } from "../copy-plan.js";
import { type DatasetDetails, unknownDataset } from "./details.js";
import { type FoundTarget, shownId } from "./find-targets.js";
import { type DumpDetails, formIn } from "./read-dump.js";

/** Plans a dataset: the settings that it is made with, and those that do not come. */
export function planDataset(
  { key, details, name }: Pick<ChosenDataset, "key" | "details" | "name">,
  { target, there, existed }: FoundTarget,
  documents: readonly DocumentPlan[],
): DatasetPlan {
  const losses = there && existed ? differencesOf(details, there.settings) : permissionLosses(details);
  return {
    key,
    dataset_id: details.dataset_id,
    dataset_name: name,
    target,
    settings: settingsOf(details),
    fields: details.fields,
    built_in_fields: details.built_in_fields,
    tags: details.tags,
    equipping: countEquipping(details, there?.settings),
    losses: [...unknownLosses(details), ...losses, ...pipelineLosses(details)],
    documents,
  };
}

/** Each field and tag that is missing is made; one request binds the tags, and one shows the built-in fields. */
function countEquipping({ fields, tags, built_in_fields }: DatasetDetails, there: Listed | undefined): number {
  const [ownFields, ownTags] = [namesIn(there?.doc_metadata), namesIn(there?.tags)];
  const missingFields = fields.filter(({ name }) => !ownFields.has(name)).length;
  const missingTags = tags.filter((name) => !ownTags.has(name)).length;
  const isHidden = built_in_fields && there?.built_in_field_enabled !== true;
  return missingFields + missingTags + (missingTags > 0 ? 1 : 0) + (isHidden ? 1 : 0);
}

function namesIn(list: unknown): ReadonlySet<unknown> {
  return new Set(Array.isArray(list) ? list.filter(isMapping).map(({ name }) => name) : []);
}

/** The settings as POST /datasets takes them: it takes no list of members, which `partial_members` needs. */
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

function permissionLosses(details: DatasetDetails): readonly Loss[] {
  if (!isPartial(details)) return [];
  return [settingLoss("The permission partial_members becomes only_me: the run does not know the members.")];
}

function unknownLosses({ name }: DatasetDetails): readonly Loss[] {
  if (name !== null) return [];
  return [settingLoss("The run could not read the settings of the dataset: the service chooses them.")];
}

function pipelineLosses({ runtime_mode, pipeline_id }: DatasetDetails): readonly Loss[] {
  if (runtime_mode !== "rag_pipeline" && !pipeline_id) return [];
  return [settingLoss("A pipeline makes the chunks of the dataset: the pipeline itself does not come.")];
}

/** The settings of a dataset that the restore did not make stay as they are: those that the run has otherwise are a loss. */
function differencesOf(details: DatasetDetails, there: Listed): readonly Loss[] {
  const losses: Loss[] = [];
  const compare = (what: string, mine: string | null, theirs: unknown) => {
    if (mine !== null && mine !== (textIn(theirs) ?? ""))
      losses.push(settingLoss(`The ${what} is ${shown(mine)} in the run, and stays ${shown(theirs ?? null)}.`));
  };
  compare("indexing technique", details.indexing_technique, there.indexing_technique);
  compare("embedding model", details.embedding_model, there.embedding_model);
  compare("provider of the embedding model", details.embedding_model_provider, there.embedding_model_provider);
  compare("description", details.description, there.description);
  compare("permission", details.permission, there.permission);
  const { retrieval_model: mine } = details;
  const theirs = there.retrieval_model_dict;
  if (mine && !hasMembersOf(theirs, mine))
    losses.push(settingLoss(`The retrieval model is ${shown(mine)} in the run, and stays ${shown(theirs ?? null)}.`));
  return losses;
}

/** Whether a setting has all members of another: a newer service may know more of them. */
function hasMembersOf(setting: unknown, members: object): boolean {
  const own = new Map(isMapping(setting) ? Object.entries(setting) : []);
  return Object.entries(members).every(([name, value]) => isDeepStrictEqual(own.get(name), value));
}

const longestValue = 300;

function shown(value: unknown): string {
  return value === null ? "unset" : cutText(JSON.stringify(value), longestValue);
}

function settingLoss(reason: string): Loss {
  return { part: "settings", rows: 1, reason };
}

type DumpedDocument = Manifest["documents"][number];

/** A dataset of a dump, and those of its documents that are to come and have one form, in the order of the dump. */
export interface ChosenDataset {
  readonly key: string;
  readonly details: DatasetDetails;
  /** Its id where the run does not know its name. */
  readonly name: string;
  /** Null where it is empty. */
  readonly form: string | null;
  readonly documents: readonly DumpedDocument[];
}

/**
 * Chooses the datasets of these documents, once for each form that the documents have; without any, all of the dump, those that are
 * empty included. All documents of the dump decide on the keys: the same document always has the same.
 */
export function chooseDatasets(
  { manifest }: Dump,
  reading: DumpDetails,
  chosen: readonly string[],
): readonly ChosenDataset[] {
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
    const details = datasets.get(id) ?? unknownDataset(id);
    const named = { details, name: details.name || listings.get(id)?.name || id };
    const own = groupRows(groups.get(id) ?? [], formOf);
    if (own.size === 0) return [{ ...named, key: id, form: null, documents: [] }];
    const mainForm = mostFrequent((all.get(id) ?? []).map(formOf));
    return [...own].map(([form, documents]) => ({ ...named, key: datasetKey(id, form, mainForm), form, documents }));
  });
}

/** The text that is there most often; of several, the first. */
function mostFrequent(texts: readonly string[]): string {
  const groups = [...groupRows(texts, (text) => text)];
  const most = Math.max(...groups.map(([, own]) => own.length));
  return groups.find(([, own]) => own.length === most)?.[0] ?? "";
}

/** Sentences on documents that a run lacks, or may lack. */
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
