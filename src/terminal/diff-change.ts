import type { ChunkChange, HandMade, TextPart } from "../diff/run-diff.js";
import { countText, type Paint, terminalText } from "./text.js";

const hands: Readonly<Record<HandMade, string>> = {
  edited: "edited by hand",
  added: "added by hand",
  customized: "with child chunks made by hand",
};

/** One difference for people: what, where, its ids, how it begins, and the words that differ where they are known. */
export function renderChange(
  change: ChunkChange,
  { paint, columns }: { readonly paint: Paint; readonly columns: number },
): readonly string[] {
  const id = change.new_id ?? change.old_id ?? "";
  const what = change.level === "chunk" ? "chunk" : "child chunk";
  const hand = change.hand_made && handText(change);
  const words = [
    `${change.kind}${change.kind === "fields" ? " of" : ""} ${what}`,
    placeText(change),
    terminalText(id, 80),
  ]
    .filter(Boolean)
    .join(" ");
  const paintKind =
    change.kind === "added" ? paint.good : change.kind === "removed" ? paint.bad : (text: string) => text;
  const beginning = change.kind === "removed" ? change.old_beginning : change.new_beginning;
  const was = change.old_id !== null && change.new_id !== null && change.old_id !== change.new_id;
  return [
    paintKind(words),
    ...(was ? [`  was ${terminalText(change.old_id ?? "", 80)}`] : []),
    ...(hand ? [`  ${paint.strong(hand)}`] : []),
    ...(change.fields.length > 0
      ? [`  ${change.fields.join(", ")} ${change.fields.length === 1 ? "differs" : "differ"}`]
      : []),
    ...(change.text
      ? Object.entries(change.text).map(([name, parts]) => `  ${paint.faint(`${name}:`)} ${renderText(parts, paint)}`)
      : beginning
        ? [paint.faint(`  ${terminalText(beginning, Math.max(20, columns - 10))}`)]
        : []),
  ];
}

function handText({ hand_made, level }: ChunkChange): string {
  if (hand_made === null) return "";
  return level === "child_chunk" ? "made by hand" : hands[hand_made];
}

function placeText({ old_position, new_position }: ChunkChange): string {
  if (old_position !== null && new_position !== null && old_position !== new_position)
    return `at ${old_position} → ${new_position}`;
  const position = new_position ?? old_position;
  return position === null ? "" : `at ${position}`;
}

/** Parts of a text that are shown of one change. */
const mostParts = 60;

/** `same [-removed-]{+added+} same`, on one line. */
export function renderText(parts: readonly TextPart[], paint: Paint): string {
  const more = parts.length - mostParts;
  return [
    ...parts.slice(0, mostParts).map(({ kind, text }) => {
      const line = terminalText(text.replace(/\r?\n/g, "↵"), 2_000);
      if (kind === "same") return line;
      return kind === "removed" ? paint.bad(`[-${line}-]`) : paint.good(`{+${line}+}`);
    }),
    ...(more > 0 ? [paint.faint(` … and ${countText(more, "more piece")}`)] : []),
  ].join("");
}
