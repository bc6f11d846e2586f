import { splitLines } from "../dump/files/split-lines.js";
import type { RowFile } from "./row-file.js";
import { rowOfLine } from "./row-of-line.js";

/** The newest reading of each document: its row, and when it was made. */
type Readings = Map<string, { readonly row: number; readonly at: number }>;

/** The place of the newest reading of every document of a batch, by dataset and batch. */
export class StatusReadings {
  readonly file: RowFile;
  readonly #batches = new Map<string, Readings>();

  private constructor(file: RowFile) {
    this.file = file;
  }

  /** Reads `indexing_status` once. StopError, naming the row, where it is not as a run leaves it. */
  static async make(file: RowFile, bytes: AsyncIterable<Buffer>): Promise<StatusReadings> {
    const readings = new StatusReadings(file);
    for await (const lines of splitLines(bytes)) for (const line of lines) readings.#add(line);
    return readings;
  }

  /** The rows of the newest readings, in the order of the dump; undefined for a batch that was not read. */
  rowsOf(dataset: string, batch: string): readonly number[] | undefined {
    const readings = this.#batches.get(JSON.stringify([dataset, batch]));
    return readings && [...readings.values()].map(({ row }) => row).sort((a, b) => a - b);
  }

  #add(line: Buffer): void {
    const row = this.file.rows;
    this.file.add(line.length);
    const { dataset_id, batch, document_id, captured_at } = rowOfLine(line, this.file.name, row + 1);
    const name = JSON.stringify([dataset_id, batch]);
    const readings: Readings = this.#batches.get(name) ?? new Map();
    this.#batches.set(name, readings);
    const [document, at] = [String(document_id), Date.parse(String(captured_at)) || 0];
    const earlier = readings.get(document);
    if (!earlier || earlier.at <= at) readings.set(document, { row, at });
  }
}
