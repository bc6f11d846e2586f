import type { Listed } from "../client/check-list.js";
import type { Batch, Checkpoint, ChildrenSoFar } from "./batch.js";
import { ChildDigest } from "./child-digest.js";
import { listCounts, planChildren, type SampledChunk, sampleOf } from "./child-evidence.js";
import { type ChildLists, noChildren, unlessGone } from "./child-lists.js";
import type { ChildText } from "./embedded-children.js";
import { EmbeddedSource, type KeptChildren } from "./embedded-source.js";
import type { IdSet } from "./id-set.js";
import { ListProof } from "./list-proof.js";
import { type LookAhead, mapAhead } from "./look-ahead.js";
import type { Problems } from "./problems.js";
import { type PageRead, type ReadPage, readList } from "./read-list.js";
import { firstDifference } from "./sample-lists.js";

export interface ChildrenReading {
  readonly childChunks: "all" | "auto";
  /** Of every chunk of the document, in order. */
  readonly chunkIds: Pick<IdSet, "size" | "at">;
  readonly lists: ChildLists;
  /** The children that the chunks embed; asked for once, after all chunks were given out. */
  readonly embedded: () => AsyncIterable<KeptChildren>;
  readonly textOf: ChildText;
  readonly lookAhead: LookAhead;
  readonly problems: Problems;
}

/** The children of one chunk: those that it embeds, or its list, of which the first page is there unless the chunk is gone. */
interface Item {
  readonly index: number;
  readonly chunkId: string;
  readonly embedded?: readonly Listed[];
  readonly list?: { readonly read: ReadPage; readonly first: PageRead | undefined };
}

/** The children of the chunks behind the checkpoint, in order: from their lists, or from where the evidence allows it. */
export async function* crawlChildren(reading: ChildrenReading, start: Checkpoint): AsyncGenerator<Batch> {
  const { chunkIds, lookAhead, problems } = reading;
  let at = start;
  if (!at.children.plan && reading.childChunks === "auto") {
    at = await planned(reading, at);
    yield { ...batchOf(undefined, [], at), isPage: false };
  }
  const sample = new Map(sampleOf(at.children.evidence).map((chunk) => [chunk.index, chunk]));
  const source = at.children.plan?.source === "embedded" ? new EmbeddedSource(reading.embedded()) : undefined;
  try {
    const places = placesFrom(at.childLists, chunkIds.size);
    for await (const item of mapAhead(places, lookAhead, (index) => itemOf(reading, source, index))) {
      at = { ...at, childLists: item.index + 1, problems: problems.first };
      if (item.embedded) yield { ...batchOf(item.chunkId, item.embedded, at), isPage: false };
      else at = yield* crawlList(reading, item, at, sample.get(item.index));
    }
  } finally {
    await source?.close();
  }
}

function* placesFrom(first: number, end: number): Generator<number> {
  for (let index = first; index < end; index++) yield index;
}

/** Decides where the children come from; where there are none, nothing is left to be read. */
async function planned(reading: ChildrenReading, at: Checkpoint): Promise<Checkpoint> {
  const { chunkIds, lists, problems } = reading;
  const { evidence } = at.children;
  const chunkIdOf = (index: number) => chunkIds.at(index) ?? "";
  const sample = sampleOf(evidence);
  const open = (chunkId: string) => lists.keep(chunkId);
  const differing = await firstDifference(sample, { ...reading, chunkIdOf, open });
  const plan = planChildren(evidence, differing);
  if (plan.source !== "lists") for (const { index } of sample) lists.drop(chunkIdOf(index));
  const isNone = plan.source === "none";
  const empty = isNone ? listCounts(evidence, plan).asked : 0;
  const children: ChildrenSoFar = { evidence, plan, empty, differing: differing ?? null };
  return { ...at, children, childLists: isNone ? chunkIds.size : at.childLists, problems: problems.first };
}

async function itemOf(
  { chunkIds, lists }: ChildrenReading,
  source: EmbeddedSource | undefined,
  index: number,
): Promise<Item> {
  const chunkId = chunkIds.at(index) ?? "";
  const embedded = await source?.take(index);
  if (embedded) return { index, chunkId, embedded };
  const read = lists.open(chunkId);
  return { index, chunkId, list: { read, first: await unlessGone(read, 1) } };
}

/** Every page of one child list. Gives the checkpoint behind it. */
async function* crawlList(
  { lists, lookAhead, problems, textOf }: ChildrenReading,
  { chunkId, list }: Item,
  start: Checkpoint,
  sample: SampledChunk | undefined,
): AsyncGenerator<Batch, Checkpoint> {
  let at = start;
  lists.drop(chunkId);
  if (!list?.first) {
    problems.tell(`chunk ${chunkId} was deleted while the document was read`);
    return at;
  }
  const { read, first } = list;
  const proof = new ListProof(`children of chunk ${chunkId}`, problems.tell);
  const sampled = sample && { chunk: sample, digest: new ChildDigest(chunkId, textOf) };
  const readPage = async (page: number) => (await unlessGone(read, page)) ?? noChildren;
  for await (const page of readList(readPage, lookAhead, first)) {
    const records = proof.add(page);
    sampled?.digest.add(records);
    at = { ...at, childPiece: smallest(at.childPiece, page.piece) };
    if (proof.isWhole) at = { ...at, children: withList(at.children, proof.ids.size, sampled) };
    yield batchOf(chunkId, records, proof.isWhole ? { ...at, problems: problems.first } : undefined, page.piece);
    if (proof.isStuck) break;
  }
  proof.finish();
  return at;
}

/** What a child list that was read whole adds to what is known. */
function withList(
  before: ChildrenSoFar,
  rows: number,
  sampled: { readonly chunk: SampledChunk; readonly digest: ChildDigest } | undefined,
): ChildrenSoFar {
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
