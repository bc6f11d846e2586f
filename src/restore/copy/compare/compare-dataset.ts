import { compareMembers, compareSetting, type DatasetDetails, differenceText, isSameValue } from "./details.js";

/** The key of a dataset of the dump and one at the service that holds copies of it: each may have several of the other. */
export function datasetPairKey(id: string, liveId: string): string {
  return `${id}/${liveId}`;
}

/** The facts of a dataset that holds restored copies. */
export interface CopiedDataset {
  /** The name that it was planned to have. */
  readonly name: string;
  /** The restore did not make it: it has settings of its own, which are not compared. */
  readonly existed: boolean;
  /** Tags that the restore could not give it, which it has reported. */
  readonly missingTags?: ReadonlySet<string>;
}

/**
 * Compares the settings of a dataset with those at the service, and gives a sentence for each that differs. What the run does not know
 * is not compared. `copied`: null where it is the same dataset, not one that holds copies.
 */
export function compareDataset(
  old: DatasetDetails,
  live: DatasetDetails,
  copied: CopiedDataset | null,
): readonly string[] {
  const hasOwn = copied?.existed ?? false;
  return [
    ...compareSetting("name", copied?.name ?? old.name, live.name),
    ...(hasOwn || old.name === null ? [] : compareSettings(old, live, copied !== null)),
    ...compareSets("metadata fields", fieldTexts(old), fieldTexts(live), hasOwn),
    ...compareSets("tags", old.tags && without(old.tags, copied?.missingTags), live.tags, hasOwn),
    ...(hasOwn && !old.built_in_field_enabled
      ? []
      : compareSetting("switch for built-in metadata fields", old.built_in_field_enabled, live.built_in_field_enabled)),
  ];
}

/** A key cannot name the members that a dataset is shared with: a copy is its owner's alone. */
function compareSettings(old: DatasetDetails, live: DatasetDetails, isCopy: boolean): readonly string[] {
  const permission = isCopy && old.permission === "partial_members" ? "only_me" : old.permission;
  return [
    ...(isSameValue(old.description, live.description)
      ? []
      : [differenceText("description", old.description, live.description)]),
    ...compareSetting("permission", permission, live.permission),
    ...compareSetting("indexing technique", old.indexing_technique, live.indexing_technique),
    ...(old.indexing_technique === "high_quality" ? compareModels(old, live) : []),
    ...compareMembers("retrieval model", old.retrieval_model, live.retrieval_model, isCopy),
  ];
}

/** A provider is the last part of its name: openai and langgenius/openai/openai are the same in an older and a newer release. */
function compareModels(old: DatasetDetails, live: DatasetDetails): readonly string[] {
  const providerOf = ({ embedding_model_provider: name }: DatasetDetails) => name?.split("/").at(-1) ?? null;
  return [
    ...compareSetting("embedding model", old.embedding_model, live.embedding_model),
    ...compareSetting("provider of the embedding model", providerOf(old), providerOf(live)),
  ];
}

function fieldTexts({ fields }: DatasetDetails): ReadonlySet<string> | undefined {
  return fields && new Set([...fields].map(([name, type]) => `${name} (${type})`));
}

function without(names: ReadonlySet<string>, others: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  return new Set([...names].filter((name) => !others.has(name)));
}

/** `mayHaveMore`: the dataset was there before, with others of its own. */
function compareSets(
  what: string,
  old: ReadonlySet<string> | undefined,
  live: ReadonlySet<string> | undefined,
  mayHaveMore: boolean,
): readonly string[] {
  if (old === undefined || live === undefined) return [];
  const missing = [...old].filter((each) => !live.has(each));
  const more = mayHaveMore ? [] : [...live].filter((each) => !old.has(each));
  return [
    ...(missing.length > 0 ? [`its ${what} lack ${missing.join(", ")}`] : []),
    ...(more.length > 0 ? [`its ${what} have ${more.join(", ")} more than in the run`] : []),
  ];
}
