import { isDeepStrictEqual } from "node:util";
import type { Listed } from "../../client/check-list.js";
import { textIn } from "../../restore/json-fields.js";
import { cutText } from "../../safe-text.js";
import { isMapping } from "../../schema.js";
import type { DatasetPlan, DatasetSettings, DocumentPlan, Loss } from "../move-plan.js";
import type { ChosenDataset } from "./choose-documents.js";
import type { DatasetDetails } from "./details.js";
import type { FoundTarget } from "./find-targets.js";

/** Plans a dataset: the settings that it is made with, and those that do not come. */
export function planDataset(
  { key, details, name }: Pick<ChosenDataset, "key" | "details" | "name">,
  { target, there, adopted }: FoundTarget,
  documents: readonly DocumentPlan[],
): DatasetPlan {
  const losses = there && adopted ? differencesOf(details, there.settings) : permissionLosses(details);
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
