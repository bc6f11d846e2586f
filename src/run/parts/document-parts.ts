import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { PartFile } from "../../dump/files/join-parts.js";
import type { TextFormat } from "../../dump/formats/format.js";
import type { Kind } from "../../rows/columns.js";
import type { Row } from "../../rows/row.js";
import { Part, type PartFacts } from "./part.js";
import { partName, partPlace } from "./part-names.js";

/** The files that the rows of one document go to, in every text format. A file is made when its first rows are written. */
export class DocumentParts {
  readonly #folder: string;
  readonly #name: string;
  readonly #formats: readonly TextFormat[];
  readonly #parts = new Map<string, Part>();

  /** `name` is unique in the folder. */
  constructor(folder: string, name: string, formats: readonly TextFormat[]) {
    this.#folder = folder;
    this.#name = name;
    this.#formats = formats;
  }

  /**
   * Goes on where an earlier process stopped: what lies behind the given facts is cut off. False when the files are not
   * as the facts say, which a power cut can bring about; the document has to be read anew then.
   */
  async reopen(facts: readonly PartFacts[]): Promise<boolean> {
    for (const fact of facts) {
      const part = new Part(join(this.#folder, fact.file));
      this.#parts.set(fact.file, part);
      if (!(await part.reopen(fact))) return false;
    }
    return true;
  }

  /** Keeps rows to be written; `flush` writes them. */
  add(kind: Kind, rows: readonly Row[]): void {
    if (rows.length === 0) return;
    for (const text of this.#formats) this.addTexts(partName(this.#name, kind, text.format), text.texts(kind, rows));
  }

  /** Keeps texts to be written to the part of this name. */
  addTexts(file: string, texts: readonly string[]): void {
    const part = this.#parts.get(file) ?? new Part(join(this.#folder, file));
    this.#parts.set(file, part);
    part.add(texts);
  }

  /** Whether there is a file of this name. */
  has(file: string): boolean {
    return this.#parts.has(file);
  }

  /** Characters that wait to be written. */
  get waiting(): number {
    let sum = 0;
    for (const part of this.#parts.values()) sum += part.waiting;
    return sum;
  }

  /** Takes all texts back, by file, if none of them was written; else undefined, and nothing is taken. */
  takeTexts(): ReadonlyMap<string, readonly string[]> | undefined {
    const parts = [...this.#parts];
    if (parts.some(([, part]) => part.isWritten)) return undefined;
    return new Map(parts.map(([file, part]) => [file, part.takeTexts()]));
  }

  /** Writes everything added so far, and gives what the files then are. */
  async flush(): Promise<readonly PartFacts[]> {
    const writes = [...this.#parts].map(async ([file, part]) => {
      const { bytes, sha256 } = await part.flush();
      return { file, bytes, sha256 };
    });
    return Promise.all(writes);
  }

  /** The files as far as they are written; there is none where there are no rows. */
  get files(): readonly PartFile[] {
    return [...this.#parts].map(([file, part]) => ({ ...partPlace(this.#folder, file), ...part.facts }));
  }

  async close(): Promise<void> {
    for (const part of this.#parts.values()) await part.close();
  }

  /** Removes one file, if there is one of this name. */
  async remove(file: string): Promise<void> {
    const part = this.#parts.get(file);
    if (!part) return;
    await part.close();
    this.#parts.delete(file);
    await rm(join(this.#folder, file), { force: true });
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.close();
    for (const file of this.#parts.keys()) await rm(join(this.#folder, file), { force: true });
    this.#parts.clear();
  }
}
