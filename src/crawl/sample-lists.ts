import { ChildDigest } from "./child-digest.js";
import type { SampledChunk } from "./child-evidence.js";
import { noChildren, unlessGone } from "./child-lists.js";
import type { ChildText } from "./embedded-children.js";
import { type LookAhead, mapAhead } from "./look-ahead.js";
import { type ReadPage, readList } from "./read-list.js";

/** How the child lists of sampled chunks are read. */
export interface SampleReading {
  readonly chunkIdOf: (index: number) => string;
  readonly open: (chunkId: string) => ReadPage;
  readonly textOf: ChildText;
  readonly lookAhead: LookAhead;
}

/**
 * Asks for the child lists of sampled chunks, and gives the place of the first one that is not, row by row, what the page of
 * chunks showed; undefined where all are. A list of another length is not read beyond its first page.
 */
export async function firstDifference(
  sample: readonly SampledChunk[],
  reading: SampleReading,
): Promise<number | undefined> {
  const compare = async (chunk: SampledChunk) => ({ index: chunk.index, same: await isSame(chunk, reading) });
  for await (const { index, same } of mapAhead(sample, reading.lookAhead, compare)) if (!same) return index;
  return undefined;
}

async function isSame({ index, rows, digest }: SampledChunk, reading: SampleReading): Promise<boolean> {
  const chunkId = reading.chunkIdOf(index);
  const read = reading.open(chunkId);
  const first = await unlessGone(read, 1);
  if (first?.total !== rows) return false;
  const listed = new ChildDigest(chunkId, reading.textOf);
  const readPage = async (page: number) => (await unlessGone(read, page)) ?? noChildren;
  for await (const page of readList(readPage, reading.lookAhead, first)) listed.add(page.rows);
  return listed.value === digest;
}
