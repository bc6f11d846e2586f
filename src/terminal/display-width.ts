import stringWidth from "string-width";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Columns that a text takes on a terminal: two for a Chinese character, none for a mark that combines. Colours take none. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** The text if it fits in so many columns, else as much of it as leaves room for an ellipsis. It must have no colours yet. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let room = columns - 1;
  let end = 0;
  for (const { segment, index } of segmenter.segment(text)) {
    room -= widthOf(segment);
    if (room < 0) break;
    end = index + segment.length;
  }
  return columns < 1 ? "" : `${text.slice(0, end).trimEnd()}…`;
}

/** The text with blanks behind it, up to so many columns. */
export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** The text with blanks before it, up to so many columns. */
export function padStart(text: string, columns: number): string {
  return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}
