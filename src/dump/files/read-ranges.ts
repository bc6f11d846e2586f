import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Bytes that are read ahead of a range, as the next one of the same file mostly follows it. */
const ahead = 65_536;
/** Files that stay open. */
const most = 256;

/** Bytes of a file. */
interface Range {
  readonly path: string;
  readonly start: number;
  readonly bytes: number;
}

/** A file that is open, and the bytes of it that were read last. */
interface OpenFile {
  readonly file: FileHandle;
  readonly buffer: Buffer;
  start: number;
  bytes: number;
}

/** Reads ranges of several files in turn, such as those of documents, with few calls of the disk where ranges of one file follow each other. */
export class RangeReader {
  /** The one that was used last comes last. */
  readonly #files = new Map<string, OpenFile>();

  /** Gives the bytes of a range, piece by piece; a piece is valid until the next one. Rejects where the file ends before. */
  async *pieces({ path, start, bytes }: Range): AsyncGenerator<Buffer> {
    const end = start + bytes;
    // A file that was not open may be read this once, where there are more files than stay open.
    let wanted = this.#files.has(path) ? ahead : Math.min(bytes, ahead);
    const open = await this.#open(path);
    for (let at = start; at < end; ) {
      if (at < open.start || at >= open.start + open.bytes) {
        const { bytesRead } = await open.file.read(open.buffer, 0, wanted, at);
        if (bytesRead === 0) throw new Error(`${path} ends ${end - at} bytes too early`);
        [open.start, open.bytes] = [at, bytesRead];
        wanted = ahead;
      }
      const piece = open.buffer.subarray(at - open.start, Math.min(open.bytes, end - open.start));
      yield piece;
      at += piece.length;
    }
  }

  async #open(path: string): Promise<OpenFile> {
    const known = this.#files.get(path);
    this.#files.delete(path);
    if (!known && this.#files.size >= most) await this.#closeOldest();
    const found = known ?? {
      file: await open(path, constants.O_RDONLY | constants.O_NOFOLLOW),
      buffer: Buffer.allocUnsafe(ahead),
      start: 0,
      bytes: 0,
    };
    this.#files.set(path, found);
    return found;
  }

  async #closeOldest(): Promise<void> {
    for (const [path, { file }] of this.#files) {
      this.#files.delete(path);
      return file.close();
    }
  }

  async close(): Promise<void> {
    for (const { file } of this.#files.values()) await file.close();
    this.#files.clear();
  }
}
