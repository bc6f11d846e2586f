import { basename } from "node:path";
import type { Client } from "../client/open-client.js";
import type { LookAhead } from "../crawl/look-ahead.js";
import { isThere } from "../dump/files/is-there.js";
import type { PartFile } from "../dump/files/join-parts.js";
import type { TextFormat } from "../dump/formats/format.js";
import { isRunId } from "../dump/manifest/run-id.js";
import type { Attempt, AttemptFile, Exchange } from "../exchange/exchange.js";
import type { Job } from "../job/job.js";
import type { PlacedDocument } from "../run/discover/discovery.js";
import type { DumpedDocument } from "../run/documents/document-result.js";
import { dumpDocument } from "../run/documents/dump-document.js";
import { emptyRunTally, type RunTally } from "../run/setting/run-tally.js";
import { planHash } from "../run/work/plan-hash.js";
import { type DocumentJob, documentJobSchema, refusalOf } from "../run/workers/document-job.js";
import { type Handed, planFile, type TriedReason } from "../run/workers/exchange-files.js";
import type { ToldProgress } from "../run/workers/workers-progress.js";
import { valueIf } from "../schema.js";
import { tool } from "../tool.js";
import type { KnownRuns } from "./known-runs.js";
import type { ToldRequests } from "./told-requests.js";

/** Everything that a worker needs to read a document. */
export interface Taking {
  readonly job: Job;
  readonly name: string;
  readonly client: Client;
  readonly formats: readonly TextFormat[];
  readonly lookAhead: LookAhead;
  readonly exchangeOf: (runId: string) => Promise<Exchange>;
  readonly known: KnownRuns;
  readonly requests: ToldRequests;
}

/** read: the run has taken it. late: another worker was faster, or the run is over. in vain: it could not be read whole. */
export type Taken = { readonly outcome: "read" | "late" | "in vain"; readonly document: DumpedDocument | undefined };

/** This worker must not read the document; the message says why. */
export class RefusedError extends Error {}

/** Hears of a document while it is read. */
export interface TakingListener {
  /** It is certain that this worker may read the document; it belongs to this run. */
  readonly began: (runId: string) => void;
  /** How far the document is, about once a second. */
  readonly read: (read: ToldProgress) => void;
}

/**
 * Reads one document for a run and hands it over. Rejects with RefusedError where it
 * is none of this worker's, and with what ends a run: a service that cannot be reached, a full disk.
 */
export async function takeDocument(queued: unknown, taking: Taking, listener: TakingListener): Promise<Taken> {
  const { document, exchange, runId } = await findDocument(queued, taking);
  listener.began(runId);
  const tally = emptyRunTally();
  const timer = setInterval(() => listener.read(readSoFar(tally, taking)), 1_000);
  let attempt: Attempt | undefined;
  try {
    attempt = await exchange.begin(document.name);
    if (!attempt) return { outcome: "late", document: undefined };
    return await readAndHand(document, attempt, tally, taking);
  } catch (error) {
    taking.client.signal.throwIfAborted();
    if (await isOver(exchange)) return { outcome: "late", document: undefined }; // its folder was removed meanwhile
    if (attempt && !(await isThere(attempt.folder))) return { outcome: "in vain", document: undefined }; // and the run went on anew
    throw error;
  } finally {
    clearInterval(timer);
    await attempt?.drop();
  }
}

/** The document that the queue means, once it is certain that this worker may read it. */
async function findDocument(
  queued: unknown,
  { job, exchangeOf, known }: Taking,
): Promise<{ readonly document: PlacedDocument; readonly exchange: Exchange; readonly runId: string }> {
  const asked: DocumentJob | undefined = valueIf(documentJobSchema, queued);
  if (!asked || !isRunId(asked.run_id)) throw new RefusedError("this is no document of a run");
  const exchange = await exchangeOf(asked.run_id);
  const run = await known.of(exchange);
  const own = { version: tool.version, plan: planHash(job, run?.plan.list ?? undefined) };
  const refusal = refusalOf(asked, run?.plan, own);
  if (refusal !== undefined) throw new RefusedError(refusal);
  const document = run?.documents.get(asked.name);
  const isSame = document?.ref.datasetId === asked.dataset_id && document.ref.documentId === asked.document_id;
  if (!document || !isSame)
    throw new RefusedError(`document ${asked.document_id} is not in the list of run ${asked.run_id}`);
  return { document, exchange, runId: asked.run_id };
}

async function readAndHand(
  { ref, name }: PlacedDocument,
  attempt: Attempt,
  tally: RunTally,
  { job, name: worker, client, formats, lookAhead, requests }: Taking,
): Promise<Taken> {
  const parts = { job, formats, parts: attempt.folder, begun: new Set<string>(), lookAhead, tally, retryFailed: false };
  const document = await dumpDocument(client, ref, name, parts);
  const { row, drift, childLists, proof } = document;
  if (row.status !== "complete") {
    const tried: TriedReason = { worker, status: row.status, error: row.error ?? "", requests: requests.take() };
    await attempt.giveUp(JSON.stringify(tried));
    return { outcome: "in vain", document };
  }
  const files = document.files.flatMap(filesOf);
  const handed: Handed = {
    worker,
    token: attempt.token,
    result: { row, drift, childLists, proof },
    files,
    pages: tally.pagesDone,
    requests: requests.take(),
  };
  const isFirst = (await attempt.hand(files, JSON.stringify(handed))) === "first";
  return { outcome: isFirst ? "read" : "late", document };
}

/** A document that was just read has each part in a file of its own. */
function filesOf(part: PartFile): readonly AttemptFile[] {
  if (part.start !== undefined) throw new Error(`${part.path} holds the rows of several documents`);
  const { path, bytes, sha256 } = part;
  return [{ file: basename(path), bytes, sha256 }];
}

function readSoFar(tally: RunTally, { name: worker, requests }: Taking): ToldProgress {
  const { chunks, child_chunks, pagesExpected: pages_expected, pagesDone: pages } = tally;
  return { worker, sent: requests.sent, untold: requests.untold, chunks, child_chunks, pages_expected, pages };
}

/** Whether the run has let go of its exchange. */
async function isOver(exchange: Exchange): Promise<boolean> {
  return (await exchange.read(planFile)) === undefined;
}
