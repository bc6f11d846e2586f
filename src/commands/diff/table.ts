import { chunksText, countText, lostText, replacedText } from "../../amounts.js";
import { cutToWidth, wrapToWidth } from "../../cli/display-width.js";
import { type Entry, faint, type Paragraphs, type Part, renderParagraphs, titled } from "../../cli/outline.js";
import { layOutTable } from "../../cli/table.js";
import { type Page, type Paint, plain, terminalText } from "../../cli/text.js";
import type {
  ChangeCounts,
  ChunkChange,
  DocumentDiff,
  ManualEdit,
  RunDiff,
  TextPart,
} from "../../compare/diff-result.js";
import type { ChangeSelection, Changes } from "../../compare/read-changes.js";
import { cutText } from "../../safe-text.js";
import { nameAndId, nameText } from "../../words.js";

interface DiffTableOptions extends Page {
  /** Whether to show only documents, without chunks. Then every document that differs is shown. */
  readonly documentsOnly: boolean;
  /** Whether to show word differences for everything that changed. */
  readonly words: boolean;
}

/** Maximum documents to show if chunks follow. */
const mostDocuments = 100;

const columns = ["added", "removed", "changed", "moved", "fields", "unchanged"] as const;
const heads = ["document", "added", "removed", "changed", "moved", "fields", "same"];

const right = { right: true };
const tableColumns = [{ id: true }, right, right, right, right, right, { right: true, drop: 1 }];

/** Renders the differences between two runs for people: documents with counts, then chunks, lost ones first. */
export async function renderDiff(diff: RunDiff, changes: Changes, options: DiffTableOptions): Promise<string> {
  const sections = options.documentsOnly ? [] : await sectionsOf(diff, changes, options.words);
  const documents = () => renderDocuments(diff, options);
  return renderParagraphs([[documents], ...sections, [verdictOf(diff)]], options);
}

function renderDocuments({ documents, counts }: RunDiff, options: DiffTableOptions): readonly string[] {
  const { paint, columns: width, documentsOnly } = options;
  const others = documents.filter(({ state }) => state !== "same");
  if (others.length === 0) return [];
  const shown = documentsOnly ? others : others.slice(0, mostDocuments);
  const more = others.length - shown.length;
  const rows = [
    heads,
    ...shown.flatMap(rowsOf),
    ...(more > 0 ? [[`… and ${countText(more, "more document")}; --only document shows all`]] : []),
    ...(counts.documents.same > 0 ? [[`${countText(counts.documents.same, "document")} without a difference`]] : []),
    ["all chunks", ...cellsOf(counts.chunks)],
    ...(hasRows(counts.child_chunks) ? [["all child chunks", ...cellsOf(counts.child_chunks)]] : []),
  ];
  const isCount = (at: number) => at > 0 && rows[at]?.length !== 1;
  const lines = layOutTable(rows, { columns: tableColumns, width, gap: 1 });
  return lines.flatMap((row, at) => (isCount(at) ? row : row.map(paint.faint)));
}

/** The table rows for a document: its counts, those of its child chunks, and remarks. A remark is a row with one cell. */
function rowsOf(document: DocumentDiff): readonly (readonly string[])[] {
  const head = terminalText(document.document_id, 80);
  const remarks = remarksOn(document).map((remark) => [`  ${remark}`]);
  if (document.state === "not_compared") return [[head], ...remarks];
  const rows = [[head, ...cellsOf(document.chunks)]];
  if (hasRows(document.child_chunks)) rows.push(["  child chunks", ...cellsOf(document.child_chunks)]);
  return [...rows, ...remarks];
}

function remarksOn({
  document_name,
  state,
  reindexed,
  reordered,
  reason,
  chunks,
  child_chunks,
}: DocumentDiff): readonly string[] {
  const lost = chunks.lost + child_chunks.lost;
  const manual = chunks.manual_edits + child_chunks.manual_edits;
  const remarks: string[] = document_name === null ? [] : [nameText(document_name)];
  if (state === "removed") remarks.push("only in the old run");
  if (state === "added") remarks.push("only in the new run");
  if (reindexed) remarks.push(`re-indexed: ${lost === 0 ? "nothing lost" : lostText(lost, manual)}`);
  else if (lost > 0) remarks.push(lostText(lost, manual));
  if (chunks.moved > 0 && !reordered) remarks.push("moved together; their order is the same");
  if (reason !== null) remarks.push(`not compared: ${terminalText(reason, 300)}`);
  return remarks;
}

