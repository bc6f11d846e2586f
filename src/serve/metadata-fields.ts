import type { MetadataField } from "../demo/knowledge.js";
import { splitLines } from "../dump/files/split-lines.js";
import { recordFromRow } from "../rows/record-from-row.js";
import type { RowFile } from "./row-file.js";
import { rowOfLine } from "./row-of-line.js";

/** The metadata fields of every dataset of a dump; they are few. */
export class MetadataFields {
  readonly #fields = new Map<string, MetadataField[]>();

  /** Reads `metadata_fields` once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(file: RowFile, bytes: AsyncIterable<Buffer>): Promise<MetadataFields> {
    const fields = new MetadataFields();
    for await (const lines of splitLines(bytes)) {
      for (const line of lines) {
        file.add(line.length);
        fields.#add(rowOfLine(line, file.name, file.rows));
      }
    }
    return fields;
  }

  /** In their order; undefined for a dataset of which the dump has none. */
  of(dataset: string): readonly MetadataField[] | undefined {
    return this.#fields.get(dataset);
  }

  #add(row: Readonly<Record<string, unknown>>): void {
    const dataset = String(row.dataset_id);
    const fields = this.#fields.get(dataset) ?? [];
    this.#fields.set(dataset, fields);
    const { name, type } = recordFromRow("metadata_fields", row);
    fields.push({ name, type });
  }
}
