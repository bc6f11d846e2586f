import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Format } from "../job/job.js";
import type { Kind } from "../normalise/columns.js";
import type { Row } from "../normalise/row-from-record.js";
import type { TextFormat } from "../sinks/sink.js";

/** Text of a part that is kept back before it is written, in characters. */
const flushAt = 262_144;

/** The path of one part: the rows of one kind, of one document, in one text format. */
export function partPath(folder: string, name: string, kind: Kind, format: Format): string {
  return join(folder, `${name}.${kind}.${format}`);
}

/** The files that the rows of one document go to, in every text format. A file is made when its first row comes. */
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

  async write(kind: Kind, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    for (const text of this.#formats) {
      const path = partPath(this.#folder, this.#name, kind, text.format);
      const part = this.#parts.get(path) ?? new Part(path);
      this.#parts.set(path, part);
      await part.write(text.rows(kind, rows));
    }
  }

  async close(): Promise<void> {
    for (const part of this.#parts.values()) await part.close();
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    for (const [path, part] of this.#parts) {
      await part.abandon();
      await rm(path, { force: true });
    }
    this.#parts.clear();
  }
}

class Part {
  readonly #path: string;
  #file: FileHandle | undefined;
  #text: string[] = [];
  #length = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async write(text: string): Promise<void> {
    this.#text.push(text);
    this.#length += text.length;
    if (this.#length >= flushAt) await this.#flush();
  }

  async close(): Promise<void> {
    await this.#flush();
    await this.abandon();
  }

  async abandon(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    this.#text = [];
  }

  async #flush(): Promise<void> {
    const text = this.#text.join("");
    this.#text = [];
    this.#length = 0;
    this.#file ??= await open(this.#path, "w", 0o600);
    await this.#file.writeFile(text);
  }
}
