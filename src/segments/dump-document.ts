import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { IdSet } from "../crawl/id-set.js";
import type { ReportProblem } from "../crawl/read-list.js";
import { type Flaws, MovedError, readUntilStill } from "../crawl/read-whole-list.js";
import { SkipError } from "../errors.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { RunProgress } from "../job/run-progress.js";

import type { Kind } from "../rows/columns.js";
import { DocumentAttempt, type DumpOptions, type Earlier } from "./document-attempt.js";
import {
  type DocumentProgress,
  type DocumentResult,
  type DumpedDocument,
  type Proof,
  progressSchema,
  type ReadSoFar,
  resultSchema,
} from "./document-result.js";
import { DocumentStore } from "./document-store.js";
import { readLines, segmentPath } from "./segment.js";
import { type SegmentPaths, sweepsOf } from "./sweep-document.js";

/** Flaws that are named. */
const most = 5;

type Store = DocumentStore<DocumentProgress, DocumentResult>;

/**
 * Reads one document into its parts, or goes on where an earlier process stopped, and proves it as the job wants it; one that
 * is gone on with is always swept. A document that moves while it is read is read again, three times in all, from its end
 * where it only grew; then it is `unstable`, and has what there was, each id once. So is one of which the service cannot
 * render some rows. One that cannot be read is `failed` and has no rows.
 */
export async function dumpDocument(
  api: KnowledgeApi,
  ref: DocumentRef,
  name: string,
  options: DumpOptions,
): Promise<DumpedDocument> {
  const found = options.shared?.found(name);
  if (found) {
    countFinished(found.state, options.progress);
    return documentOf(found.state, found.files, true);
  }
  const store: Store = new DocumentStore(options.segments, name, options.formats);
  const isBegun = options.begun.has(name);
  const finished = isBegun ? await store.result(resultSchema) : undefined;
  if (finished && !(options.retryFailed && finished.row.status !== "complete")) {
    countFinished(finished, options.progress);
    return documentOf(finished, store.files, true);
  }
  if (finished) await store.discard();

  const { consistency } = options.job;
  const saved = isBegun ? await store.resume(progressSchema) : undefined;
  let earlier = saved?.read ? await withIds(saved.read, segment(options, name, "chunks")) : undefined;
  let at = saved?.attempt ?? { number: 1, sweeps: 0, fromTheEnd: consistency === "anchored" };
  const read = async (flaws: Flaws): Promise<DumpedDocument> => {
    const attempt = new DocumentAttempt(ref, store, at, options, earlier);
    try {
      await attempt.read(api, flaws.report);
      const isSwept = flaws.texts.length === 0 && (consistency !== "counts" || earlier !== undefined);
      const proof = isSwept
        ? await sweep(api, ref, attempt, () => pathsOf(options, name, store), options, flaws.report)
        : proofByCounts(attempt);
      const error = flaws.texts.join("; ") || null;
      const result = attempt.result(error === null ? "complete" : "unstable", error, proof);
      const files = await store.finish(result, error === null ? options.shared : undefined);
      return documentOf(result, files, false);
    } catch (error) {
      if (!(error instanceof MovedError) && !(error instanceof SkipError)) {
        await store.leave();
        throw error;
      }
      attempt.takeBack();
      if (error instanceof SkipError) {
        await store.discard();
        return documentOf(attempt.result("failed", error.message, "none"), [], false);
      }
      at = { number: at.number + 1, sweeps: attempt.sweeps, fromTheEnd: error.kind === "grew" };
      earlier = undefined;
      await store.discard({ attempt: at, read: null });
      throw error;
    }
  };
  return readUntilStill(read, { first: at.number, most });
}

/** Reads every list again that took more than one answer, and names the proof that this is. */
async function sweep(
  api: KnowledgeApi,
  ref: DocumentRef,
  attempt: DocumentAttempt,
  pathsOf: () => Promise<SegmentPaths>,
  { job, prefetch }: DumpOptions,
  problem: ReportProblem,
): Promise<Proof> {
  const ranksSuffice = job.consistency !== "sweeps";
  const sweeps = attempt.isOneAnswer
    ? []
    : await sweepsOf(api, ref, await pathsOf(), attempt, { prefetch, problem, ranksSuffice });
  if (sweeps.length > 0) attempt.sweeps++;
  for (const one of sweeps) await one();
  if (attempt.isAnchored) return "anchored";
  return sweeps.length > 0 ? "sweeps" : "one answer";
}

/** The proof of a document of which nothing is read again. */
function proofByCounts({ isAnchored, isSettled, isOneAnswer, hasShortLists }: DocumentAttempt): Proof {
  if (isOneAnswer) return "one answer";
  return isAnchored && isSettled && hasShortLists ? "anchored" : "counts";
}

/** Removes what an earlier process read of a document. */
export async function discardDocument(name: string, { segments, formats }: DumpOptions): Promise<void> {
  await new DocumentStore(segments, name, formats).discard();
}

async function pathsOf(options: DumpOptions, name: string, store: Store): Promise<SegmentPaths> {
  await store.flush();
  return {
    chunks: segment(options, name, "chunks"),
    childChunks: segment(options, name, "child_chunks"),
    aside: store.hasAside ? store.asidePath : undefined,
  };
}

const segment = ({ segments }: DumpOptions, name: string, kind: Kind) => segmentPath(segments, name, kind, "jsonl");

/** The ids of the chunks that an earlier process read stand in their rows. */
async function withIds(read: ReadSoFar, chunks: string): Promise<Earlier> {
  const ids = new IdSet();
  if (read.counts.chunks > 0) for await (const line of readLines(chunks)) ids.add(String(JSON.parse(line).id));
  return { read, ids };
}

/** Named one by one: spread, each object would have a hidden class of its own, and V8 keeps 400 bytes of it. */
function documentOf(
  { row, drift, childLists, proof }: DocumentResult,
  files: readonly SegmentFile[],
  isOld: boolean,
): DumpedDocument {
  return { row, drift, childLists, proof, files, isOld };
}

function countFinished({ row }: DocumentResult, progress: RunProgress): void {
  progress.documentsFound++;
  progress.chunks += row.chunk_count;
  progress.child_chunks += row.child_chunk_count;
}
