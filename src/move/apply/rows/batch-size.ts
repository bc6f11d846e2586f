/** Chunks of the first request, and of the largest. */
export const [firstSize, largestSize] = [20, 200];
/** Milliseconds below which a request is quick, and above which it is slow. */
const [quick, slow] = [2_000, 20_000];

/**
 * The number of chunks that one request adds: more while the service is quick, fewer where it is slow. Each request embeds all of its
 * chunks, so nothing but its time tells how many a service takes. All documents of a move share one.
 */
export class BatchSize {
  #size = firstSize;
  #most = largestSize;

  /** Chunks that a request adds at the most. */
  get size(): number {
    return Math.min(this.#size, this.#most);
  }

  /** A request for so many chunks was answered after so many milliseconds. One that was not full tells nothing about a larger one. */
  answered(chunks: number, milliseconds: number): void {
    if (milliseconds > slow) this.#shrink(chunks);
    else if (milliseconds < quick && chunks >= this.size) this.#size = Math.min(largestSize, this.size * 2);
  }

  /** A request for so many chunks had no answer. */
  lost(chunks: number): void {
    this.#shrink(chunks);
  }

  /** The service takes so many chunks in one request, and no more. */
  keepTo(most: number): void {
    this.#most = Math.max(1, Math.min(this.#most, most));
  }

  /** A request of before may be slow although the size has shrunk meanwhile. */
  #shrink(chunks: number): void {
    this.#size = Math.max(1, Math.min(this.size, Math.floor(chunks / 2)));
  }
}
