import type { Listed } from "../client/check-answer.js";
import type { SampledChunk } from "./auto-child-lists.js";
import { keptPages, noChildren, unlessGone } from "./child-lists.js";
import { ChildDigest, type ChildText } from "./digests.js";
import { mapAhead, type Prefetch } from "./prefetch.js";
import { type ReadPage, readList } from "./read-list.js";

/** The input that `firstDifference` needs to read the child lists of sampled chunks. */
interface SampleReading {
  readonly chunkIdOf: (index: number) => string;
  readonly open: (chunkId: string) => ReadPage;
  /** The children embedded in the chunk at this index, from 0. */
  readonly embeddedAt: (index: number) => Promise<readonly Listed[]>;
  readonly textOf: ChildText;
  readonly prefetch: Prefetch;
}

/**
 * Reads the child lists of sampled chunks and returns the index of the first chunk whose list does not match its embedded children;
 * undefined if all match. Stops at the first page if the length differs, and never reads more pages than are kept. Row order does
 * not matter. If pages repeat rows (equal positions), or not all pages were read, the chunk must embed every row that was read.
 */
export async function firstDifference(
  sample: readonly SampledChunk[],
  reading: SampleReading,
): Promise<number | undefined> {
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
