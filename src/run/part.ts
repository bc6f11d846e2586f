import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, truncate } from "node:fs/promises";

/** What a part is, as far as it is written. */
export interface PartFacts {
  /** Name in the folder of the parts. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** One file of rows that grows at its end and knows what is in it. */
export class Part {
  readonly #path: string;
  #hash: Hash = createHash("sha256");
  #bytes = 0;
  #continued = false;
  #file: FileHandle | undefined;
  #texts: string[] = [];
  #waiting = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Characters that wait to be written. */
  get waiting(): number {
    return this.#waiting;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#waiting += text.length;
  }

  /** Writes what was added before the call. */
  async flush(): Promise<Omit<PartFacts, "file">> {
    if (this.#texts.length > 0) {
      const bytes = Buffer.from(this.#texts.join(""));
      this.#texts = [];
      this.#waiting = 0;
      this.#hash.update(bytes);
      this.#bytes += bytes.length;
      const facts = this.#facts();
      this.#file ??= await open(this.#path, this.#continued ? "a" : "w", 0o600);
      await this.#file.writeFile(bytes);
      return facts;
    }
    return this.#facts();
  }

  /** Takes a file as it was left, cut to the bytes of `facts`; false when these are not there. */
  async reopen({ bytes, sha256 }: PartFacts): Promise<boolean> {
    try {
      if (bytes > 0) for await (const piece of createReadStream(this.#path, { end: bytes - 1 })) this.#take(piece);
      if (this.#facts().sha256 !== sha256) return false;
      if (bytes > 0) await truncate(this.#path, bytes);
      this.#continued = bytes > 0;
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#texts = [];
    this.#waiting = 0;
    await file?.close();
  }

  #take(piece: Buffer): void {
    this.#hash.update(piece);
    this.#bytes += piece.length;
  }

  #facts(): Omit<PartFacts, "file"> {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest("hex") };
  }
}
