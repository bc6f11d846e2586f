import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { IdSet } from "../crawl/id-set.js";
import { SkipError } from "../errors.js";
import type { Kind } from "../normalise/columns.js";
import { DocumentAttempt, type DumpOptions, type Earlier } from "./document-attempt.js";
import { partPath } from "./document-parts.js";
import {
  checkProgress,
  checkResult,
  type DocumentProgress,
  type DocumentResult,
  type DumpedDocument,
} from "./document-result.js";
import { DocumentStore } from "./document-store.js";
import { readLines } from "./read-lines.js";
import type { RunTally } from "./run-tally.js";
import { sweepDocument } from "./sweep-document.js";

/** Times that a document is read before it is taken as it is. */
const attempts = 3;

type Store = DocumentStore<DocumentProgress, DocumentResult>;

class MovedError extends Error {}

/**
 * Reads one document into its parts, or goes on where an earlier process stopped. A document that moves while it is read
 * is read again, three times in all; then it is `unstable`, and has what there was, each id once. One that cannot be
 * read is `failed` and has no rows. With `consistency: sweeps` every reading is followed by a second sweep.
 */
export async function dumpDocument(
  api: KnowledgeApi,
  ref: DocumentRef,
  name: string,
  options: DumpOptions,
): Promise<DumpedDocument> {
  const store: Store = new DocumentStore(options.parts, name, options.formats);
  const isBegun = options.begun.has(name);
  const finished = isBegun ? await store.result(checkResult) : undefined;
  if (finished && !(options.retryFailed && finished.row.status !== "complete")) {
    countFinished(finished, options.tally);
    return { ...finished, files: store.files };
  }
  if (finished) await store.discard();

  const paths = {
    chunks: part(options, name, "chunks"),
    childChunks: part(options, name, "child_chunks"),
    aside: store.asidePath,
  };
  const twice = options.job.consistency === "sweeps";
  let earlier = isBegun ? await resumed(store, paths.chunks) : undefined;
  let sweeps = ((earlier?.progress.attempt ?? 1) - 1) * (twice ? 2 : 1);
  for (let number = earlier?.progress.attempt ?? 1; ; number++, earlier = undefined) {
    const problems: string[] = [];
    const problem = (text: string) => {
      if (number < attempts) throw new MovedError(text);
      problems.push(text);
    };
    const attempt = new DocumentAttempt(ref, store, number, options, earlier);
    try {
      sweeps++;
      await attempt.read(api, problem);
      if (twice) {
        sweeps++;
        await store.flush();
        await sweepDocument(api, ref, paths, attempt, { lookAhead: options.lookAhead, problem });
      }
      const status = problems.length > 0 ? "unstable" : "complete";
      const result = attempt.result(status, sweeps, problems.slice(0, 5).join("; ") || null);
      await store.finish(result);
      return { ...result, files: store.files };
    } catch (error) {
      if (!(error instanceof MovedError) && !(error instanceof SkipError)) {
        await store.leave();
        throw error;
      }
      attempt.takeBack();
      await store.discard();
      if (error instanceof SkipError) return { ...attempt.result("failed", sweeps, error.message), files: [] };
    }
  }
}

const part = ({ parts }: DumpOptions, name: string, kind: Kind) => partPath(parts, name, kind, "jsonl");

/** Where an earlier process stopped; the ids of the chunks stand in their rows. */
async function resumed(store: Store, chunks: string): Promise<Earlier | undefined> {
  const progress = await store.resume(checkProgress);
  if (!progress) return undefined;
  const ids = new IdSet();
  if (progress.counts.chunks > 0) for await (const line of readLines(chunks)) ids.add(String(JSON.parse(line).id));
  return { progress, ids };
}

function countFinished({ row }: DocumentResult, tally: RunTally): void {
  tally.chunks += row.chunk_count;
  tally.child_chunks += row.child_chunk_count;
}
