/** The placeholder for an id, which is filled in for each row. */
export const idMark = "????????-????-????-????-????????????";

/** The placeholder for a position. It has the same number of digits as every position, and occurs in no row. */
export const positionMark = 7_654_321;
const leastPosition = 1_000_000;

/** The JSON of a row with holes for ids and a position, which differ between rows but always have the same length. */
export class Template {
  readonly #bytes: Buffer;
  readonly #ids: readonly number[];
  readonly #positions: readonly number[];

  /** `text` has a placeholder at each hole, and nowhere else. */
  constructor(text: string) {
    this.#bytes = Buffer.from(text);
    this.#ids = this.#placesOf(idMark);
    this.#positions = this.#placesOf(String(positionMark));
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Writes the row to `target`, starting at `start`. `idOf` returns the id for each hole; `rank` counts from 0. */
  writeTo(target: Buffer, start: number, idOf: (hole: number) => string, rank: number): void {
    this.#bytes.copy(target, start);
    for (const [hole, at] of this.#ids.entries()) target.write(idOf(hole), start + at, "latin1");
    for (const at of this.#positions) target.write(String(leastPosition + rank), start + at, "latin1");
  }

  #placesOf(text: string): readonly number[] {
    const places: number[] = [];
    for (let at = this.#bytes.indexOf(text); at >= 0; at = this.#bytes.indexOf(text, at + 1)) places.push(at);
    return places;
  }
}

/** A template, and the values to fill in. */
export interface FilledRow {
  readonly template: Template;
  readonly idOf: (hole: number) => string;
  /** Index of the row in its list, from 0. */
  readonly rank: number;
}

/** Builds an answer: `head`, the rows separated by commas, and `tail`. */
export function answerOf(head: string, rows: readonly FilledRow[], tail: string): Buffer {
  const length = rows.reduce((sum, { template }) => sum + template.length + 1, 0) - (rows.length > 0 ? 1 : 0);
  const bytes = Buffer.allocUnsafe(head.length + length + tail.length);
  let at = bytes.write(head, "latin1");
  for (const [index, { template, idOf, rank }] of rows.entries()) {
    if (index > 0) at += bytes.write(",", at, "latin1");
    template.writeTo(bytes, at, idOf, rank);
    at += template.length;
  }
  bytes.write(tail, at, "latin1");
  return bytes;
}
