/** Bytes that are written at once. */
const size = 1 << 20;

/** Gathers small pieces, and writes many of them with one call of the disk. */
export class WriteBatch {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #buffer = Buffer.allocUnsafe(size);
  #length = 0;

  /** `write` is done with the bytes when it resolves. */
  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** Takes a copy of a small piece; a large one is written when this resolves. */
  async add(piece: Uint8Array): Promise<void> {
    if (this.#length + piece.length > size) await this.flush();
    if (piece.length >= size) return this.#write(piece);
    this.#buffer.set(piece, this.#length);
    this.#length += piece.length;
  }

  /** Writes what is left. */
  async flush(): Promise<void> {
    if (this.#length > 0) await this.#write(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
  }
}
