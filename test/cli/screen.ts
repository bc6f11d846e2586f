import { widthOf } from "../../src/cli/display-width.js";

interface Cell {
  readonly sign: string;
  readonly width: number;
}

/** A line as written; the screen wraps it over as many rows as it needs. */
type Line = Cell[];

const tokens = /␛\[\??([\d;]*)([A-Za-z])|\r|\n|[^␛\r\n]/gu;

/**
 * A terminal that supports what the view uses: newline, return, up, home, clearing, and wrapping on and off. Like most
 * modern terminals, a resize rewraps long lines and keeps the cursor at its place in the text.
 */
export class Screen {
  readonly #lines: Line[] = [[]];
  #row = 0;
  /** The number of cells between the start of the line and the cursor. */
  #at = 0;
  #wraps = true;
  columns: number;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): void {
    for (const [token, argument = "", command] of text.replaceAll("\x1b", "␛").matchAll(tokens)) {
      if (token === "\r") this.#at = this.#startOfRow();
      else if (token === "\n") this.#newline();
      else if (command === "A") for (let n = Number(argument || 1); n > 0; n--) this.#up();
      else if (command === "J" && argument === "2") this.#lines.splice(0, this.#lines.length, []);
      else if (command === "H") [this.#row, this.#at] = [0, 0];
      else if (command === "J") this.#clearBelow();
      else if (argument === "7") this.#wraps = command === "h";
      else if (command === undefined) this.#put(token);
    }
  }

  /** The text as written, without empty lines at the end. */
  get lines(): readonly string[] {
    return textsOf(this.#lines);
  }

  /** The rows that the text fills at the current width. */
  get rows(): readonly string[] {
    return textsOf(this.#lines.flatMap((line) => this.#rowsOf(line)));
  }

  #rowsOf(line: Line): readonly Line[] {
    const rows: Line[] = [[]];
    let room = this.columns;
    for (const cell of line) {
      if (cell.width > room) {
        rows.push([]);
        room = this.columns;
      }
      rows.at(-1)?.push(cell);
      room -= cell.width;
    }
    return rows;
  }

  /** The index of the first cell in the cursor's row, at the current width. */
  #startOfRow(): number {
    let start = 0;
    for (const { length } of this.#rowsOf(this.#lines[this.#row] ?? [])) {
      if (this.#at < start + length) return start;
      start += length;
    }
    return Math.max(0, start - (this.#rowsOf(this.#lines[this.#row] ?? []).at(-1)?.length ?? 0)); // the cursor is after the last cell
  }

  #newline(): void {
    this.#row++;
    this.#at = 0;
    if (this.#row >= this.#lines.length) this.#lines.push([]);
  }

  #up(): void {
    const start = this.#startOfRow();
    if (start > 0) this.#at = Math.max(0, start - 1);
    else if (this.#row > 0) {
      this.#row--;
      this.#at = Math.max(0, (this.#lines[this.#row]?.length ?? 0) - 1);
    }
    this.#at = this.#startOfRow();
  }

  #clearBelow(): void {
    this.#lines[this.#row]?.splice(this.#at);
    this.#lines.splice(this.#row + 1);
  }

  #put(sign: string): void {
    const line = this.#lines[this.#row];
    const width = widthOf(sign);
    if (!line) return;
    const before = line.slice(0, this.#at).reduce((sum, cell) => sum + cell.width, 0);
    const isFull = before + width > this.columns;
    if (isFull && !this.#wraps) this.#at = Math.max(0, this.#at - 1);
    line[this.#at] = { sign, width };
    this.#at++;
  }
}

function textsOf(lines: readonly Line[]): readonly string[] {
  const texts = lines.map((line) => line.map(({ sign }) => sign).join(""));
  while (texts.at(-1)?.trimEnd() === "") texts.pop();
  return texts;
}
