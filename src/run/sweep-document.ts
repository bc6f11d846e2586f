import type { Listed } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import type { ChildSource } from "../crawl/child-evidence.js";
import { ContentDigest, type Fingerprinted } from "../crawl/content-digest.js";
import { embeddedChildren } from "../crawl/embedded-children.js";
import { halvingPages } from "../crawl/halve-pages.js";
import type { LookAhead } from "../crawl/look-ahead.js";
import { sweepList } from "../crawl/sweep-list.js";
import { readEmbedded } from "./embedded-part.js";
import { readLines } from "./read-lines.js";

/** The JSONL parts of a document. A part is there only where there are rows. */
export interface PartPaths {
  readonly chunks: string;
  readonly childChunks: string;
  /** Tells which chunks embed children, where any does. */
  readonly aside: string;
}

/** What is known of a reading. */
export interface ReadRows {
  readonly counts: { readonly chunks: number; readonly child_chunks: number };
  /** Rows that came with one answer, in the largest page of a child list: a list of more may have taken several. */
  readonly childPage: number;
  /** Where the children came from; those that chunks embed came with these, and are read again with them. */
  readonly source: ChildSource;
}

/**
 * Reads the chunk pages of a document once more, and the child lists that took more than one answer, and tells `problem` of
 * every list that is not as it is stored. What is compared is what lies on the disk, whoever put it there.
 */
export async function sweepDocument(
  api: KnowledgeApi,
  ref: DocumentRef,
  paths: PartPaths,
  { counts, childPage, source }: ReadRows,
  { lookAhead, problem }: { lookAhead: LookAhead; problem: (text: string) => void },
): Promise<void> {
  const lists = () => storedChildren(counts.child_chunks > 0 ? paths.childChunks : undefined, source, paths.aside);
  const stored = new ContentDigest();
  if (counts.chunks > 0)
    for await (const line of readLines(paths.chunks)) stored.add(storedFingerprint(JSON.parse(line)));
  if (source === "embedded") for await (const { isEmbedded, digest } of lists()) if (isEmbedded) stored.merge(digest);
  const chunks = {
    name: "chunks",
    readPage: halvingPages((page, limit) => api.chunks(ref, page, limit), { name: "chunks", problem }),
    stored,
    fingerprints: source === "lists" ? fingerprintOf : fingerprintsWithChildren,
  };
  await sweepList(chunks, lookAhead, problem);
  for await (const { chunkId, digest, isEmbedded } of lists()) {
    if (isEmbedded || digest.rows <= childPage) continue;
    const name = `children of chunk ${chunkId}`;
    const list = {
      name,
      readPage: halvingPages((page, limit) => api.childChunks(ref, chunkId, page, limit), { name, problem }),
      stored: digest,
      fingerprints: fingerprintOf,
    };
    await sweepList(list, lookAhead, problem);
  }
}

/** What of a record would be stored, as far as sweeps compare it. */
function fingerprintOf({ id, content, answer }: Listed): readonly Fingerprinted[] {
  const stored = (value: unknown) => (typeof value === "string" ? value.toWellFormed() : null);
  return [{ id, content: stored(content), answer: stored(answer) }];
}

/** A chunk and the children that it embeds. */
function fingerprintsWithChildren(chunk: Listed): readonly Fingerprinted[] {
  return [chunk, ...(embeddedChildren(chunk) ?? [])].flatMap(fingerprintOf);
}

function storedFingerprint(row: Readonly<Record<string, unknown>>): Fingerprinted {
  return { id: String(row.id), content: row.content, answer: row.answer };
}

interface StoredList {
  readonly chunkId: string;
  readonly digest: ContentDigest;
  /** Whether they came with their chunk. */
  readonly isEmbedded: boolean;
}

/** The lists of children as they are stored, chunk by chunk; chunks that embed children stand in the same order. */
async function* storedChildren(
  path: string | undefined,
  source: ReadRows["source"],
  aside: string,
): AsyncGenerator<StoredList> {
  const embedding = source === "embedded" ? readEmbedded(aside) : undefined;
  let next = await embedding?.next();
  for await (const { chunkId, digest } of digestsByParent(path)) {
    const isEmbedded = next?.done === false && next.value.chunkId === chunkId;
    if (isEmbedded) next = await embedding?.next();
    yield { chunkId, digest, isEmbedded };
  }
}

/** A digest for each parent: the children of one stand together. */
async function* digestsByParent(path: string | undefined): AsyncGenerator<{ chunkId: string; digest: ContentDigest }> {
  if (path === undefined) return;
  let parent: { chunkId: string; digest: ContentDigest } | undefined;
  for await (const line of readLines(path)) {
    const row = JSON.parse(line);
    if (parent?.chunkId !== row.segment_id) {
      if (parent) yield parent;
      parent = { chunkId: row.segment_id, digest: new ContentDigest() };
    }
    parent?.digest.add(storedFingerprint(row));
  }
  if (parent) yield parent;
}
