import { cutText } from "../../safe-text.js";
import { isMapping } from "../../schema.js";
import type { DatasetDetails, DocumentDetails } from "./details.js";

/** The dataset of a document's copy as it is in the run. Its fields are undefined if the run does not know them. */
type CopiedInto = Pick<DatasetDetails, "fields">;

/**
 * Compares the settings of a document with those at the service, and returns a sentence for each difference. Skips settings that the run
 * does not have. `copied`: null if it is the same document, not a copy.
 */
export function compareDocument(
  old: DocumentDetails,
  live: DocumentDetails,
  copied: CopiedInto | null,
): readonly string[] {
  return [
    ...compareSetting("name", old.name, live.name),
    ...compareSetting("state (enabled)", old.enabled, live.enabled),
    ...compareSetting("state (archived)", old.archived, live.archived),
    ...compareSetting("indexing status", copied ? "completed" : old.indexing_status, live.indexing_status),
    ...compareMetadata(old, live, copied),
    ...compareSetting("form", old.doc_form, live.doc_form),
    ...compareSetting("language", old.doc_language, live.doc_language),
    ...compareMembers("process rule", old.process_rule, live.process_rule, copied !== null),
  ];
}

function compareMetadata(old: DocumentDetails, live: DocumentDetails, copied: CopiedInto | null): readonly string[] {
  const [before, now] = [old, live].map(({ values }) => new Map(values.map(({ name, value }) => [name, value])));
  const names = new Set([...old.values, ...live.values].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [value, there] = [before?.get(name), now?.get(name)];
    // A value needs a field, and must be a text or a number. The plan announces all others as losses.
    const hasField = copied?.fields?.some((field) => field.name === name) === true;
    const canCome = copied === null || (hasField && (typeof value === "string" || typeof value === "number"));
    const isLost = isNothing(there) && !canCome;
    return isLost || isSameMetadata(value, there) ? [] : [differenceText(`metadata value "${name}"`, value, there)];
  });
}

/** The facts of a dataset that holds copies. */
export interface CopiedDataset {
  /** The planned name. */
  readonly name: string;
  /** Whether the dataset existed before the copy. If so, it has its own settings, and they are not compared. */
  readonly existed: boolean;
  /** Tags that could not be bound; already reported. */
  readonly missingTags: readonly string[];
}

/** Compares the settings of a dataset like `compareDocument`. `copied`: null if it is the same dataset, not one that holds copies. */
export function compareDataset(
  old: DatasetDetails,
  live: DatasetDetails,
  copied: CopiedDataset | null,
): readonly string[] {
  const hasOwn = copied?.existed ?? false;
  const tags = old.tags?.filter((tag) => !copied?.missingTags.includes(tag));
  return [
    ...compareSetting("name", copied?.name ?? old.name, live.name),
    ...(hasOwn || old.name === null ? [] : compareDatasetSettings(old, live, copied !== null)),
    ...compareNames("metadata fields", fieldTexts(old), fieldTexts(live), hasOwn),
    ...compareNames("tags", tags, live.tags, hasOwn),
    ...(hasOwn && !old.built_in_fields
      ? []
      : compareSetting("switch for built-in metadata fields", old.built_in_fields, live.built_in_fields)),
  ];
}

/** Compares the settings that a dataset is created with. A key cannot choose its members, so a copy is visible only to its owner. */
export function compareDatasetSettings(old: DatasetDetails, live: DatasetDetails, isCopy: boolean): readonly string[] {
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

/** Compares only the last part of a provider's name: openai and langgenius/openai/openai are the same provider in different releases. */
function compareModels(old: DatasetDetails, live: DatasetDetails): readonly string[] {
  const providerOf = ({ embedding_model_provider: name }: DatasetDetails) => name?.split("/").at(-1) ?? null;
  return [
    ...compareSetting("embedding model", old.embedding_model, live.embedding_model),
    ...compareSetting("provider of the embedding model", providerOf(old), providerOf(live)),
  ];
}

function fieldTexts({ fields }: DatasetDetails): readonly string[] | undefined {
  return fields?.map(({ name, type }) => `${name} (${type})`);
}

/** `mayHaveMore`: whether names that the run lacks are allowed, because the dataset existed before. */
function compareNames(
  what: string,
  old: readonly string[] | undefined,
  live: readonly string[] | undefined,
  mayHaveMore: boolean,
): readonly string[] {
  if (old === undefined || live === undefined) return [];
  const missing = old.filter((each) => !live.includes(each));
  const more = mayHaveMore ? [] : live.filter((each) => !old.includes(each));
  return [
    ...(missing.length > 0 ? [`its ${what} lack ${missing.join(", ")}`] : []),
    ...(more.length > 0 ? [`its ${what} have ${more.join(", ")} more than in the run`] : []),
  ];
}

/** A sentence if the setting differs, otherwise none. Skips settings that the run lacks. */
function compareSetting(what: string, old: unknown, live: unknown): readonly string[] {
  return isNothing(old) || isSameValue(old, live) ? [] : [differenceText(what, old, live)];
}

/** The text of a difference: `its name is "b" at the service, and "a" in the run`. */
function differenceText(what: string, old: unknown, live: unknown): string {
  return `its ${what} is ${valueText(live)} at the service, and ${valueText(old)} in the run`;
}

const longestValue = 80;

function valueText(value: unknown): string {
  return isNothing(value) ? "nothing" : cutText(JSON.stringify(value), longestValue);
}

/** A sentence that names the differing members of a setting. `onlyKnown`: compares only members that the run has. */
function compareMembers(what: string, old: unknown, live: unknown, onlyKnown: boolean): readonly string[] {
  if (isNothing(old)) return [];
  const members = differingMembers(old, live, onlyKnown);
  return members.length > 0 ? [`its ${what} differs in ${members.join(", ")}`] : [];
}

/**
 * The members that differ, as paths such as `rules.segmentation.max_tokens`. With `onlyKnown`, members that are empty in `one` do not
 * count: a newer service shows members that an older one did not have.
 */
export function differingMembers(one: unknown, other: unknown, onlyKnown: boolean): readonly string[] {
  const [left, right] = [one, other].map((value) => (isMapping(value) ? value : {}));
  const names = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  return [...names].flatMap((name) => {
    const [mine, theirs] = [left?.[name], right?.[name]];
    if (isSameValue(mine, theirs) || (onlyKnown && isNothing(mine))) return [];
    if (!isMapping(mine) || !isMapping(theirs)) return [name];
    return differingMembers(mine, theirs, onlyKnown).map((path) => `${name}.${path}`);
  });
}

/**
 * Whether two values mean the same: null, an absent member, and an empty text, list or object are all
 * equal, and the order of members does not matter.
 */
export function isSameValue(one: unknown, other: unknown): boolean {
  return plainText(one) === plainText(other);
}

function isNothing(value: unknown): boolean {
  return plainText(value) === "";
}

/** Like `isSameValue`, for metadata values: a service may show a number as text. */
export function isSameMetadata(one: unknown, other: unknown): boolean {
  const isTextOf = (text: unknown, number: unknown) =>
    typeof text === "string" && text.trim() !== "" && Number(text) === number;
  return isSameValue(one, other) || isTextOf(one, other) || isTextOf(other, one);
}

/** JSON text with members sorted by name and without empty ones; the empty text for an empty value. */
function plainText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (Array.isArray(value)) return value.length === 0 ? "" : `[${value.map(plainText).join(",")}]`;
  if (!isMapping(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .map(([name, member]) => [name, plainText(member)] as const)
    .filter(([, text]) => text !== "")
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return members.length === 0 ? "" : `{${members.join(",")}}`;
}
