import { countText } from "../amounts.js";
import { widthOf, wrapToWidth } from "./display-width.js";
import { type Column, renderTable } from "./table.js";
import { type Page, type Paint, plain } from "./text.js";

/** A part of a text for people: a sentence, an entry, or a function that lays out its own lines. Falsy parts print nothing. */
export type Part = string | Entry | ((page: Page) => readonly string[]) | false | null | undefined;

/** A sentence, and parts below it. */
export interface Entry {
  /** A bold word before the sentence: `restored: 7 of 7`. Only this word is painted then. */
  readonly head?: string;
  readonly text: string;
  readonly paint?: keyof Paint | undefined;
  /** Parts below the sentence, indented by two columns. */
  readonly below?: readonly Part[];
}

export type Paragraphs = readonly (readonly Part[])[];

/** Renders paragraphs, with an empty line between them. Leaves out empty ones. */
export function renderParagraphs(paragraphs: Paragraphs, page: Page): string {
  return paragraphs
    .map((parts) => layOut(parts, page))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** The width of `(<UUID>)`, which is never wrapped. A line that is too wide because of it gets less indent; a narrow page has no indent. */
const widest = 38;
/** A sentence gets at least this many columns, however deep it is. */
const leastWrap = 24;

function layOut(parts: readonly Part[], page: Page, depth = 0): readonly string[] {
  const step = page.columns < widest + 2 ? "" : "  ";
  const margin = step.repeat(depth);
  const columns = Math.max(Math.min(leastWrap, page.columns), page.columns - margin.length);
  return parts.flatMap((part) => {
    if (!part) return [];
    if (typeof part === "function") return part({ ...page, columns }).map((line) => `${margin}${line}`);
    const { head, text, paint, below = [] } = typeof part === "string" ? { text: part } : part;
    const painted = paint ? page.paint[paint] : plain;
    const line = head === undefined ? text : `${page.paint.strong(painted(head))}: ${text}`;
    const lines = wrapToWidth(line, columns, `${/^ */.exec(line)}${step}`).map((each) => {
      const room = Math.max(0, page.columns - widthOf(each));
      return `${margin.slice(0, room)}${head === undefined ? painted(each) : each}`;
    });
    return [...lines, ...layOut(below, page, depth + 1)];
  });
}

/** A side remark. */
export function faint(text: string | false): Part {
  return text && { text, paint: "faint" };
}

/** A title with parts below it; nothing without parts. */
export function titled(text: string, below: readonly Part[], paint?: keyof Paint): Part {
  return below.some(Boolean) && { text, below, paint };
}

/** The first `most` items, and a line that counts the others and says `where` they are. */
export function firstOf<Item>(
  items: readonly Item[],
  most: number,
  partOf: (item: Item) => Part,
  noun = "other",
  where = ": --json lists all",
): readonly Part[] {
  const more = items.length - most;
  const rest = faint(more > 0 && `… and ${countText(more, noun)}${where}`);
  return [...items.slice(0, most).map((item) => partOf(item)), rest];
}

/** A table of the first `most` rows, and a line that counts the others. */
export function firstRows<Row>(
  rows: readonly Row[],
  most: number,
  columns: readonly Column<Row>[],
  noun?: string,
  paintOf?: (row: Row) => keyof Paint | undefined,
): readonly Part[] {
  const table = (page: Page) => renderTable(rows.slice(0, most), columns, page, paintOf);
  return [rows.length > 0 && table, ...firstOf(rows, most, () => false, noun)];
}

/** Commands to run next below a sentence that says what they do. They are never wrapped, so that they can be copied. */
export function commandsBelow(text: string, ...commands: readonly string[]): Entry {
  return { text, below: [() => commands] };
}
