import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import type { Batch, Checkpoint } from "./batch.js";
import { noEvidence } from "./child-evidence.js";
import { ChildLists } from "./child-lists.js";
import { crawlChildren } from "./crawl-children.js";
import type { ChildText } from "./embedded-children.js";
import type { KeptChildren } from "./embedded-source.js";
import { withPage } from "./evidence-of-pages.js";
import { halvingPages } from "./halve-pages.js";
import type { IdSet } from "./id-set.js";
import { ListProof } from "./list-proof.js";
import type { LookAhead } from "./look-ahead.js";
import { Problems } from "./problems.js";
import { readList, readRest } from "./read-list.js";

export interface CrawlOptions {
  /** auto: the child lists that the evidence asks for, and what the chunks embed. */
  readonly childChunks: "all" | "auto" | "none";
  /** For `auto`: gives back what the chunks of all batches embed, those of an earlier crawl included. */
  readonly embedded: () => AsyncIterable<KeptChildren>;
  readonly textOf: ChildText;
  readonly lookAhead: LookAhead;
  /** Told of everything that shows that the document is not whole; it may throw to end the crawl. */
  readonly problem: (text: string) => void;
  /** Where an earlier crawl stopped, and the ids of the chunks that it read, in order. */
  readonly from?: { readonly checkpoint: Checkpoint; readonly ids: IdSet } | undefined;
}

/**
 * Reads one document: every page of its chunks, then the children of every chunk, from every page of its child list unless
 * `auto` finds that it need not. Rejects with SkipError when the document cannot be read at all; lists that do not add up
 * are told to `problem`.
 */
export async function* crawlDocument(
  api: KnowledgeApi,
  document: DocumentRef,
  options: CrawlOptions,
): AsyncGenerator<Batch> {
  const { lookAhead, from, childChunks, textOf } = options;
  const problems = new Problems(options.problem, from?.checkpoint.problems);
  const chunks = new ListProof("chunks", problems.tell, from && { ids: from.ids, total: from.checkpoint.total });
  const readPage = halvingPages((page, limit) => api.chunks(document, page, limit), {
    name: "chunks",
    problem: problems.tell,
    size: from?.checkpoint.pageSize,
  });
  let at = from?.checkpoint;
  for await (const page of at ? readRest(readPage, lookAhead, at, at.chunkPages) : readList(readPage, lookAhead)) {
    const { docForm, piece } = page;
    const records = chunks.add(page);
    const before = at ?? { ...begun, total: page.total, pageSize: page.rows.length };
    const evidence = withPage(before.children.evidence, { records, docForm, total: before.total }, textOf);
    const children = { ...before.children, evidence };
    at = { ...before, chunkPages: before.chunkPages + 1, children, problems: problems.first };
    yield { kind: "chunks", records, chunkId: undefined, docForm, isPage: true, piece, checkpoint: at };
    if (chunks.isStuck) break;
  }
  chunks.finish();
  if (childChunks === "none" || !at) return;
  const lists = new ChildLists(api, document, problems.tell);
  yield* crawlChildren({ ...options, childChunks, chunkIds: chunks.ids, lists, problems }, at);
}

const begun = {
  chunkPages: 0,
  childLists: 0,
  children: { evidence: noEvidence, plan: null, empty: 0, differing: null },
};
