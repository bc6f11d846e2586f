/** The sum of some answers. */
export interface RowBytes {
  readonly answers: number;
  /** Rows in their bodies, and the bytes of these as received, where the service says how many. */
  readonly rows: number;
  readonly bytes: number;
}

/** Adds answers up. */
export class AnswerSum implements RowBytes {
  answers = 0;
  rows = 0;
  bytes = 0;

  add({ answers, rows, bytes }: RowBytes): void {
    this.answers += answers;
    this.rows += rows;
    this.bytes += bytes;
  }
}

/** The answers about one document: pages of chunks, each once however often it was asked; chunks alone or a few; child lists. */
export class DocumentBytes {
  readonly pages = new AnswerSum();
  readonly alone = new AnswerSum();
  readonly lists = new AnswerSum();
  readonly #seen = new Set<number>();

  addPage(page: number, answer: RowBytes): void {
    if (this.#seen.has(page)) return;
    this.#seen.add(page);
    this.pages.add(answer);
  }
}
