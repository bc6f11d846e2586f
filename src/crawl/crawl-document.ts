import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import type { Batch, Checkpoint } from "./batch.js";
import { ChildLists, type KeptChildren, noEvidence, withPage } from "./child-evidence.js";
import { crawlChildren } from "./crawl-children.js";
import { childTextIn } from "./digests.js";
import { halvingPages } from "./halve-pages.js";
import type { IdSet } from "./id-set.js";
import type { Prefetch } from "./prefetch.js";
import { type AnchoredPage, readAnchored } from "./read-anchored.js";
import {
  answersOf,
  type KnownList,
  ListProof,
  Problems,
  type ReportProblem,
  readList,
  readRest,
  rowsOn,
} from "./read-list.js";

export interface CrawlOptions {
  /** auto: the child lists that the evidence asks for, and what the chunks embed. */
  readonly childChunks: "all" | "auto" | "none";
  /** For `auto`: gives back what the chunks of all batches embed, those of an earlier crawl included. */
  readonly embedded: () => AsyncIterable<KeptChildren>;
  /** Whether rows keep the signatures of their links: children are compared as rows. */
  readonly keepSignatures: boolean;
  readonly prefetch: Prefetch;
  /** Called with everything that shows that the document is not whole; it may throw to end the crawl. */
  readonly problem: ReportProblem;
  /** Whether to read the chunks from their end, which proves a list that only grows; a crawl that goes on reads in order. */
  readonly fromTheEnd: boolean;
  /** The checkpoint of an earlier crawl, and the ids of the chunks that it read, in order. */
  readonly from?: { readonly checkpoint: Checkpoint; readonly ids: IdSet } | undefined;
}

/**
 * Reads one document: every page of its chunks, then the children of every chunk, from every page of its child list unless
 * `auto` finds that it need not. Rejects with SkipError when the document cannot be read at all; lists that do not add up
 * are passed to `problem`.
 */
export async function* crawlDocument(
  api: KnowledgeApi,
  document: DocumentRef,
  options: CrawlOptions,
): AsyncGenerator<Batch> {
  const { from, childChunks, keepSignatures } = options;
  const textOf = childTextIn(document, keepSignatures);
  const problems = new Problems(options.problem, from?.checkpoint);
  const chunks = new ListProof("chunks", problems.report, from && knownChunks(from));
  let at = from?.checkpoint;
  for await (const page of chunkPages(api, document, problems, options)) {
    const { docForm, piece, isAnchored, isSettled } = page;
    const records = chunks.add(page);
    const before = at ?? { ...begun, total: page.total, pageSize: rowsOn(page) };
    const evidence = withPage(before.children.evidence, { records, docForm, total: before.total }, textOf);
    at = {
      ...before,
      ...problems.first,
      chunkPages: before.chunkPages + 1,
      answers: before.answers + answersOf(page),
      unreadableChunks: chunks.unreadable,
      isAnchored,
      isSettled,
      children: { ...before.children, evidence },
    };
    yield { kind: "chunks", records, chunkId: undefined, docForm, isPage: true, piece, checkpoint: at };
    if (chunks.isStuck) break;
  }
  chunks.finish();
  if (childChunks === "none" || !at) return;
  const lists = new ChildLists(api, document, problems.report);
  yield* crawlChildren({ ...options, childChunks, textOf, chunkIds: chunks.ids, lists, problems }, at);
}

/** The pages of chunks behind the checkpoint, or all of them. */
async function* chunkPages(
  api: KnowledgeApi,
  document: DocumentRef,
  { report: problem }: Problems,
  { prefetch, from, fromTheEnd }: CrawlOptions,
): AsyncGenerator<AnchoredPage> {
  const size = from?.checkpoint.pageSize;
  const read = (page: number, limit: number, retries?: number) => api.chunks(document, page, limit, retries);
  const readPage = halvingPages(read, { name: "chunks", problem, size });
  if (fromTheEnd && !from) {
    const readRow = async (rank: number) => {
      const { rows, total } = await api.chunks(document, rank, 1);
      return { row: rows.length === 1 ? rows[0] : undefined, total };
    };
    return yield* readAnchored({ readPage, readRow, prefetch, problem });
  }
  const at = from?.checkpoint;
  const pages = at ? readRest(readPage, prefetch, at, at.chunkPages) : readList(readPage, prefetch);
  for await (const page of pages) yield { ...page, isAnchored: false, isSettled: false };
}

function knownChunks({ checkpoint, ids }: NonNullable<CrawlOptions["from"]>): KnownList {
  return { ids, total: checkpoint.total, unreadable: checkpoint.unreadableChunks };
}

const begun = {
  chunkPages: 0,
  answers: 0,
  childLists: 0,
  children: { evidence: noEvidence, plan: null, empty: 0, differing: null },
};
