import { cutToWidth, wrapToWidth } from "./display-width.js";

/** A piece of a text and its colour. */
export interface Piece {
  readonly text: string;
  readonly paint: (text: string) => string;
}

export const plain = (text: string) => text;

/** Wraps a text of several colours. Of more lines than `most`, the last one that is shown ends with an ellipsis. */
export function paintedLines(pieces: readonly Piece[], columns: number, most: number): readonly string[] {
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

/** Paints a line that begins at `start` of the text; what stands beyond it has the colour of its end. */
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
