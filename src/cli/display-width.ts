import { createRequire } from "node:module";
import type stringWidth from "string-width";

const require = createRequire(import.meta.url);
let library: typeof stringWidth | undefined;
let segmenter: Intl.Segmenter | undefined;

/**
 * Matches text in which every character is one column wide: ASCII and our own symbols. The width is then the length, and the
 * library, which takes a hundred times as long, is not needed.
 */
const narrow = /^[ -~·–…→━╌]*$/;

/** Terminal columns of a text: two for a Chinese character, none for a combining mark or a colour code. */
export function widthOf(text: string): number {
  if (narrow.test(text)) return text.length;
  library ??= loadLibrary();
  return library(text);
}

/** Loads the library for the first text that needs it, because its regular expressions take 30 ms to compile. */
function loadLibrary(): typeof stringWidth {
  const loaded: { default: typeof stringWidth } = require("string-width");
  return loaded.default;
}

/** The characters of a text, as users count them. */
function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Truncates a text to this many columns, with an ellipsis if needed. The text must not contain colours yet. */
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

/** Pads a text on the right to this many columns. */
export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** Pads a text on the left to this many columns. */
export function padStart(text: string, columns: number): string {
  return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}

/**
 * Wraps a sentence to this many columns, with an indent on all lines but the first. Ids and paths stay in one piece even if they
 * are too wide, so that they can be copied. Text in other scripts can be split anywhere.
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

/** Splits a long word into pieces that fit, unless its letters must stay together. */
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