function cellsOf(counts: ChangeCounts): readonly string[] {
  return columns.map((name) => String(counts[name]));
}

function hasRows(counts: ChangeCounts): boolean {
  return columns.some((name) => counts[name] > 0);
}

/** The sections of single chunks, with the maximum per section and its title. */
const sections: readonly { selection: ChangeSelection; most: number; title: string }[] = [
  { selection: "manual edits", most: 100, title: "Lost, with manual edits" },
  { selection: "lost", most: 30, title: "Lost, without evidence of a manual edit" },
  { selection: "others but moved", most: 50, title: "Other differences" },
];

async function sectionsOf(diff: RunDiff, changes: Changes, words: boolean): Promise<Paragraphs> {
  const paragraphs: Part[][] = [];
  const names = new Map(diff.documents.map(({ document_id, document_name }) => [document_id, document_name]));
  for (const { selection, most, title } of sections) {
    const found = await changes.first(selection, most + 1);
    const documents = [...Map.groupBy(found.slice(0, most), ({ document_id }) => document_id)].map(([id, own]) => ({
      text: `document ${nameAndId(names.get(id), terminalText(id, 80))}`,
      below: own.map((change) => changeEntry(change, words)),
    }));
    const more = found.length > most && faint("… and more; --format csv or json has all of them");
    const replaced = selection === "lost" && changes.replaced > 0 && faint(replacedText(changes.replaced));
    paragraphs.push([titled(`${title}:`, [found.length > 0 && replaced, ...documents, more], "strong")]);
  }
  const moved = diff.counts.chunks.moved + diff.counts.child_chunks.moved;
  return [...paragraphs, [moved > 0 && faint(`${moved} moved; --format csv or json lists them`)]];
}

function verdictOf({ status, counts, lost, manual_edits }: RunDiff): Entry {
  const { documents, chunks, child_chunks } = counts;
  if (status === "same") {
    const reindexed = documents.reindexed > 0 ? `, ${documents.reindexed} of them re-indexed` : "";
    const notCompared = documents.not_compared > 0 ? `, ${documents.not_compared} not compared` : "";
    const rows = chunksText({ chunks: chunks.unchanged, child_chunks: child_chunks.unchanged });
    const text = `${countText(documents.same, "document")}${reindexed}${notCompared}, ${rows}`;
    return { head: "same", paint: "good", text };
  }
  const facts = (["different", "removed", "added", "not_compared"] as const)
    .filter((state) => documents[state] > 0)
    .map((state) => `${documents[state]} ${state.replace("_", " ")}`);
  const losses = lost > 0 ? `; ${lostText(lost, manual_edits)}` : "";
  const text = `of ${countText(sumOf(documents), "document")} ${facts.join(", ")}${losses}`;
  return { head: "different", paint: "bad", text };
}

function sumOf(documents: RunDiff["counts"]["documents"]): number {
  const { same, different, removed, added, not_compared } = documents;
  return same + different + removed + added + not_compared;
}

const editWords: Readonly<Record<ManualEdit, string>> = {
  edited: "edited by hand",
  added: "added by hand",
  disabled: "disabled by hand",
  customized: "made by hand",
};

/** One difference: its kind, position and ids, then the texts. */
function changeEntry(change: ChunkChange, words: boolean): Entry {
  const { kind, level, old_id, new_id, manual_edit, fields } = change;
  const what = `${kind}${kind === "fields" ? " of" : ""} ${level === "chunk" ? "chunk" : "child chunk"}`;
  return {
    text: [what, placeText(change), terminalText(new_id ?? old_id ?? "", 80)].filter(Boolean).join(" "),
    paint: kind === "added" || kind === "removed" ? colours[kind] : undefined,
    below: [
      old_id !== null && new_id !== null && old_id !== new_id && `was ${terminalText(old_id, 80)}`,
      manual_edit && { text: editWords[manual_edit], paint: "strong" },
      fields.length > 0 && `${fields.join(", ")} ${fields.length === 1 ? "differs" : "differ"}`,
      ...textParts(change, words),
    ],
  };
}

/** For a lost edit, the old and the new text; for a removed row, its text; otherwise only the beginning. */
function textParts({ text, kind, lost, old_beginning, new_beginning }: ChunkChange, words: boolean): readonly Part[] {
  if (text)
    return Object.entries(text).flatMap(([name, parts]) => (words ? [wordsOf(name, parts)] : sidesOf(name, parts)));
  const beginning = kind === "removed" ? old_beginning : new_beginning;
  if (!beginning) return [];
  if (lost) return [signed("removed", [{ text: lineOf(beginning), paint: "bad" }])];
  return [({ columns, paint }) => [paint.faint(cutToWidth(terminalText(beginning), columns))]];
}

