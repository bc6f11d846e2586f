import { countText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { renderPaths, shortPath } from "../../cli/table.js";
import { firstOf, messageText, type Page, plain, terminalText, wrapped } from "../../cli/text.js";
import type { ChunkTexts } from "../../compare/lost/restore-plan.js";
import { diffText } from "../../compare/read-changes.js";
import type { CopyDifference } from "../../restore/copy/copy-result.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { nameAndId } from "../../words.js";
import { renderSides } from "../diff/table.js";

/** Renders a part of a plan: its name and id, and its lines below. */
export function renderPart(name: string | null, id: string, lines: readonly string[], page: Page): readonly string[] {
  const head = wrapped(nameAndId(name, terminalText(id, 80)), page, page.paint.strong);
  return [...head, ...lines.map((line) => `  ${line}`)];
}

/** A row of a plan for people. */
interface ShownRow {
  readonly title: string;
  readonly paint?: (line: string) => string;
  /** Sentences to show below the title; false is left out. */
  readonly remarks: readonly (string | false)[];
  /** The current text, and the text that replaces it or could replace it; null: none. */
  readonly now: Partial<ChunkTexts> | null;
  readonly next: Partial<ChunkTexts> | null;
}

/** Renders a row: its title and remarks, then the current text after a `-` and the new text after a `+`. */
export function rowLines({ title, paint = plain, remarks, now, next }: ShownRow, page: Page): readonly string[] {
  const indent = page.columns < 50 ? "" : "  "; // an id of 36 characters must fit beside it
  return [
    ...wrapToWidth(title, page.columns, indent).map(paint),
    ...remarks
      .flatMap((remark) => (remark ? wrapToWidth(`  ${remark}`, page.columns, `  ${indent}`) : []))
      .map(page.paint.faint),
    ...textLines("content", now, next, page),
    ...textLines("answer", now, next, page),
    ...keywordLines(now, next, page),
  ];
}

type Sides = readonly [now: Partial<ChunkTexts> | null, next: Partial<ChunkTexts> | null, page: Page];

/** Maximum characters of a text to show. */
const longest = 160;

/** Renders the old and the new text if they differ, starting shortly before the first difference. */
function textLines(part: "content" | "answer", ...[now, next, page]: Sides): readonly string[] {
  const texts = { removed: now?.[part] ?? null, added: next?.[part] ?? null };
  const parts = diffText(texts.removed, texts.added);
  const sides = (["removed", "added"] as const).filter((side) => texts[side] !== null);
  return parts?.length ? renderSides(part, parts, page, sides, longest) : [];
}

function keywordLines(...[now, next, page]: Sides): readonly string[] {
  const [old, fresh] = [wordsOf(now), wordsOf(next)];
  if (next === null || old === fresh) return [];
  return wrapToWidth(`  keywords: ${old || "none"} → ${fresh || "none"}`, page.columns, "  ");
}

function wordsOf(texts: Partial<ChunkTexts> | null): string {
  return terminalText([...(texts?.keywords ?? [])].join(", "), 300);
}

/** The name of a row in titles: `chunk at 12 8c0d1629-…`. */
export function placeOf({ level, position, id }: PositionedRow): string {
  const noun = level === "chunk" ? "chunk" : "child chunk";
  return [noun, position !== null && `at ${position}`, terminalText(id, 80)].filter(Boolean).join(" ");
}

/** A row with its position in the older run. */
interface PositionedRow {
  readonly level: "chunk" | "child_chunk";
  readonly position: number | null;
  readonly id: string;
}

/** `restored: 7 of 7; proved`. `proved`: the text for a proof without findings if rows are missing. */
export function verdictText(
  { status, differences }: { readonly status: string; readonly differences: readonly object[] | null },
  count: string,
  proved: string,
  { paint }: Page,
): string {
  if (status === "proved") return `${paint.strong(paint.good("restored"))}: ${count}; proved`;
  if (status === "different")
    return `${paint.strong(paint.bad("different"))}: ${count} restored, but the proof found ${countText(differences?.length ?? 0, "difference")}`;
  return `${paint.strong(paint.bad("partial"))}: ${count} restored; ${differences === null ? "not proved" : `proved: ${proved}`}`;
}

/** Renders the paths of the dumps and the journal of a restore or a copy, and what they contain. */
export function renderPlaces(
  { dump, journal }: { readonly dump: readonly [string | null, string]; readonly journal: string | null },
  { columns }: Page,
): readonly string[] {
  const [folder, contents] = dump;
  const places = [
    ...(folder === null ? [] : [[`${shortPath(folder)}/`, contents] as const]),
    ...(journal === null ? [] : [[shortPath(journal), "every request and its answer"] as const]),
  ];
  return places.length > 0 ? ["", ...renderPaths(places, columns)] : [];
}

/** Renders what the user must know before applying a plan. */
export function renderMustKnow(sentences: readonly string[], page: Page): readonly string[] {
  return ["", "Before you apply it:", ...sentences.flatMap((each) => wrapped(`  - ${each}`, page))];
}

/** The same command with `--apply`, which writes the plan, and with `more` flags. */
export function applyCommand(invocation: Invocation, ...more: readonly string[]): string {
  return commandText(withoutOption(unapplied(invocation), "against"), [...more, "--apply"]);
}

/** The invocation without the flags that write or change the output. */
export function unapplied(invocation: Invocation): Invocation {
  return withoutOption(withoutSwitches(invocation, ["apply", "yes", "json"]), "plan-out");
}

/** Renders a command to run next, below a title that says what it does. */
export function nextCommand(title: string, command: string, { columns }: Page): readonly string[] {
  return ["", ...wrapToWidth(title, columns), `  ${command}`];
}

/** A problem with a row, or with a whole document or dataset. */
export interface Trouble {
  /** Id of the document, or of the dataset. */
  readonly id: string;
  readonly row: PositionedRow | null;
  /** The reason as a sentence. */
  readonly reason: string;
  /** The next step, unless the reason or a command below says it. */
  readonly next?: string;
}

/** Maximum documents or datasets to show, and maximum troubles of each. */
interface MostTroubles {
  readonly documents: number;
  readonly rows: number;
}

/** Renders troubles grouped by document or dataset, in order of first appearance. `names`: their names by id. */
export function renderTroubles(
  title: string,
  troubles: readonly Trouble[],
  most: MostTroubles,
  names: ReadonlyMap<string, string | null>,
  page: Page,
): readonly string[] {
  if (troubles.length === 0) return [];
  const ids = [...new Set(troubles.map(({ id }) => id))];
  const renderOne = (id: string) => [
    ...wrapToWidth(`  ${nameAndId(names.get(id), terminalText(id, 80))}`, page.columns, "  "),
    ...firstOf(
      troubles.filter((trouble) => trouble.id === id),
      most.rows,
      (trouble) => renderTrouble(trouble, page),
      (more) => [`    … and ${countText(more, "other")}: --json lists all`],
    ),
  ];
  return [
    "",
    ...wrapToWidth(title, page.columns).map(page.paint.strong),
    ...firstOf(ids, most.documents, renderOne, (more) => [`  … and ${numberText(more)} more: --json lists all`]),
  ];
}

function renderTrouble({ row, reason, next = "" }: Trouble, { paint, columns }: Page): readonly string[] {
  const margin = row === null ? "    " : "      ";
  return [
    ...(row === null ? [] : wrapToWidth(`    ${placeOf(row)}`, columns, "    ")),
    ...wrapToWidth(`${margin}${messageText(reason, 400)}`, columns, margin),
    ...(next === "" ? [] : wrapped(`      → ${next}`, { columns }, paint.faint)),
  ];
}

const mostFound = { documents: 20, rows: 20 };

/** Renders differences between a run and a service, grouped by document and dataset. `names`: their names by id. */
export function renderDifferences(
  title: string,
  differences: readonly CopyDifference[],
  names: ReadonlyMap<string, string | null>,
  page: Page,
): readonly string[] {
  const troubles = differences.map(({ document_id, level, id, position, reason }) => {
    const row = level === "chunk" || level === "child_chunk" ? { level, id, position } : null;
    return { id: document_id ?? id, row, reason };
  });
  return renderTroubles(title, troubles, mostFound, names, page);
}
