import type { Listed } from "../client/check-answer.js";
import type { Batch, Checkpoint, ChildrenSoFar } from "./batch.js";
import {
  type ChildLists,
  EmbeddedSource,
  type KeptChildren,
  keptPages,
  listCounts,
  noChildren,
  planChildren,
  type SampledChunk,
  sampleOf,
  unlessGone,
} from "./child-evidence.js";
import { ChildDigest, type ChildText } from "./digests.js";
import type { IdSet } from "./id-set.js";
import { mapAhead, type Prefetch } from "./prefetch.js";
import { type ChildRows, readChildList, wholeList } from "./read-child-list.js";
import { type PageRead, type Problems, type ReadPage, type ReportProblem, readList } from "./read-list.js";

interface ChildrenReading {
  readonly childChunks: "all" | "auto";
  /** The id of every chunk of the document, in order. */
  readonly chunkIds: Pick<IdSet, "size" | "at">;
  readonly lists: ChildLists;
  /** The children that the chunks embed, as far as they are kept; asked for after all chunks were given out. */
  readonly embedded: () => AsyncIterable<KeptChildren>;
  readonly textOf: ChildText;
  readonly prefetch: Prefetch;
  readonly problems: Problems;
}

/** The children of one chunk. Where there is a list, its first page is there unless the chunk is gone. */
interface Item {
  readonly index: number;
  readonly chunkId: string;
  /** The children that the chunk embeds; undefined where that is nothing, or not kept. */
  readonly embedded: readonly Listed[] | undefined;
  /** Undefined where it is not asked for. */
  readonly list: { readonly read: ReadPage; readonly first: PageRead | undefined } | undefined;
}

/** The children of the chunks behind the checkpoint, in order: from their lists, or from where the evidence allows it. */
export async function* crawlChildren(reading: ChildrenReading, start: Checkpoint): AsyncGenerator<Batch> {
  const { chunkIds, lists, prefetch, problems } = reading;
  let at = start;
  if (!at.children.plan && reading.childChunks === "auto") {
    at = await planned(reading, at);
    yield { ...batchOf(undefined, [], at), isPage: false };
  }
  const sample = new Map(sampleOf(at.children.evidence).map((chunk) => [chunk.index, chunk]));
  const takesEmbedded = at.children.plan?.source === "embedded";
  const source = new EmbeddedSource(reading.embedded());
  try {
    const places = indexesFrom(at.childLists, chunkIds.size);
    const open = (index: number) => itemOf(reading, source, index, takesEmbedded);
    for await (const item of mapAhead(places, prefetch, open)) {
      at = { ...at, childLists: item.index + 1, ...problems.first };
      const sampled = sample.get(item.index);
      const whole = item.list?.first && !sampled ? wholeList(item.list.first) : undefined;
      if (!item.list) yield { ...batchOf(item.chunkId, item.embedded ?? [], at), isPage: false };
      else if (whole) {
        lists.drop(item.chunkId);
        at = afterRows(at, whole, undefined);
        yield batchOf(item.chunkId, whole.records, at, whole.piece);
      } else at = yield* crawlList(reading, item, at, sampled);
    }
  } finally {
    await source.close();
  }
}

function* indexesFrom(first: number, end: number): Generator<number> {
  for (let index = first; index < end; index++) yield index;
}

/** Decides where the children come from; where there are none, nothing is left to be read. */
async function planned(reading: ChildrenReading, at: Checkpoint): Promise<Checkpoint> {
  const { chunkIds, lists, problems } = reading;
  const { evidence } = at.children;
  const chunkIdOf = (index: number) => chunkIds.at(index) ?? "";
  const sample = sampleOf(evidence);
  const open = (chunkId: string) => lists.keep(chunkId);
  const embeddedAt = (index: number) => findEmbedded(reading.embedded(), index);
  const differing = await firstDifference(sample, { ...reading, chunkIdOf, open, embeddedAt });
  const plan = planChildren(evidence, differing);
  if (plan.source !== "lists") for (const { index } of sample) lists.drop(chunkIdOf(index));
  const isNone = plan.source === "none";
  const empty = isNone ? listCounts(evidence, plan).asked : 0;
  const children: ChildrenSoFar = { evidence, plan, empty, differing: differing ?? null };
  return { ...at, children, childLists: isNone ? chunkIds.size : at.childLists, ...problems.first };
}

async function itemOf(
  { chunkIds, lists }: ChildrenReading,
  source: EmbeddedSource,
  index: number,
  takesEmbedded: boolean,
): Promise<Item> {
  const chunkId = chunkIds.at(index) ?? "";
  const embedded = await source.take(index);
  if (embedded && takesEmbedded) return { index, chunkId, embedded, list: undefined };
  const read = lists.open(chunkId);
  return { index, chunkId, embedded, list: { read, first: await unlessGone(read, 1) } };
}

async function findEmbedded(kept: AsyncIterable<KeptChildren>, index: number): Promise<readonly Listed[]> {
  for await (const one of kept) if (one.index === index) return one.children;
  return [];
}

