import type { DocumentRef, KnowledgeApi } from "../../client/knowledge-api.js";
import { IdSet } from "../../crawl/id-set.js";
import type { ProblemKind, TellProblem } from "../../crawl/problems.js";
import { SkipError } from "../../errors.js";
import type { Kind } from "../../rows/columns.js";
import type { RunTally } from "../setting/run-tally.js";
import { partPath } from "../work/document-parts.js";
import { DocumentStore } from "../work/document-store.js";
import { readLines } from "../work/read-lines.js";
import { DocumentAttempt } from "./document-attempt.js";
import {
  checkProgress,
  checkResult,
  type DocumentProgress,
  type DocumentResult,
  type DumpedDocument,
} from "./document-result.js";
import type { DumpOptions, Earlier } from "./dump-options.js";
import type { Proof } from "./proof.js";
import { type PartPaths, sweepsOf } from "./sweep-document.js";

/** Times that a document is read before it is taken as it is. */
const attempts = 3;
/** Flaws that are named. */
const named = 5;

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
    return { ...finished, files: store.files, isOld: true };
  }
  if (finished) await store.discard();

  const { consistency } = options.job;
  let earlier = isBegun ? await resumed(store, part(options, name, "chunks")) : undefined;
  let sweeps = earlier?.progress.sweeps ?? 0;
  let fromTheEnd = consistency === "anchored";
  for (let number = earlier?.progress.attempt ?? 1; ; number++, earlier = undefined) {
    const flaws = new Flaws(number === attempts);
    if (!earlier) sweeps++;
    const numbers = { number, sweeps, fromTheEnd: fromTheEnd && isWhole(ref) };
    const attempt = new DocumentAttempt(ref, store, numbers, options, earlier);
    try {
      await attempt.read(api, flaws.tell);
      let swept: number | undefined;
      if (flaws.text === null && (consistency !== "counts" || earlier)) {
        const todo = await sweepsOf(api, ref, await pathsOf(options, name, store), attempt, {
          lookAhead: options.lookAhead,
          problem: flaws.tell,
          ranksSuffice: consistency !== "sweeps",
        });
        swept = todo.length;
        if (swept > 0) sweeps++;
        for (const sweep of todo) await sweep();
      }
      const status = flaws.text === null ? "complete" : "unstable";
      const result = attempt.result(status, sweeps, flaws.text, proofFrom(attempt, swept));
      await store.finish(result);
      return { ...result, files: store.files, isOld: false };
    } catch (error) {
      if (!(error instanceof MovedError) && !(error instanceof SkipError)) {
        await store.leave();
        throw error;
      }
      attempt.takeBack();
      await store.discard();
      if (error instanceof SkipError)
        return { ...attempt.result("failed", sweeps, error.message, "none"), files: [], isOld: false };
      fromTheEnd = error.kind === "grew";
    }
  }
}

/** Removes what an earlier process read of a document. */
export async function discardDocument(name: string, { parts, formats }: DumpOptions): Promise<void> {
  await new DocumentStore(parts, name, formats).discard();
}

/** Collects the flaws of one reading of a document; ends the reading where the document is to be read again. */
class Flaws {
  readonly #isLast: boolean;
  readonly #texts = new Set<string>();
  #more = 0;

  /** `isLast`: the document is taken as it is read. */
  constructor(isLast: boolean) {
    this.#isLast = isLast;
  }

  readonly tell: TellProblem = (text, kind = "moved") => {
    if (!this.#isLast && kind !== "unreadable") throw new MovedError(text, kind);
    if (this.#texts.has(text)) return;
    if (this.#texts.size < named) this.#texts.add(text);
    else this.#more++;
  };

  /** In one sentence; null where nothing is wrong. */
  get text(): string | null {
    if (this.#texts.size === 0) return null;
    return [...this.#texts, ...(this.#more > 0 ? [`and ${this.#more} more`] : [])].join("; ");
  }
}

/** Rows may come and go in a filtered list wherever they stand. */
function isWhole({ status, keyword }: DocumentRef): boolean {
  return status.length === 0 && keyword === undefined;
}

/** `swept`: lists that were read twice; undefined where counts are all that was asked for. */
function proofFrom({ isAnchored, isOneAnswer, hasShortLists }: DocumentAttempt, swept: number | undefined): Proof {
  if (swept !== undefined && isAnchored) return "anchored";
  if (swept !== undefined) return swept > 0 ? "sweeps" : "one answer";
  if (isOneAnswer) return "one answer";
  return isAnchored && hasShortLists ? "anchored" : "counts";
}

async function pathsOf(options: DumpOptions, name: string, store: Store): Promise<PartPaths> {
  await store.flush();
  return {
    chunks: part(options, name, "chunks"),
    childChunks: part(options, name, "child_chunks"),
    aside: store.hasAside ? store.asidePath : undefined,
  };
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
