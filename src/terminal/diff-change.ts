import { countText } from "../amounts.js";
import type { ChunkChange, HandMade, TextPart } from "../compare/run-diff.js";
import { cutToWidth, wrapToWidth } from "./display-width.js";
import { type Piece, paintedLines, plain } from "./painted-lines.js";
import { type Page, terminalText } from "./text.js";

const hands: Readonly<Record<HandMade, string>> = {
  edited: "edited by hand",
  added: "added by hand",
  customized: "with child chunks made by hand",
};

/** The page of a diff, and whether it shows the words that differ of everything that changed. */
export interface DiffPage extends Page {
  readonly words: boolean;
}

/** One difference for people: its kind, place and ids, then the texts. */
export function renderChange(change: ChunkChange, page: DiffPage): readonly string[] {
  const { paint, columns } = page;
  const id = change.new_id ?? change.old_id ?? "";
  const what = change.level === "chunk" ? "chunk" : "child chunk";
  const words = [
    `${change.kind}${change.kind === "fields" ? " of" : ""} ${what}`,
    placeText(change),
    terminalText(id, 80),
  ];
  const hand = handText(change);
  const was = change.old_id !== null && change.new_id !== null && change.old_id !== change.new_id;
  const wrapped = (text: string, painted: (line: string) => string = plain) =>
    wrapToWidth(text, columns, columns < 50 ? "" : "  ").map(painted);
  const paintKind = change.kind === "added" ? paint.good : change.kind === "removed" ? paint.bad : plain;
  return [
    ...wrapped(words.filter(Boolean).join(" "), paintKind),
    ...(was ? wrapped(`  was ${terminalText(change.old_id ?? "", 80)}`) : []),
    ...(hand ? wrapped(`  ${hand}`, paint.strong) : []),
    ...(change.fields.length > 0
      ? wrapped(`  ${change.fields.join(", ")} ${change.fields.length === 1 ? "differs" : "differ"}`)
      : []),
    ...renderTexts(change, page),
  ];
}

/** The old text and the new one of an edit that was lost, the text of what is gone; of all else how it begins. */
function renderTexts(change: ChunkChange, page: DiffPage): readonly string[] {
  const { text, kind, lost, old_beginning, new_beginning } = change;
  const { paint, columns, words } = page;
  if (text)
    return Object.entries(text).flatMap(([name, parts]) =>
      words ? renderWords(name, parts, page) : renderSides(name, parts, page),
    );
  const beginning = kind === "removed" ? old_beginning : new_beginning;
  if (!beginning) return [];
  if (lost) return signedLines("-", [{ text: lineOf(beginning), paint: paint.bad }], page);
  return [paint.faint(cutToWidth(`  ${terminalText(beginning)}`, columns))];
}

/** `- old` and `+ new`, in which the words are coloured that the other does not have. */
function renderSides(name: string, parts: readonly TextPart[], page: Page): readonly string[] {
  const { good, bad, faint } = page.paint;
  const side = (own: TextPart["kind"], paint: Piece["paint"]) =>
    parts.flatMap(({ kind, text }) =>
      kind === own || kind === "same" ? [{ text: lineOf(text), paint: kind === own ? paint : plain }] : [],
    );
  return [
    ...(name === "content" ? [] : [faint(`  ${name}:`)]),
    ...signedLines("-", side("removed", bad), page),
    ...signedLines("+", side("added", good), page),
  ];
}

/** Lines of a text that are shown of one change. */
const mostLines = 3;

/** The first lines of a text behind a sign: `-` for one that goes, `+` for one that comes. */
export function signedLines(sign: "-" | "+", pieces: readonly Piece[], { paint, columns }: Page): readonly string[] {
  const colour = sign === "-" ? paint.bad : paint.good;
  const lines = paintedLines(pieces, columns - 4, mostLines);
  return lines.map((line, at) => `  ${at === 0 ? colour(sign) : " "} ${line}`);
}

/** `content: same [-removed-]{+added+} same` */
function renderWords(name: string, parts: readonly TextPart[], { paint, columns }: Page): readonly string[] {
  const colours = { same: plain, removed: paint.bad, added: paint.good };
  const pieces = [
    { text: `${name}: `, paint: paint.faint },
    ...markedWords(parts).map(({ kind, text }) => ({ text, paint: colours[kind] })),
  ];
  return paintedLines(pieces, columns - 2, Number.POSITIVE_INFINITY).map((line) => `  ${line}`);
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

/** The parts of a text, each on one line, with marks around those that differ: `[-removed-]`, `{+added+}`. */
export function markedWords(parts: readonly TextPart[]): readonly Pick<TextPart, "kind" | "text">[] {
  const more = parts.length - mostParts;
  const marked = parts.slice(0, mostParts).map(({ kind, text }) => {
    const line = lineOf(text);
    if (kind === "same") return { kind, text: line };
    return { kind, text: kind === "removed" ? `[-${line}-]` : `{+${line}+}` };
  });
  return more > 0 ? [...marked, { kind: "same", text: ` … and ${countText(more, "more piece")}` }] : marked;
}

/** A text on one line; marks stand for its line feeds. */
export function lineOf(text: string): string {
  return terminalText(text.replace(/\r?\n/g, "↵"), 2_000);
}