/** The children of one chunk from its list. Gives the checkpoint behind it. */
async function* crawlList(
  { lists, prefetch, problems, textOf }: ChildrenReading,
  { chunkId, list, embedded }: Item,
  start: Checkpoint,
  sample: SampledChunk | undefined,
): AsyncGenerator<Batch, Checkpoint> {
  let at = start;
  lists.drop(chunkId);
  if (!list?.first) {
    problems.report(`chunk ${chunkId} was deleted while the document was read`);
    return at;
  }
  const digest = new ChildDigest(chunkId, textOf);
  const sampled = sample && { chunk: sample, digest };
  const open = { chunkId, readPage: list.read, first: list.first };
  // A child list that grew says nothing about the list of chunks.
  const problem: ReportProblem = (text, kind) => problems.report(text, kind === "grew" ? "moved" : kind);
  const reading = { prefetch, problem };

  for await (const rows of readChildList(open, embedded, reading)) {
    const { records, isPage, piece, all } = rows;
    if (sample) digest.add(records);
    at = afterRows({ ...at, ...problems.first }, rows, sampled);
    yield { ...batchOf(chunkId, records, all === undefined ? undefined : at, piece), isPage };
  }
  return at;
}

/** A sampled chunk, and the digest of its list. */
interface Sampled {
  readonly chunk: SampledChunk;
  readonly digest: ChildDigest;
}

/** The checkpoint behind rows of a child list. */
function afterRows(
  before: Checkpoint,
  { piece, all }: Pick<ChildRows, "piece" | "all">,
  sampled: Sampled | undefined,
): Checkpoint {
  const children = all === undefined ? before.children : withList(before.children, all, sampled);
  return { ...before, childPiece: smallest(before.childPiece, piece), children };
}

/** Adds a child list that was read whole to the state of the children. */
function withList(before: ChildrenSoFar, rows: number, sampled: Sampled | undefined): ChildrenSoFar {
  const { empty, differing } = before;
  const differs = sampled !== undefined && sampled.chunk.digest !== sampled.digest.value;
  if (rows > 0 && !differs) return before;
  return {
    ...before,
    empty: rows > 0 ? empty : empty + 1,
    differing: differing ?? (differs ? sampled.chunk.index : null),
  };
}

function smallest(before: number | undefined, piece: number | undefined): number | undefined {
  return piece === undefined ? before : Math.min(piece, before ?? piece);
}

function batchOf(
  chunkId: string | undefined,
  records: readonly Listed[],
  checkpoint: Checkpoint | undefined,
  piece?: number,
): Batch {
  return { kind: "child_chunks", records, chunkId, docForm: null, isPage: true, piece, checkpoint };
}

/** How the child lists of sampled chunks are read. */
interface SampleReading {
  readonly chunkIdOf: (index: number) => string;
  readonly open: (chunkId: string) => ReadPage;
  /** Gives the children that the chunk at this place, from 0, embeds. */
  readonly embeddedAt: (index: number) => Promise<readonly Listed[]>;
  readonly textOf: ChildText;
  readonly prefetch: Prefetch;
}

/**
 * Asks for the child lists of sampled chunks, and gives the place of the first one that is not what the page of chunks showed;
 * undefined where all are. A list of another length is not read beyond its first page, and no list beyond the pages that are
 * kept. The order of the rows does not matter. Where pages repeat rows, as they do with equal positions, or were not all read,
 * what came has to be among what the chunk embeds.
 */
async function firstDifference(sample: readonly SampledChunk[], reading: SampleReading): Promise<number | undefined> {
  const compare = async (chunk: SampledChunk) => ({ index: chunk.index, same: await isSame(chunk, reading) });
  for await (const { index, same } of mapAhead(sample, reading.prefetch, compare)) if (!same) return index;
  return undefined;
}

async function isSame(sampled: SampledChunk, reading: SampleReading): Promise<boolean> {
  const { index, rows, digest } = sampled;
  const chunkId = reading.chunkIdOf(index);
  const read = reading.open(chunkId);
  const first = await unlessGone(read, 1);
  if (first?.total !== rows) return false;
  let isStill = true;
  const readPage = async (number: number) => {
    const page = (await unlessGone(read, number)) ?? noChildren;
    isStill &&= page.total === rows;
    return page;
  };
  const listed = new Map<string, Listed>();
  const kept = { ...first, total: Math.min(rows, keptPages * first.rows.length) };
  for await (const page of readList(readPage, reading.prefetch, kept)) {
    for (const child of page.rows) listed.set(child.id, child);
  }
  if (!isStill) return false;
  if (listed.size === rows) return new ChildDigest(chunkId, reading.textOf).add(listed.values()).value === digest;
  return isAmong(listed, chunkId, await reading.embeddedAt(index), reading.textOf);
}

function isAmong(
  listed: ReadonlyMap<string, Listed>,
  chunkId: string,
  embedded: readonly Listed[],
  textOf: ChildText,
): boolean {
  let found = 0;
  for (const child of embedded) {
    const same = listed.get(child.id);
    if (same && textOf(same, chunkId) === textOf(child, chunkId)) found++;
  }
  return found === listed.size && found > 0;
}
