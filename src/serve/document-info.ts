import { shownStatus } from "../demo/display-status.js";
import { splitLines } from "../dump/files/split-lines.js";
import { documentKey } from "../rows/document-row.js";
import { MetadataInUse } from "./metadata-in-use.js";
import type { RowFile } from "./row-file.js";
import { rowOfLine } from "./row-of-line.js";

/** A document as the service listed it: the place of its row, its name, and the status that it showed. */
export interface InfoPlace {
  readonly row: number;
  readonly name: unknown;
  readonly status: string | null;
}

/** The documents as the service listed them, from the dump of a run that asked for the list. */
export class DocumentInfo {
  readonly file: RowFile;
  readonly metadata = new MetadataInUse();
  readonly #places = new Map<string, InfoPlace>();

  private constructor(file: RowFile) {
    this.file = file;
  }

  /** Reads `document_info` once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(file: RowFile, bytes: AsyncIterable<Buffer>): Promise<DocumentInfo> {
    const info = new DocumentInfo(file);
    for await (const lines of splitLines(bytes)) for (const line of lines) info.#add(line);
    return info;
  }

  /** Undefined for a document that the job named by its id. */
  of(document: { readonly dataset_id: string; readonly document_id: string }): InfoPlace | undefined {
    return this.#places.get(documentKey(document));
  }

  #add(line: Buffer): void {
    const row = this.file.rows;
    this.file.add(line.length);
    const { dataset_id, document_id, extra, ...listed } = rowOfLine(line, this.file.name, row + 1);
    this.#places.set(documentKey({ dataset_id, document_id }), { row, name: listed.name, status: shownStatus(listed) });
    this.metadata.add(dataset_id, extra);
  }
}
