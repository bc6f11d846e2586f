import type { Listed } from "../client/check-answer.js";
import { type DocumentRef, type KnowledgeApi, pageSize } from "../client/knowledge-api.js";
import { planChildren, type SampledChunk, sampleOf, withPage } from "./auto-child-lists.js";
import { ChildLists, type ListRows, readChildList, unlessGone, wholeList } from "./child-lists.js";
import { firstDifference } from "./compare-sample.js";
import { ChildDigest, type ChildText, childTextIn } from "./digests.js";
import { EmbeddedSource, type KeptChildren } from "./embedded-children.js";
import { halvingPages } from "./halve-pages.js";
import {
  type ChildrenSoFar,
  type ChunksSoFar,
  type HowFar,
  noChildrenYet,
  withChunkPage,
  withListRows,
  withPlan,
} from "./how-far.js";
import type { IdSet } from "./id-set.js";
import { mapAhead, type Prefetch } from "./prefetch.js";
import { type AnchoredPage, readAnchored } from "./read-anchored.js";
import {
  ListProof,
  type PageRead,
  Problems,
  type ReadPage,
  type ReportProblem,
  readList,
  readRest,
} from "./read-list.js";

export interface CrawlOptions {
  /** auto: read only the child lists that the evidence calls for, and use embedded children for the rest. */
  readonly childChunks: "all" | "auto" | "none";
  /** Returns the kept embedded children, including those from an earlier crawl. Called after all chunks were yielded. */
  readonly embedded: () => AsyncIterable<KeptChildren>;
  /**
   * Whether rows keep the signatures in links to files. The comparison of children needs this, because it compares them as
   * rows.
   */
  readonly keepSignatures: boolean;
  readonly prefetch: Prefetch;
  /** Called for every sign that the document is incomplete. It may throw to end the crawl. */
  readonly problem: ReportProblem;
  /**
   * Whether to read the last page of chunks right after the first, which can prove a growing list complete. A resumed crawl
   * reads in order.
   */
  readonly fromTheEnd: boolean;
  /** The progress of an earlier crawl, and the ids of the chunks that it read, in order. */
  readonly from?: { readonly howFar: HowFar; readonly ids: IdSet } | undefined;
}

/** Some children of one chunk. */
export interface ChildRows {
  readonly chunkId: string;
  readonly rows: readonly Listed[];
  /** Whether these rows complete the chunk's children, so that a later crawl can continue after them. */
  readonly isWhole: boolean;
}

/** A chunk whose children are read next. The first page of its list is already read, unless the chunk is gone. */
interface Item {
  readonly index: number;
  readonly chunkId: string;
  /** The chunk's embedded children; undefined if there are none or they were not kept. */
  readonly embedded: readonly Listed[] | undefined;
  /** The child list of the chunk; undefined if it is not read. */
  readonly list: { readonly readPage: ReadPage; readonly first: PageRead | undefined } | undefined;
}

/**
 * Reads one document. Consume all `chunks`, then call `decideSource`, then consume all `children`. Throws SkipError when the
 * document cannot be read at all. Calls `problem` if the pages of a list contradict each other or rows are missing.
 */
export class DocumentCrawl {
  readonly #api: KnowledgeApi;
  readonly #document: DocumentRef;
  readonly #options: CrawlOptions;
  readonly #problems: Problems;
  readonly #textOf: ChildText;
  readonly #lists: ChildLists;
  readonly #proof: ListProof;
  #chunks: ChunksSoFar | undefined;
  #children: ChildrenSoFar;

  constructor(api: KnowledgeApi, document: DocumentRef, options: CrawlOptions) {
    const { howFar, ids } = { howFar: undefined, ids: undefined, ...options.from };
    this.#api = api;
    this.#document = document;
    this.#options = options;
    this.#problems = new Problems(options.problem, howFar?.problems);
    this.#textOf = childTextIn(document, options.keepSignatures);
    this.#lists = new ChildLists(api, document, this.#problems.report);
    const known = howFar && { ids, total: howFar.chunks.total, unreadable: howFar.chunks.unreadable };
    this.#proof = new ListProof("chunks", this.#problems.report, known);
    // Rows may have moved since an earlier process checked their ranks, so its check proves nothing.
    this.#chunks = howFar && { ...howFar.chunks, isAnchored: false };
    this.#children = howFar?.children ?? noChildrenYet;
  }

  /** The progress so far; undefined before the first page. */
  get howFar(): HowFar | undefined {
    return this.#chunks && { chunks: this.#chunks, children: this.#children, problems: this.#problems.first };
  }

