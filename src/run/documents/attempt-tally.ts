import type { Batch, Checkpoint } from "../../crawl/batch.js";
import { forecastLists, listCounts, sampleOf } from "../../crawl/child-evidence.js";
import type { Job } from "../../job/job.js";
import type { RunTally } from "../setting/run-tally.js";

type Counts = { chunks: number; child_chunks: number };

/** Counts what one reading of a document comes to, in the tally of the run, too, from which it can be taken back. */
export class AttemptTally {
  readonly #tally: RunTally;
  readonly #childChunks: Job["childChunks"];
  readonly #counts: Counts;
  #begun = false;
  #expected = 0;
  #done = 0;

  /** `earlier` is what a process before has counted, and where it stopped. */
  constructor(
    tally: RunTally,
    childChunks: Job["childChunks"],
    earlier: { readonly counts: Counts; readonly checkpoint: Checkpoint } | undefined,
  ) {
    this.#tally = tally;
    this.#childChunks = childChunks;
    this.#counts = { chunks: 0, child_chunks: 0, ...earlier?.counts };
    tally.chunks += this.#counts.chunks;
    tally.child_chunks += this.#counts.child_chunks;
    if (earlier) {
      this.#expect(earlier.checkpoint);
      this.#add(0, this.#doneAt(earlier.checkpoint));
    }
  }

  /** Rows read of each kind. */
  get counts(): Readonly<Counts> {
    return this.#counts;
  }

  count({ kind, records, isPage, checkpoint }: Batch): void {
    this.#counts[kind] += records.length;
    this.#tally[kind] += records.length;
    const isDecision = kind === "child_chunks" && records.length === 0 && !isPage;
    if (checkpoint && (!this.#begun || isDecision)) this.#expect(checkpoint);
    if (checkpoint && isDecision) this.#add(0, this.#doneAt(checkpoint) - this.#done);
    if (isPage) this.#add(0, 1);
  }

  /** Takes back what was counted. */
  takeBack(): void {
    const tally = this.#tally;
    tally.chunks -= this.#counts.chunks;
    tally.child_chunks -= this.#counts.child_chunks;
    this.#add(-this.#expected, -this.#done);
    if (this.#begun) tally.documentsBegun--;
    this.#begun = false;
    Object.assign(this.#counts, { chunks: 0, child_chunks: 0 });
  }

  /** Tells the tally how many pages and child lists there are, as well as that is known. */
  #expect(checkpoint: Checkpoint): void {
    const { total, pageSize } = checkpoint;
    const pages = Math.max(1, Math.ceil(total / Math.max(pageSize, 1))) + this.#listsOf(checkpoint);
    this.#add(pages - this.#expected, 0);
    if (!this.#begun) this.#tally.documentsBegun++;
    this.#begun = true;
  }

  #listsOf({ total, children: { evidence, plan } }: Checkpoint): number {
    if (this.#childChunks === "none") return 0;
    if (this.#childChunks === "all") return total;
    return (plan ? listCounts(evidence, plan) : forecastLists(evidence, total)).asked;
  }

  /** Pages and lists that are done at a checkpoint; where some lists are not asked for, about as many as their share. */
  #doneAt(checkpoint: Checkpoint): number {
    const { chunkPages, childLists, total, children } = checkpoint;
    const sampled = children.plan?.source === "embedded" ? sampleOf(children.evidence).length : 0;
    const others = this.#listsOf(checkpoint) - sampled;
    return chunkPages + sampled + Math.round((childLists * others) / Math.max(1, total));
  }

  #add(expected: number, done: number): void {
    this.#expected += expected;
    this.#done += done;
    this.#tally.pagesExpected += expected;
    this.#tally.pagesDone += done;
  }
}
