import { countText, lostText, replacedText } from "../../amounts.js";
import { cutToWidth, wrapToWidth } from "../../cli/display-width.js";
import { layOutTable } from "../../cli/table.js";
import { type Page, type Paint, plain, terminalText, wrapped } from "../../cli/text.js";
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

interface DiffTableOptions extends DiffPage {
  /** Whether to show only documents, without chunks. Then every document that differs is shown. */
  readonly documentsOnly: boolean;
}

/** Maximum documents to show if chunks follow. */
const mostDocuments = 100;

const columns = ["added", "removed", "changed", "moved", "fields", "unchanged"] as const;
const heads = ["document", "added", "removed", "changed", "moved", "fields", "same"];

const right = { right: true };
const tableColumns = [{ id: true }, right, right, right, right, right, { right: true, drop: 1 }];

/** Renders the differences between two runs for people: documents with counts, then chunks, lost ones first. */
export async function renderDiff(diff: RunDiff, changes: Changes, options: DiffTableOptions): Promise<string> {
  const sections = options.documentsOnly ? [] : await renderSections(diff, changes, options);
  const verdict = wrapped(renderVerdict(diff, options.paint), options);
  return [...renderDocuments(diff, options), ...sections, ...verdict].join("\n");
}

function renderDocuments({ documents, counts }: RunDiff, options: DiffTableOptions): string[] {
  const { paint, columns: width, documentsOnly } = options;
  const others = documents.filter(({ state }) => state !== "same");
  if (others.length === 0) return [];
  const shown = documentsOnly ? others : others.slice(0, mostDocuments);
  const more = others.length - shown.length;
  const totals = [["all chunks", ...cellsOf(counts.chunks)]];
  if (hasRows(counts.child_chunks)) totals.push(["all child chunks", ...cellsOf(counts.child_chunks)]);
  const rows = [
    heads,
    ...shown.flatMap(rowsOf),
    ...(more > 0 ? [[`… and ${countText(more, "more document")}; --only document shows all`]] : []),
    ...(counts.documents.same > 0 ? [[`${countText(counts.documents.same, "document")} without a difference`]] : []),
    ...totals,
  ];
  const isCount = (at: number) => at > 0 && rows[at]?.length !== 1;
  const lines = layOutTable(rows, { columns: tableColumns, width, gap: 1 });
  return [...lines.flatMap((row, at) => (isCount(at) ? row : row.map(paint.faint))), ""];
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

const margin = "    ";

async function renderSections(diff: RunDiff, changes: Changes, options: DiffTableOptions): Promise<readonly string[]> {
  const lines: string[] = [];
  const names = new Map(diff.documents.map(({ document_id, document_name }) => [document_id, document_name]));
  const nameOf = ({ document_id: id }: ChunkChange) => nameAndId(names.get(id), terminalText(id, 80));
  const faint = (text: string) => wrapped(text, options, options.paint.faint);
  for (const { selection, most, title } of sections) {
    const found = await changes.first(selection, most + 1);
    if (found.length === 0) continue;
    lines.push(options.paint.strong(`${title}:`));
    if (selection === "lost" && changes.replaced > 0) lines.push(...faint(`  ${replacedText(changes.replaced)}`));
    let document: string | undefined;
    for (const change of found.slice(0, most)) {
      if (change.document_id !== document)
        lines.push(...wrapToWidth(`  document ${nameOf(change)}`, options.columns, "  "));
      document = change.document_id;
      const inner = { ...options, columns: options.columns - margin.length };
      lines.push(...renderChange(change, inner).map((line) => margin + line));
    }
    if (found.length > most) lines.push(...faint("  … and more; --format csv or json has all of them"));
    lines.push("");
  }
  const moved = diff.counts.chunks.moved + diff.counts.child_chunks.moved;
  if (moved > 0) lines.push(...faint(`${moved} moved; --format csv or json lists them`), "");
  return lines;
}

function renderVerdict({ status, counts, lost, manual_edits }: RunDiff, paint: Paint): string {
  const { documents, chunks, child_chunks } = counts;
  if (status === "same") {
    const notCompared = documents.not_compared > 0 ? `, ${documents.not_compared} not compared` : "";
    const reindexed = documents.reindexed > 0 ? `, ${documents.reindexed} of them re-indexed` : "";
    return `${paint.strong(paint.good("same"))}: ${countText(documents.same, "document")}${reindexed}${notCompared}, ${countText(chunks.unchanged, "chunk")}, ${countText(child_chunks.unchanged, "child chunk")}`;
  }
  const facts = (["different", "removed", "added", "not_compared"] as const)
    .filter((state) => documents[state] > 0)
    .map((state) => `${documents[state]} ${state.replace("_", " ")}`);
  return `${paint.strong(paint.bad("different"))}: of ${countText(sumOf(documents), "document")} ${facts.join(", ")}${lost > 0 ? `; ${lostText(lost, manual_edits)}` : ""}`;
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

/** The page, and whether it shows word differences for everything that changed. */
interface DiffPage extends Page {
  readonly words: boolean;
}

/** One difference for people: its kind, position and ids, then the texts. */
function renderChange(change: ChunkChange, page: DiffPage): readonly string[] {
  const { paint, columns } = page;
  const id = change.new_id ?? change.old_id ?? "";
  const what = change.level === "chunk" ? "chunk" : "child chunk";
  const words = [
    `${change.kind}${change.kind === "fields" ? " of" : ""} ${what}`,
    placeText(change),
    terminalText(id, 80),
  ];
  const editLine = change.manual_edit && editWords[change.manual_edit];
  const was = change.old_id !== null && change.new_id !== null && change.old_id !== change.new_id;
  const wrapped = (text: string, painted: (line: string) => string = plain) =>
    wrapToWidth(text, columns, columns < 50 ? "" : "  ").map(painted);
  const paintKind = change.kind === "added" ? paint.good : change.kind === "removed" ? paint.bad : plain;
  return [
    ...wrapped(words.filter(Boolean).join(" "), paintKind),
    ...(was ? wrapped(`  was ${terminalText(change.old_id ?? "", 80)}`) : []),
    ...(editLine ? wrapped(`  ${editLine}`, paint.strong) : []),
    ...(change.fields.length > 0
      ? wrapped(`  ${change.fields.join(", ")} ${change.fields.length === 1 ? "differs" : "differ"}`)
      : []),
    ...renderTexts(change, page),
  ];
}

/** For a lost edit, the old and the new text; for a removed row, its text; otherwise only the beginning. */
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

const signs = { removed: "-", added: "+" } as const;
const bothSides = ["removed", "added"] as const;

/**
 * Renders the old text after a `-`, and the new one after a `+`; colours the words that the other one lacks. `longest`: maximum
 * characters of each.
 */
export function renderSides(
  name: string,
  parts: readonly TextPart[],
  { paint, columns }: Page,
  sides: readonly (typeof bothSides)[number][] = bothSides,
  longest = Number.POSITIVE_INFINITY,
): readonly string[] {
  const colours = { removed: paint.bad, added: paint.good };
  return [
    ...(name === "content" ? [] : [paint.faint(`  ${name}:`)]),
    ...sides.flatMap((side) =>
      signedLines(signs[side], sideOf(parts, side, colours[side], longest), { paint, columns }),
    ),
  ];
}

/** One of two texts. Parts that the other text lacks are coloured. */
function sideOf(
  parts: readonly TextPart[],
  own: TextPart["kind"],
  paint: Piece["paint"],
  longest: number,
): readonly Piece[] {
  const pieces: Piece[] = [];
  let left = longest;
  for (const { kind, text } of parts) {
    if (kind !== own && kind !== "same") continue;
    const line = lineOf(text);
    pieces.push({ text: cutText(line, left), paint: kind === own ? paint : plain });
    left -= line.length;
    if (left < 0) break;
  }
  return pieces;
}

/** Maximum lines of text per change. */
const mostLines = 3;

/** The first lines of a text after a sign: `-` for removed, `+` for added. */
function signedLines(sign: "-" | "+", pieces: readonly Piece[], { paint, columns }: Page): readonly string[] {
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
  readonly paint: (text: string) => string;
}

/** Wraps a text of several colours. After `most` lines, it ends with an ellipsis. */
function paintedLines(pieces: readonly Piece[], columns: number, most: number): readonly string[] {
  const whole = pieces.map(({ text }) => text).join("");
  const lines = wrapToWidth(whole, columns);
  let start = 0;
  return lines.slice(0, most).map((line, at) => {
    start = whole.indexOf(line, start);
    const isCut = at === most - 1 && lines.length > most;
    const painted = paintLine(pieces, start, isCut ? cutToWidth(`${line}…`, columns) : line);
    start += line.length;
    return painted;
  });
}

/** Colours a line that starts at offset `start` of the text. Anything beyond the text gets its last colour. */
function paintLine(pieces: readonly Piece[], start: number, line: string): string {
  let from = -start;
  return pieces
    .map(({ text, paint }, at) => {
      const to = at === pieces.length - 1 ? line.length : from + text.length;
      const part = line.slice(Math.max(0, from), Math.max(0, to));
      from = to;
      return part === "" ? "" : paint(part);
    })
    .join("");
}
