import { readChildren } from "../../../restore/apply/read-standing.js";
import { Attachments } from "./bring-attachments.js";
import { bringChildren } from "./bring-children.js";
import type { ChunkCopy, DocumentCopy } from "./document-copy.js";
import { disableChunk } from "./update-chunk.js";

/** Child lists that are read at once. */
const listsAtOnce = 8;
/** The service takes no change of a chunk for 600 s after it was enabled or disabled. Waits for that, in milliseconds. */
const busyTime = 660_000;
const [firstBusyWait, longestBusyWait] = [10_000, 60_000];

/** A chunk that is to be disabled; `isWhole`: everything else of it is there. */
interface Pending {
  readonly chunk: ChunkCopy;
  readonly isWhole: boolean;
}

/** Brings the rest of the chunks of a document that are there: attachments, then children, and last that they are disabled. */
export class Finish {
  readonly #copy: DocumentCopy;
  readonly #attachments: Attachments;
  /** Those that the service does not let be disabled yet. */
  #busy: readonly Pending[] = [];

  constructor(copy: DocumentCopy) {
    this.#copy = copy;
    this.#attachments = new Attachments(copy);
  }

  async finish(chunks: readonly ChunkCopy[]): Promise<void> {
    const { api } = this.#copy.work.options;
    for (let at = 0; at < chunks.length; at += listsAtOnce) {
      const some = chunks.slice(at, at + listsAtOnce);
      const lists = this.#copy.hasChildren
        ? await Promise.all(some.map(({ id }) => readChildren(api, this.#copy.work.place, id)))
        : [];
      for (const [each, chunk] of some.entries()) await this.#finishChunk(chunk, lists[each]);
    }
  }

  /** Disables the chunks that the service did not let be disabled before, and waits until it does. */
  async end(): Promise<void> {
    const { now, sleep, signal } = this.#copy.work.options;
    const since = now();
    for (let wait = firstBusyWait; this.#busy.length > 0; wait = Math.min(longestBusyWait, wait * 2)) {
      const isLast = now() - since >= busyTime;
      if (!isLast) await sleep(wait, signal);
      const busy = this.#busy;
      this.#busy = [];
      for (const pending of busy) await this.#disable(pending, isLast);
    }
  }

  async #finishChunk(chunk: ChunkCopy, children: Awaited<ReturnType<typeof readChildren>> | undefined): Promise<void> {
    const failures = this.#copy.failed.length;
    const now = await this.#attachments.bring(chunk);
    if (children) await bringChildren(this.#copy, now, children);
    const isWhole = this.#copy.failed.length === failures;
    if (!now.row.enabled && now.enabled) await this.#disable({ chunk: now, isWhole }, false);
    else if (isWhole) this.#copy.work.options.tally.chunksDone++;
  }

  async #disable(pending: Pending, isLast: boolean): Promise<void> {
    const { chunk, isWhole } = pending;
    const updated = await disableChunk(this.#copy, chunk);
    if (updated.kind === "busy" && !isLast) this.#busy = [...this.#busy, pending];
    else if (updated.kind !== "done") {
      this.#copy.fail("chunk", chunk.row, `it is there and could not be disabled: ${updated.reason}`);
    } else if (isWhole) this.#copy.work.options.tally.chunksDone++;
  }
}