const signs = { removed: "-", added: "+" } as const;
const colours = { same: undefined, removed: "bad", added: "good" } as const;

type Side = keyof typeof signs;

/** The old text after a `-`, and the new one after a `+`; colours the words that the other lacks. `longest`: maximum characters of each. */
export function sidesOf(
  name: string,
  parts: readonly TextPart[],
  sides: readonly Side[] = ["removed", "added"],
  longest = Number.POSITIVE_INFINITY,
): readonly Part[] {
  return [name !== "content" && faint(`${name}:`), ...sides.map((side) => signed(side, sideOf(parts, side, longest)))];
}

/** One of two texts. Parts that the other text lacks are coloured. */
function sideOf(parts: readonly TextPart[], side: Side, longest: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let left = longest;
  for (const { kind, text } of parts) {
    if (kind !== side && kind !== "same") continue;
    const line = lineOf(text);
    pieces.push({ text: cutText(line, left), paint: colours[kind] });
    left -= line.length;
    if (left < 0) break;
  }
  return pieces;
}

/** Maximum lines of text per change. */
const mostLines = 3;

/** The first lines of a text after a sign: `-` for removed, `+` for added. */
function signed(side: Side, pieces: readonly Piece[]): Part {
  return ({ paint, columns }) => {
    const lines = paintedLines(pieces, { paint, columns: columns - 2 }, mostLines);
    return lines.map((line, at) => `${at === 0 ? paint[colours[side]](signs[side]) : " "} ${line}`);
  };
}

/** `content: same [-removed-]{+added+} same` */
function wordsOf(name: string, parts: readonly TextPart[]): Part {
  const marked = markedWords(parts).map(({ kind, text }) => ({ text, paint: colours[kind] }));
  return (page) => paintedLines([{ text: `${name}: `, paint: "faint" }, ...marked], page, Number.POSITIVE_INFINITY);
}

function placeText({ old_position, new_position }: ChunkChange): string {
  if (old_position !== null && new_position !== null && old_position !== new_position)
    return `at ${old_position} → ${new_position}`;
  const position = new_position ?? old_position;
  return position === null ? "" : `at ${position}`;
}

/** Maximum parts of a text to show per change. */
const mostParts = 60;

/** The parts of a text, each on one line, with marks around differences: `[-removed-]`, `{+added+}`. */
export function markedWords(parts: readonly TextPart[]): readonly Pick<TextPart, "kind" | "text">[] {
  const more = parts.length - mostParts;
  const marked = parts.slice(0, mostParts).map(({ kind, text }) => {
    const line = lineOf(text);
    if (kind === "same") return { kind, text: line };
    return { kind, text: kind === "removed" ? `[-${line}-]` : `{+${line}+}` };
  });
  return more > 0 ? [...marked, { kind: "same", text: ` … and ${countText(more, "more piece")}` }] : marked;
}

/** A text on one line, with symbols for line feeds. */
function lineOf(text: string): string {
  return terminalText(text.replace(/\r?\n/g, "↵"), 2_000);
}

/** A piece of text and its colour. */
interface Piece {
  readonly text: string;
  readonly paint: keyof Paint | undefined;
}

/** Wraps a text of several colours. After `most` lines, it ends with an ellipsis. */
function paintedLines(pieces: readonly Piece[], { columns, paint }: Page, most: number): readonly string[] {
  const whole = pieces.map(({ text }) => text).join("");
  const lines = wrapToWidth(whole, columns);
  let start = 0;
  return lines.slice(0, most).map((line, at) => {
    start = whole.indexOf(line, start);
    const isCut = at === most - 1 && lines.length > most;
    const painted = paintLine(pieces, start, isCut ? cutToWidth(`${line}…`, columns) : line, paint);
    start += line.length;
    return painted;
  });
}

/** Colours a line that starts at offset `start` of the text. Anything beyond the text gets its last colour. */
function paintLine(pieces: readonly Piece[], start: number, line: string, paint: Paint): string {
  let from = -start;
  return pieces
    .map(({ text, paint: colour }, at) => {
      const to = at === pieces.length - 1 ? line.length : from + text.length;
      const part = line.slice(Math.max(0, from), Math.max(0, to));
      from = to;
      return part === "" ? "" : (colour ? paint[colour] : plain)(part);
    })
    .join("");
}
