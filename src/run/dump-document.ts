import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { IdSet } from "../crawl/id-set.js";
import type { ProblemKind, TellProblem } from "../crawl/problems.js";
import { SkipError } from "../errors.js";
import type { Kind } from "../normalise/columns.js";
import { DocumentAttempt, type Earlier } from "./document-attempt.js";
import { partPath } from "./document-parts.js";
import {
  checkProgress,
  checkResult,
  type DocumentProgress,
  type DocumentResult,
  type DumpedDocument,
} from "./document-result.js";
import { DocumentStore } from "./document-store.js";
import type { DumpOptions } from "./dump-options.js";
import type { Proof } from "./proof.js";
import { readLines } from "./read-lines.js";
import type { RunTally } from "./run-tally.js";
import { sweepDocument } from "./sweep-document.js";

/** Times that a document is read before it is taken as it is. */
const attempts = 3;

type Store = DocumentStore<DocumentProgress, DocumentResult>;

/** The document is not whole as it was read, and is read again. */
class MovedError extends Error {
  readonly kind: ProblemKind;

  constructor(text: string, kind: ProblemKind) {
    super(text);
    this.kind = kind;
  }
}

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
  const store: Store = new DocumentStore(options.parts, name, options.formats);
  const isBegun = options.begun.has(name);
  const finished = isBegun ? await store.result(checkResult) : undefined;
  if (finished && !(options.retryFailed && finished.row.status !== "complete")) {
    countFinished(finished, options.tally);
    return { ...finished, files: store.files };
  }
  if (finished) await store.discard();

  const { consistency } = options.job;
  let earlier = isBegun ? await resumed(store, part(options, name, "chunks")) : undefined;
  let sweeps = earlier?.progress.sweeps ?? 0;
  let fromTheEnd = consistency === "anchored";
  for (let number = earlier?.progress.attempt ?? 1; ; number++, earlier = undefined) {
    const problems = new Set<string>();
    const problem: TellProblem = (text, kind = "moved") => {
      if (number < attempts && kind !== "unreadable") throw new MovedError(text, kind);
      problems.add(text);
    };
    if (!earlier) sweeps++;
    const attempt = new DocumentAttempt(
      ref,
      store,
      { number, sweeps, fromTheEnd: fromTheEnd && isWhole(ref) },
      options,
      earlier,
    );
    try {
      await attempt.read(api, problem);
      let proof = countedProof(attempt);
      if (consistency !== "counts" || earlier) {
        await store.flush();
        const paths = {
          chunks: part(options, name, "chunks"),
          childChunks: part(options, name, "child_chunks"),
          aside: store.hasAside ? store.asidePath : undefined,
        };
        proof = attempt.isAnchored ? "anchored" : "one answer";
        let swept = 0;
        const sweeping = { lookAhead: options.lookAhead, problem, ranksSuffice: consistency !== "sweeps" };
        for await (const _list of sweepDocument(api, ref, paths, attempt, sweeping)) {
          if (swept++ === 0) sweeps++;
          if (!attempt.isAnchored) proof = "sweeps";
        }
      }
      const status = problems.size > 0 ? "unstable" : "complete";
      const error = [...problems].slice(0, 5).join("; ") || null;
      const result = attempt.result(status, sweeps, error, proof);
      await store.finish(result);
      return { ...result, files: store.files };
    } catch (error) {
      if (!(error instanceof MovedError) && !(error instanceof SkipError)) {
        await store.leave();
        throw error;
      }
      attempt.takeBack();
      await store.discard();
      if (error instanceof SkipError) return { ...attempt.result("failed", sweeps, error.message, "none"), files: [] };
      fromTheEnd = error.kind === "grew";
    }
  }
}

/** Rows may come and go in a filtered list wherever they stand. */
function isWhole({ status, keyword }: DocumentRef): boolean {
  return status.length === 0 && keyword === undefined;
}

/** The proof of a document of which nothing was read twice. */
function countedProof({ isAnchored, isOneAnswer }: DocumentAttempt): Proof {
  if (isOneAnswer) return "one answer";
  return isAnchored ? "anchored" : "counts";
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
