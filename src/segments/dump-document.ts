import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import type { HowFar } from "../crawl/how-far.js";
import { IdSet } from "../crawl/id-set.js";
import { type Flaws, MovedError, readUntilStill } from "../crawl/read-until-still.js";
import { SkipError } from "../errors.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { RunProgress } from "../job/run-progress.js";

import type { Kind } from "../rows/columns.js";
import { DocumentAttempt, type DumpOptions, type Earlier } from "./document-attempt.js";
import { DocumentOnDisk } from "./document-on-disk.js";
import {
  type DocumentProgress,
  type DocumentResult,
  type DumpedDocument,
  isFinished,
  type Proof,
  progressSchema,
  type ReadSoFar,
  resultSchema,
} from "./document-result.js";
import { readLines, segmentPath } from "./segment.js";
import { type SegmentPaths, type Sweep, sweepsOf } from "./sweep-document.js";

/** Maximum flaws to name in the error of a document. */
const most = 5;

type OnDisk = DocumentOnDisk<DocumentProgress, DocumentResult>;

/**
 * Reads one document into its segments, or continues where an earlier process stopped, and proves it as the job requires. A resumed
 * document is always swept. A document that changes during the read is read at most three times, from its end if it only grew.
 * After that it is `unstable` and keeps the rows of the last read, each id once. A document with rows that the service cannot
 * render is `unstable` too. A document that cannot be read is `failed` and has no rows.
 */
export async function dumpDocument(
  api: KnowledgeApi,
  ref: DocumentRef,
  name: string,
  options: DumpOptions,
): Promise<DumpedDocument> {
  const formats = options.formats.map(({ format }) => format);
  const isSound = (result: DocumentResult, files: readonly SegmentFile[]) =>
    isFinished(ref, { ...result, files }, formats);
  const found = options.shared?.found(name);
  if (found && isSound(found.state, found.files)) {
    countFinished(found.state, options.progress);
    return documentOf(found.state, found.files, true);
  }
  const onDisk: OnDisk = new DocumentOnDisk(options.segments, name, options.formats);
  const isBegun = options.begun.has(name);
  const finished = isBegun ? await onDisk.result(resultSchema) : undefined;
  const isWanted = finished?.row.status === "complete" || !options.retryFailed;
  if (finished && isWanted && isSound(finished, onDisk.files)) {
    countFinished(finished, options.progress);
    return documentOf(finished, onDisk.files, true);
  }
  if (finished) await onDisk.discard();

  const { consistency } = options.job;
  const saved = isBegun ? await onDisk.resume(progressSchema) : undefined;
  let earlier = saved?.read ? await withIds(saved.read, segment(options, name, "chunks")) : undefined;
  let at = saved?.attempt ?? { number: 1, sweeps: 0, fromTheEnd: consistency === "anchored" };
  const read = async (flaws: Flaws): Promise<DumpedDocument> => {
    const attempt = new DocumentAttempt(ref, onDisk, at, options, earlier);
    let sweeps = at.sweeps + 1;
    try {
      await attempt.read(api, flaws.report);
      const isSwept = flaws.texts.length === 0 && (consistency !== "counts" || earlier !== undefined);
      const again = isSwept ? await sweepsFor(attempt) : [];
      if (again.length > 0) sweeps++;
      for (const sweep of again) await sweep();
      const error = flaws.texts.join("; ") || null;
      const proof = proofOf(attempt.howFar, again.length, isSwept);
      const result = attempt.result(error === null ? "complete" : "unstable", error, proof, sweeps);
      const files = await onDisk.finish(result, error === null ? options.shared : undefined);
      return documentOf(result, files, false);
    } catch (error) {
      if (!(error instanceof MovedError) && !(error instanceof SkipError)) {
        await onDisk.leave();
        throw error;
      }
      attempt.takeBack();
      if (error instanceof SkipError) {
        await onDisk.discard();
        return documentOf(attempt.result("failed", error.message, "none", sweeps), [], false);
      }
      at = { number: at.number + 1, sweeps, fromTheEnd: error.kind === "grew" };
      earlier = undefined;
      await onDisk.discard({ attempt: at, read: null });
      throw error;
    }

    /** Returns one sweep for every list that took more than one answer. */
    async function sweepsFor({ howFar }: DocumentAttempt): Promise<readonly Sweep[]> {
      if (!howFar || isOneAnswer(howFar)) return [];
      const { prefetch } = options;
      const sweeping = { prefetch, problem: flaws.report, ranksSuffice: consistency !== "sweeps" };
      return sweepsOf(api, ref, await pathsOf(options, name, onDisk), howFar, sweeping);
    }
  };
  return readUntilStill(read, { first: at.number, most });
}

/**
 * How a document without flaws was proved complete. `sweeps`: the number of lists that were read twice. `isSwept`: whether all
 * lists that needed it were.
 */
function proofOf(howFar: HowFar | undefined, sweeps: number, isSwept: boolean): Proof {
  if (!howFar) return "none";
  const { chunks, children } = howFar;
  if (isSwept) return chunks.isAnchored ? "anchored" : sweeps > 0 ? "sweeps" : "one answer";
  if (isOneAnswer(howFar)) return "one answer";
  return chunks.isAnchored && chunks.isSettled && !children.isSplit ? "anchored" : "counts";
}

/** Whether every list came in one answer. */
function isOneAnswer({ chunks, children }: HowFar): boolean {
  return chunks.answers <= 1 && !children.isSplit;
}

/** Removes everything that an earlier process stored for a document. */
export async function discardDocument(name: string, { segments, formats }: DumpOptions): Promise<void> {
  await new DocumentOnDisk(segments, name, formats).discard();
}

async function pathsOf(options: DumpOptions, name: string, onDisk: OnDisk): Promise<SegmentPaths> {
  await onDisk.flush();
  return {
    chunks: segment(options, name, "chunks"),
    childChunks: segment(options, name, "child_chunks"),
    aside: onDisk.hasAside ? onDisk.asidePath : undefined,
  };
}

const segment = ({ segments }: DumpOptions, name: string, kind: Kind) => segmentPath(segments, name, kind, "jsonl");

/** Adds the ids of the chunks that an earlier process read, from their rows. */
async function withIds(read: ReadSoFar, chunks: string): Promise<Earlier> {
  const ids = new IdSet();
  if (read.howFar.chunks.rows > 0) for await (const line of readLines(chunks)) ids.add(String(JSON.parse(line).id));
  return { read, ids };
}

/**
 * Combines the result of a document with its files. Lists the properties by name: with a spread, each object would get its own
 * hidden class, and V8 keeps 400 bytes for it.
 */
function documentOf(
  { row, drift, childLists, proof, edited }: DocumentResult,
  files: readonly SegmentFile[],
  isOld: boolean,
): DumpedDocument {
  return { row, drift, childLists, proof, edited, files, isOld };
}

function countFinished({ row }: DocumentResult, progress: RunProgress): void {
  progress.documentsFound++;
  progress.chunks += row.chunk_count;
  progress.child_chunks += row.child_chunk_count;
}
