import { createRequire } from "node:module";
import type stringWidth from "string-width";

const require = createRequire(import.meta.url);
let library: typeof stringWidth | undefined;
let segmenter: Intl.Segmenter | undefined;

/** ASCII, and the signs of our own texts: most of what is printed, and measured a hundred times as fast. */
const narrow = /^[ -~·–…→━╌]*$/;

/** Columns that a text takes on a terminal: two for a Chinese character, none for a mark that combines. Colours take none. */
export function widthOf(text: string): number {
  if (narrow.test(text)) return text.length;
  library ??= loadLibrary();
  return library(text);
}

/** Waits for the first text that needs it: its regular expressions take 30 ms to compile. */
function loadLibrary(): typeof stringWidth {
  const loaded: { default: typeof stringWidth } = require("string-width");
  return loaded.default;
}

/** The characters of a text, as people count them. */
function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** The text if it fits in so many columns, else as much of it as leaves room for an ellipsis. It must have no colours yet. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let room = columns - 1;
  let end = 0;
  for (const { segment, index } of charactersOf(text)) {
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

/**
 * The lines that a sentence takes in so many columns; those after the first begin with the indent. An id or a path stays in
 * one piece, even where it is wider, so that it can be copied; text of other scripts can be parted anywhere.
 */
export function wrapToWidth(text: string, columns: number, indent = ""): readonly string[] {
  if (widthOf(text) <= columns) return [text];
  const [margin = ""] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = margin;
  let isEmpty = true;
  for (const word of text
    .slice(margin.length)
    .split(" ")
    .flatMap((each) => piecesOf(each, columns - widthOf(indent)))) {
    if (!isEmpty && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line);
      [line, isEmpty] = [indent, true];
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

/** A word in pieces that fit, where it is not of letters that must stay together. */
function piecesOf(word: string, columns: number): readonly string[] {
  if (/^[\x20-\x7e]*$/.test(word) || widthOf(word) <= columns) return [word];
  const pieces: string[] = [""];
  for (const { segment } of charactersOf(word)) {
    const last = pieces.at(-1) ?? "";
    if (widthOf(last) + widthOf(segment) > Math.max(2, columns)) pieces.push(segment);
    else pieces[pieces.length - 1] = last + segment;
  }
  return pieces;
}
