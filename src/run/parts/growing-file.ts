import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;

/** A file that only grows at its end, by everything that waits at once. Nobody else writes to it. */
export class GrowingFile {
  readonly #file: FileHandle;
  #end: number;
  #waiting: Uint8Array[] = [];

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** Goes on behind whatever is there; makes the file where there is none. A symlink is not followed. */
  static async open(path: string): Promise<GrowingFile> {
    const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      return new GrowingFile(file, (await file.stat()).size);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Keeps bytes to be written; gives the byte of the file at which they are going to begin. */
  add(bytes: Uint8Array): number {
    const start = this.#end;
    this.#waiting.push(bytes);
    this.#end += bytes.length;
    return start;
  }

  /** Writes what waits. After an error nobody knows where the file ends: it must not be written to any more. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    await this.#file.writeFile(bytes);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
