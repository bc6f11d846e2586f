import { ExactNumber } from "../../rows/exact-json.js";
import type { LossPart, MoveFrom } from "../move-plan.js";
import type { DatasetDetails, DocumentDetails } from "./details.js";
import { isNothing, isSameMetadata } from "./same-value.js";
import { compareMembers, compareSetting, differenceText } from "./setting-text.js";

/** The facts of a document that was restored as a copy. */
export interface CopiedDocument {
  /** `originals`: the service cut its file anew, by rules of its own. */
  readonly from: MoveFrom;
  /** Parts that were announced not to come. */
  readonly losses: ReadonlySet<LossPart>;
  /** The metadata fields of its dataset in the run: a value of any other has no place. */
  readonly fields: DatasetDetails["fields"];
}

/**
 * Compares the settings of a document with those at the service, and gives a sentence for each that differs. What the run does not
 * know is not compared. `copied`: null where it is the same document, not a copy.
 */
export function compareDocument(
  old: DocumentDetails,
  live: DocumentDetails,
  copied: CopiedDocument | null,
): readonly string[] {
  return [
    ...compareSetting("name", old.name, live.name),
    ...compareSetting("state (enabled)", old.enabled, live.enabled),
    ...compareSetting("state (archived)", old.archived, live.archived),
    ...compareSetting("indexing status", copied ? "completed" : old.indexing_status, live.indexing_status),
    ...compareMetadata(old, live, copied),
    ...(copied?.from === "originals" ? [] : compareMaking(old, live, copied)),
  ];
}

/** The differences in the settings that a document is cut by, as sentences. */
function compareMaking(old: DocumentDetails, live: DocumentDetails, copied: CopiedDocument | null): readonly string[] {
  return [
    ...compareSetting("form", old.doc_form, live.doc_form),
    ...compareSetting("language", old.doc_language, live.doc_language),
    ...(copied?.losses.has("process rule")
      ? []
      : compareMembers("process rule", old.process_rule, live.process_rule, copied !== null)),
  ];
}

function compareMetadata(
  old: DocumentDetails,
  live: DocumentDetails,
  copied: CopiedDocument | null,
): readonly string[] {
  const names = new Set([...old.metadata.keys(), ...live.metadata.keys()]);
  return [...names].flatMap((name) => {
    const [value, now] = [old.metadata.get(name), live.metadata.get(name)];
    const isLost = isNothing(now) && copied !== null && !canComeAsValue(name, value, copied);
    return isLost || isSameMetadata(value, now) ? [] : [differenceText(`metadata value "${name}"`, value, now)];
  });
}

/** A value needs a field, and can be a text or a number. */
function canComeAsValue(name: string, value: unknown, { losses, fields }: CopiedDocument): boolean {
  if (losses.has("metadata") || fields?.has(name) === false) return false;
  return typeof value === "string" || typeof value === "number" || value instanceof ExactNumber;
}
