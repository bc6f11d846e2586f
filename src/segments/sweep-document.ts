import { isListed, type Listed } from "../client/check-answer.js";
import { type DocumentRef, pageSize as fullPage, type KnowledgeApi } from "../client/knowledge-api.js";
import type { ChildSource } from "../crawl/auto-child-lists.js";
import { ContentDigest, type Fingerprinted } from "../crawl/digests.js";
import { embeddedChildren, type KeptChildren } from "../crawl/embedded-children.js";
import { halvingPages, type ReadSizedPage } from "../crawl/halve-pages.js";
import { type ChunksSoFar, type HowFar, rowsOfOneAnswer } from "../crawl/how-far.js";
import type { Prefetch } from "../crawl/prefetch.js";
import { pagesOf, type ReportProblem } from "../crawl/read-list.js";
import { sweepList, sweepPages } from "../crawl/sweep-list.js";
import { jsonText, parseJson } from "../rows/exact-json.js";
import { readLines } from "./segment.js";

/** The JSONL segments of a document. A segment exists only if it has rows. */
export interface SegmentPaths {
  readonly chunks: string;
  readonly childChunks: string;
  /** The kept embedded children; undefined if there are none. */
  readonly aside: string | undefined;
}

/** Like SegmentPaths; the segment of child chunks is undefined if there are no rows. */
type StoredPaths = Omit<SegmentPaths, "childChunks"> & { readonly childChunks: string | undefined };

export interface SweepOptions {
  readonly prefetch: Prefetch;
  readonly problem: ReportProblem;
  /** Whether unchanged ranks prove chunks that were read from the end and are settled. If not, all pages but the last are read again. */
  readonly ranksSuffice: boolean;
}

/** Reads one list again and reports differences from what is stored. */
export type Sweep = () => Promise<void>;

/**
 * The sweeps of a document: one for every list that took more than one answer. For chunks that were read from the end and may still
 * grow, the sweep reads all pages but the last. Sweeps compare with what is on disk, no matter which process wrote it. Children
 * stored from their chunk came in one answer, so they are read again only with the chunks.
 */
export async function sweepsOf(
  api: KnowledgeApi,
  ref: DocumentRef,
  paths: SegmentPaths,
  { chunks, children }: HowFar,
  { prefetch, problem, ranksSuffice }: SweepOptions,
): Promise<readonly Sweep[]> {
  const stored = { ...paths, childChunks: children.rows > 0 ? paths.childChunks : undefined };
  const sweeps: Sweep[] = [];
  if (chunks.answers > 1 && !(chunks.isAnchored && chunks.isSettled && ranksSuffice)) {
    const source = children.plan?.source ?? "lists";
    sweeps.push(() => sweepChunks(api, ref, stored, { ...chunks, source }, { prefetch, problem }));
  }
  const split = children.isSplit ? await splitLists(stored, rowsOfOneAnswer(children)) : [];
  for (const [chunkId, stored] of split) {
    const name = `children of chunk ${chunkId}`;
    const readSized: ReadSizedPage = (page, limit, retries) => api.childChunks(ref, chunkId, page, limit, retries);
    const readPage = halvingPages(readSized, { name, problem });
    const list = { name, readPage, stored, total: stored.rows, fingerprints: fingerprintOf };
    sweeps.push(() => sweepList(list, prefetch, (text, kind) => problem(text, kind === "grew" ? "moved" : kind)));
  }
  return sweeps;
}

async function sweepChunks(
  api: KnowledgeApi,
  ref: DocumentRef,
  paths: StoredPaths,
  { rows, total, isAnchored, pageSize, source }: ChunksSoFar & { readonly source: ChildSource },
  { prefetch, problem }: Pick<SweepOptions, "prefetch" | "problem">,
): Promise<void> {
  const pages = pagesOf({ total, pageSize }) - 1;
  const compared = isAnchored ? pages * pageSize : rows;
  const { stored, ids } = await storedChunks(rows > 0 ? paths.chunks : undefined, compared);
  if (source === "embedded") await addEmbedded(stored, paths, ids);
  const readSized: ReadSizedPage = (page, limit, retries) => api.chunks(ref, page, limit, retries);
  const readPage = halvingPages(readSized, { name: "chunks", problem, size: isAnchored ? pageSize : undefined });
  const fingerprints = source === "lists" ? fingerprintOf : fingerprintsWithChildren;
  const list = { name: "chunks", readPage, stored, total, fingerprints };
  if (isAnchored) await sweepPages(list, pages, prefetch, problem);
  else await sweepList(list, prefetch, problem);
}

/**
 * The child lists to sweep on their own, as digests by chunk id: they may have come in several answers, and their ids or
 * contents differ from the children embedded in the chunk, if any.
 */
async function splitLists(
  { childChunks, aside }: StoredPaths,
  ofOneAnswer: number,
): Promise<ReadonlyMap<string, ContentDigest>> {
  const lists = new Map<string, ContentDigest>();
  for await (const { chunkId, digest } of digestsByParent(childChunks))
    if (digest.rows > ofOneAnswer || digest.rows === fullPage) lists.set(chunkId, digest);
  if (lists.size === 0 || aside === undefined) return lists;
  for await (const { chunkId, children } of readEmbedded(aside)) {
    const embedded = new ContentDigest();
    for (const child of children.flatMap(fingerprintOf)) embedded.add(child);
    if (lists.get(chunkId)?.equals(embedded)) lists.delete(chunkId);
  }
  return lists;
}

