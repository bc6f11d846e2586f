import type { Details } from "../demo/knowledge.js";
import { splitLines } from "../dump/files/split-lines.js";
import { documentKey } from "../rows/document-row.js";
import { recordsOfRows } from "./dump-rows.js";
import type { RowFile } from "./row-file.js";
import { rowOfLine } from "./row-of-line.js";

/** The rows of `datasets` or `document_details`, each found by its ids. */
export class DetailRows {
  readonly #file: RowFile;
  readonly #kind: "datasets" | "document_details";
  readonly #rows = new Map<string, number>();

  private constructor(file: RowFile, kind: "datasets" | "document_details") {
    this.#file = file;
    this.#kind = kind;
  }

  /** Reads a file once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(
    file: RowFile,
    bytes: AsyncIterable<Buffer>,
    kind: "datasets" | "document_details",
  ): Promise<DetailRows> {
    const details = new DetailRows(file, kind);
    for await (const lines of splitLines(bytes)) {
      for (const line of lines) {
        const row = file.rows;
        file.add(line.length);
        details.#rows.set(documentKey(rowOfLine(line, file.name, row + 1)), row);
      }
    }
    return details;
  }

  /** As the service sent it; undefined where the run could not read it. */
  async of(ids: { readonly dataset_id: string; readonly document_id?: string }): Promise<Details | undefined> {
    const row = this.#rows.get(documentKey(ids));
    return row === undefined ? undefined : (await recordsOfRows(this.#file, this.#kind, [row]))[0];
  }
}
