/** Sends of one chunk alone that may pass another time. */
const mostTries = 3;

/** The next step after a request that failed. `narrower`: the same chunks again, in smaller requests. */
export type AfterFault = "narrower" | "again" | "give up";

/**
 * Finds the chunks that make requests fail: the service refuses, or fails to index, all chunks of a request for one of them. The
 * chunks of such a request are halved until the faulty one is alone.
 */
export class FaultSearch {
  /** The number of the chunk behind the smallest request that failed: the faulty one is before it. */
  #end = 0;
  #tries = 0;

  /** Chunks that a request may add at the most which begins with chunk number `next`. */
  most(next: number): number {
    return next < this.#end ? Math.max(1, Math.floor((this.#end - next) / 2)) : Number.POSITIVE_INFINITY;
  }

  /** Chunks were added. */
  added(): void {
    this.#tries = 0;
  }

  /** A request failed for so many chunks, the first with this number; `mayPass`: it may succeed another time. */
  failed(first: number, chunks: number, mayPass: boolean): AfterFault {
    this.#end = first + chunks;
    if (chunks > 1) return "narrower";
    this.#tries++;
    if (mayPass && this.#tries < mostTries) return "again";
    this.#tries = 0;
    return "give up";
  }
}