/** Reads the stored chunks: a digest of the first `rows` chunks, and the ids of the others. */
async function storedChunks(
  path: string | undefined,
  rows: number,
): Promise<{ readonly stored: ContentDigest; readonly ids: ReadonlySet<string> }> {
  const stored = new ContentDigest();
  const ids = new Set<string>();
  if (path === undefined) return { stored, ids };
  for await (const line of readLines(path)) {
    const { id, content, answer } = cellsOf("chunks", line);
    if (stored.rows < rows) stored.addJson(id, content, answer);
    else ids.add(JSON.parse(id));
  }
  return { stored, ids };
}

/** Adds the stored children of chunks that embed children, except chunks in `without`. Both inputs are in the order of the chunks. */
async function addEmbedded(
  stored: ContentDigest,
  { childChunks, aside }: StoredPaths,
  without: ReadonlySet<string>,
): Promise<void> {
  const embedding = aside === undefined ? undefined : readEmbedded(aside);
  let next = await embedding?.next();
  for await (const { chunkId, digest } of digestsByParent(childChunks)) {
    if (next?.done !== false || next.value.chunkId !== chunkId) continue;
    next = await embedding?.next();
    if (!without.has(chunkId)) stored.merge(digest);
  }
}

/** The parts of a record that sweeps compare, as kbdump stores them. */
function fingerprintOf({ id, content, answer }: Listed): readonly Fingerprinted[] {
  const stored = (value: unknown) => (typeof value === "string" ? value.toWellFormed() : null);
  return [{ id, content: stored(content), answer: stored(answer) }];
}

/** The parts of a chunk and its embedded children that sweeps compare. */
function fingerprintsWithChildren(chunk: Listed): readonly Fingerprinted[] {
  return [chunk, ...(embeddedChildren(chunk) ?? [])].flatMap(fingerprintOf);
}

/** Yields a digest of the children of each parent. In the file, the children of one parent are adjacent. */
async function* digestsByParent(path: string | undefined): AsyncGenerator<{ chunkId: string; digest: ContentDigest }> {
  if (path === undefined) return;
  let [parent, parentId]: [{ chunkId: string; digest: ContentDigest } | undefined, string] = [undefined, ""];
  for await (const line of readLines(path)) {
    const { id, content, segmentId = "" } = cellsOf("child_chunks", line);
    if (parentId !== segmentId) {
      if (parent) yield parent;
      [parent, parentId] = [{ chunkId: JSON.parse(segmentId), digest: new ContentDigest() }, segmentId];
    }
    parent?.digest.addJson(id, content);
  }
  if (parent) yield parent;
}

/** The cells of a stored row that a sweep compares, as JSON text. */
interface StoredCells {
  readonly id: string;
  readonly content: string;
  /** The answer of a chunk. */
  readonly answer?: string;
  /** The parent of a child chunk. */
  readonly segmentId?: string;
}

/**
 * Finds the cells of a chunk or child chunk in its JSONL line, ten times as fast as parsing it. Searching for the quoted
 * column names is safe: quotes inside strings are escaped, and no earlier column has an object.
 */
export function cellsOf(kind: "chunks" | "child_chunks", line: string): StoredCells {
  if (kind === "child_chunks") {
    const segmentId = cellBetween(line, '"segment_id":', ',"id":', 0);
    const id = cellBetween(line, '"id":', ',"position":', segmentId.end);
    const content = cellBetween(line, '"content":', ',"word_count":', id.end);
    return { id: id.text, content: content.text, segmentId: segmentId.text };
  }
  const id = cellBetween(line, '"id":', ',"position":', 0);
  const content = cellBetween(line, '"content":', ',"answer":', id.end);
  const answer = cellBetween(line, '"answer":', ',"word_count":', content.end);
  return { id: id.text, content: content.text, answer: answer.text };
}

/** The text between a name and the next one, from an offset. */
function cellBetween(line: string, name: string, next: string, from: number): { text: string; end: number } {
  const start = line.indexOf(name, from) + name.length;
  const end = line.indexOf(next, start);
  if (start < name.length || end < 0) throw new Error("a segment has a line that kbdump did not write");
  return { text: line.slice(start, end), end };
}

/** The embedded children of a chunk, with the chunk's id. */
interface EmbeddedLine extends KeptChildren {
  readonly chunkId: string;
}

/** The embedded children of chunks as JSON lines, one for each chunk that has at least `least`. `first` is the index of the first chunk. */
export function embeddedLines(chunks: readonly Listed[], first: number, least = 1): readonly string[] {
  return chunks.flatMap((chunk, at) => {
    const children = embeddedChildren(chunk) ?? [];
    return children.length >= least ? [jsonText([first + at, chunk.id, children])] : [];
  });
}

/** Reads the lines of a file that `embeddedLines` wrote. Numbers stay exact. */
export async function* readEmbedded(path: string): AsyncGenerator<EmbeddedLine> {
  for await (const line of readLines(path)) {
    const value = parseJson(line);
    const [index, chunkId, children]: unknown[] = Array.isArray(value) ? value : [];
    if (typeof index !== "number" || typeof chunkId !== "string" || !Array.isArray(children)) {
      throw new Error(`${path} holds a line that kbdump did not write`);
    }
    yield { index, chunkId, children: children.filter(isListed) };
  }
}
