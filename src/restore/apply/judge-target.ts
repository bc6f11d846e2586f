import type { ChunkTexts, TargetChunk } from "../restore-plan.js";
import { isSameSet } from "../same-set.js";
import { haveSameTexts, type StandingChunk } from "./row-texts.js";

/** The state of a chunk of the target right before it is changed. `there`: it has the new texts. `same`: it is as it was when planned. */
export type TargetVerdict = { readonly kind: "there" | "same" } | { readonly kind: "changed"; readonly reason: string };

/** Compares a chunk with the plan. Without new texts, only what the target said then counts. */
export function judgeTarget(
  now: StandingChunk,
  documentId: string,
  target: TargetChunk,
  texts: ChunkTexts | null,
): TargetVerdict {
  if (now.document_id !== documentId) {
    return { kind: "changed", reason: `chunk ${now.id} is not of this document` };
  }
  if (texts && haveSameTexts(now, texts) && hasKeywords(now, texts)) return { kind: "there" };
  const differing = [
    ...(haveSameTexts(now, target) ? [] : ["text"]),
    ...(texts === null || isSameSet(now.keywords, target.keywords) ? [] : ["keywords"]),
    ...(texts === null || now.enabled === target.enabled ? [] : ["state"]),
  ];
  if (differing.length === 0) return { kind: "same" };
  return {
    kind: "changed",
    reason: `chunk ${now.id} differs in ${differing.join(" and ")} from the one that the plan was made for`,
  };
}

/** No keywords: the service chooses them. */
function hasKeywords(now: StandingChunk, { keywords }: ChunkTexts): boolean {
  return keywords === null || keywords.length === 0 || isSameSet(now.keywords, keywords);
}
