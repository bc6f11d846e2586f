import type { Listed } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { ContentDigest, type Fingerprinted } from "../crawl/content-digest.js";
import { halvingPages } from "../crawl/halve-pages.js";
import type { LookAhead } from "../crawl/look-ahead.js";
import { sweepList } from "../crawl/sweep-list.js";
import { readLines } from "./read-lines.js";

/** The JSONL parts of a document. A part is there only where there are rows. */
export interface PartPaths {
  readonly chunks: string;
  readonly childChunks: string;
}

/** What is known of a reading. */
export interface ReadRows {
  readonly counts: { readonly chunks: number; readonly child_chunks: number };
  /** Rows that came with one answer, in the largest page of child chunks: a list of more may have taken several. */
  readonly childPage: number;
}

/**
 * Reads the chunk pages of a document once more, and the child lists that took more than one answer, and tells `problem` of
 * every list that is not as it is stored. What is compared is what lies on the disk, whoever put it there.
 */
export async function sweepDocument(
  api: KnowledgeApi,
  ref: DocumentRef,
  paths: PartPaths,
  { counts, childPage }: ReadRows,
  { lookAhead, problem }: { lookAhead: LookAhead; problem: (text: string) => void },
): Promise<void> {
  const chunks = {
    name: "chunks",
    readPage: halvingPages((page, limit) => api.chunks(ref, page, limit), { name: "chunks", problem }),
    stored: await digestOf(counts.chunks > 0 ? paths.chunks : undefined),
    fingerprint: fingerprintOf,
  };
  await sweepList(chunks, lookAhead, problem);
  for await (const { chunkId, digest } of digestsByParent(counts.child_chunks > 0 ? paths.childChunks : undefined)) {
    if (digest.rows <= childPage) continue;
    const name = `children of chunk ${chunkId}`;
    const list = {
      name,
      readPage: halvingPages((page, limit) => api.childChunks(ref, chunkId, page, limit), { name, problem }),
      stored: digest,
      fingerprint: fingerprintOf,
    };
    await sweepList(list, lookAhead, problem);
  }
}

/** What of a record would be stored, as far as sweeps compare it. */
function fingerprintOf({ id, content, answer }: Listed): Fingerprinted {
  const stored = (value: unknown) => (typeof value === "string" ? value.toWellFormed() : null);
  return { id, content: stored(content), answer: stored(answer) };
}

function storedFingerprint(row: Readonly<Record<string, unknown>>): Fingerprinted {
  return { id: String(row.id), content: row.content, answer: row.answer };
}

async function digestOf(path: string | undefined): Promise<ContentDigest> {
  const digest = new ContentDigest();
  if (path !== undefined) for await (const line of readLines(path)) digest.add(storedFingerprint(JSON.parse(line)));
  return digest;
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