  /** The remaining chunks, page by page. */
  async *chunks(): AsyncGenerator<readonly Listed[]> {
    const proof = this.#proof;
    for await (const page of this.#pages()) {
      const rows = proof.add(page);
      this.#chunks = withChunkPage(this.#chunks, page, { rows: rows.length, unreadable: proof.unreadable });
      const witness = { records: rows, docForm: page.docForm, total: this.#chunks.total };
      this.#children = {
        ...this.#children,
        evidence: withPage(this.#children.evidence, witness, this.#textOf),
      };
      yield rows;
      if (proof.isStuck) break;
    }
    proof.finish();
  }

  /** Decides where the children come from, unless an earlier crawl decided. For `auto`, it first reads a sample of child lists. */
  async decideSource(): Promise<void> {
    if (this.#options.childChunks !== "auto" || this.#children.plan || !this.#chunks) return;
    const { evidence } = this.#children;
    const chunkIdOf = (index: number) => this.#proof.ids.at(index) ?? "";
    const sample = sampleOf(evidence);
    const open = (chunkId: string) => this.#lists.keep(chunkId);
    const embeddedAt = (index: number) => findEmbedded(this.#options.embedded(), index);
    const { prefetch } = this.#options;
    const differing = await firstDifference(sample, { prefetch, textOf: this.#textOf, chunkIdOf, open, embeddedAt });
    const plan = planChildren(evidence, differing);
    if (plan.source !== "lists") for (const { index } of sample) this.#lists.drop(chunkIdOf(index));
    this.#children = withPlan(this.#children, plan, differing);
  }

  /** The children of the remaining chunks, from their lists or from the chunks themselves. */
  async *children(): AsyncGenerator<ChildRows> {
    const { childChunks, embedded, prefetch } = this.#options;
    if (childChunks === "none" || !this.#chunks) return;
    const sample = new Map(sampleOf(this.#children.evidence).map((chunk) => [chunk.index, chunk]));
    const source = new EmbeddedSource(embedded());
    try {
      const places = indexesFrom(this.#children.chunks, this.#proof.ids.size);
      for await (const item of mapAhead(places, prefetch, (index) => this.#open(index, source))) {
        const { chunkId, list, index } = item;
        this.#children = { ...this.#children, chunks: index + 1 };
        this.#lists.drop(chunkId);
        const whole = list?.first && !sample.has(index) ? wholeList(list.first) : undefined;
        if (!list) yield this.#fromChunk(item);
        else if (whole) yield this.#fromList(chunkId, whole, { isFirst: true });
        else yield* this.#fromPages(item, list, sample.get(index));
      }
    } finally {
      await source.close();
    }
  }

  /** The remaining pages of chunks. */
  async *#pages(): AsyncGenerator<AnchoredPage> {
    const { prefetch, from, fromTheEnd } = this.#options;
    const { report: problem } = this.#problems;
    const read = (page: number, limit: number, retries?: number) =>
      this.#api.chunks(this.#document, page, limit, retries);
    const readPage = halvingPages(read, { name: "chunks", problem, size: from?.howFar.chunks.pageSize });
    if (fromTheEnd && !from) {
      const readRow = async (rank: number) => {
        const { rows, total } = await this.#api.chunks(this.#document, rank, 1);
        return { row: rows.length === 1 ? rows[0] : undefined, total };
      };
      return yield* readAnchored({ pageSize, readPage, readRow, prefetch, problem });
    }
    const at = from?.howFar.chunks;
    const pages = at ? readRest(readPage, prefetch, at, at.pages) : readList(readPage, prefetch);
    for await (const page of pages) yield { ...page, isAnchored: false, isSettled: false };
  }

  async #open(index: number, source: EmbeddedSource): Promise<Item> {
    const chunkId = this.#proof.ids.at(index) ?? "";
    const embedded = await source.take(index);
    if (embedded && this.#children.plan?.source === "embedded") return { index, chunkId, embedded, list: undefined };
    const readPage = this.#lists.open(chunkId);
    return { index, chunkId, embedded, list: { readPage, first: await unlessGone(readPage, 1) } };
  }

  #fromChunk({ chunkId, embedded: rows = [] }: Item): ChildRows {
    this.#children = { ...this.#children, rows: this.#children.rows + rows.length };
    return { chunkId, rows, isWhole: true };
  }

  async *#fromPages(
    { chunkId, embedded }: Item,
    { readPage, first }: NonNullable<Item["list"]>,
    chunk: SampledChunk | undefined,
  ): AsyncGenerator<ChildRows> {
    const { report } = this.#problems;
    if (!first) return report(`chunk ${chunkId} was deleted while the document was read`);
    const digest = new ChildDigest(chunkId, this.#textOf);
    // A growing child list says nothing about the list of chunks.
    const problem: ReportProblem = (text, kind) => report(text, kind === "grew" ? "moved" : kind);
    const reading = { prefetch: this.#options.prefetch, problem };
    let isFirst = true;
    for await (const listed of readChildList({ chunkId, readPage, first }, embedded, reading)) {
      if (chunk) digest.add(listed.rows);
      yield this.#fromList(chunkId, listed, { isFirst, sample: chunk && { chunk, digest: digest.value } });
      isFirst = false;
    }
  }

  #fromList(chunkId: string, listed: ListRows, place: Parameters<typeof withListRows>[2]): ChildRows {
    this.#children = withListRows(this.#children, listed, place);
    return { chunkId, rows: listed.rows, isWhole: listed.all !== undefined };
  }
}

function* indexesFrom(first: number, end: number): Generator<number> {
  for (let index = first; index < end; index++) yield index;
}

async function findEmbedded(kept: AsyncIterable<KeptChildren>, index: number): Promise<readonly Listed[]> {
  for await (const one of kept) if (one.index === index) return one.children;
  return [];
}
