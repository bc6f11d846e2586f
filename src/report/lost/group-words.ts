import type { WordPart } from "../lost-facts.js";

/** Two texts that have less than this share of the letters of the shorter one in common are shown one after the other. */
const leastShared = 0.5;

/**
 * The parts of two texts as a person can read them: word by word where they are alike, else the whole old text and then the whole new
 * one. Words that happen to stand in both would mix two sentences otherwise.
 */
export function groupWords(parts: readonly WordPart[]): readonly WordPart[] {
  const [shared, removed, added] = (["same", "removed", "added"] as const).map((kind) => lettersOf(parts, kind));
  if (!shared || shared >= leastShared * (shared + Math.min(removed ?? 0, added ?? 0))) return parts;
  return (["removed", "added"] as const).map((kind) => {
    const own = parts.filter((part) => part.kind === "same" || part.kind === kind);
    return { kind, text: own.map(({ text }) => text).join(""), cut: own.reduce((sum, { cut }) => sum + cut, 0) };
  });
}

/** Letters and digits of the parts of a kind, those that are cut out included. */
function lettersOf(parts: readonly WordPart[], kind: WordPart["kind"]): number {
  const own = parts.filter((part) => part.kind === kind);
  return own.reduce((sum, { text, cut }) => sum + cut + text.replace(/[^\p{L}\p{N}]/gu, "").length, 0);
}
