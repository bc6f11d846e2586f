import type { KnowledgeApi } from "../client/knowledge-api.js";
import type { Client } from "../client/open-client.js";
import { type Discovery, type DocumentToRead, documentsOf, namesOf } from "../crawl/discovery.js";
import { halvingPages, type ReadSizedPage } from "../crawl/halve-pages.js";
import { Prefetch } from "../crawl/prefetch.js";
import { ListProof, readList } from "../crawl/read-list.js";
import type { TextFormat } from "../dump/formats/format.js";
import { SkipError } from "../errors.js";
import { forEachOf } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";

import type { Log } from "../log.js";
import type { Workspace } from "../store/lease.js";
import { countOf } from "../words.js";
import type { DumpOptions } from "./document-attempt.js";
import { type DocumentResult, type DumpedDocument, resultSchema, sentenceOf } from "./document-result.js";
import { discardDocument, dumpDocument } from "./dump-document.js";
import { namesIn } from "./segment.js";
import { SharedSegments } from "./shared-segments.js";

export interface ReadOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  readonly workspace: Workspace;
  readonly progress: RunProgress;
  readonly now: () => Date;
  readonly log: Log;
  readonly retryFailed: boolean;
}

/** Maximum pages to prefetch per concurrent request, not counting the next page of each list. */
export const pagesPerSlot = 2;
/**
 * Documents to read at once per concurrent request. More than one, because a small document has only one request in flight at
 * a time.
 */
export const documentsPerSlot = 2;

/** All documents of a run, and notes about the reading. */
interface DocumentsRead {
  /** The documents, in the order of the job. */
  readonly documents: readonly DumpedDocument[];
  readonly notes: readonly string[];
}

/** The prefetch limit of one run. */
export function prefetchOf({ service }: ReadOptions["job"]): Prefetch {
  return new Prefetch(service.concurrency * pagesPerSlot);
}

/**
 * Reads every document, then finds those that changed since they were listed and reads them once more. The second reading is used
 * if it is complete, or if it did not fail and the first is incomplete.
 */
export async function readDocuments(api: Client, discovery: Discovery, options: ReadOptions): Promise<DocumentsRead> {
  const shared = await SharedSegments.open(options.workspace.segments, resultSchema);
  try {
    return await readAll(api, discovery, shared, options);
  } finally {
    await shared.close();
  }
}

async function readAll(
  api: Client,
  discovery: Discovery,
  shared: SharedSegments<DocumentResult>,
  options: ReadOptions,
): Promise<DocumentsRead> {
  const { job, progress, workspace, log } = options;
  const placed = documentsOf(discovery);
  const names = namesOf(discovery);
  progress.documents = placed.length;
  const prefetch = prefetchOf(job);
  const begun = await namesIn(workspace.segments);
  const atOnce = job.service.concurrency * documentsPerSlot;
  const dumping = { ...options, segments: workspace.segments, begun, prefetch };
  const sharing = { ...dumping, shared };
  const read = ({ ref, name }: DocumentToRead, how: DumpOptions) =>
    dumpDocument(api, ref, name, how).catch((error: unknown) => {
      api.stop(error); // an error that cannot be skipped ends the run: the others must stop too
      throw error;
    });

  const documents: DumpedDocument[] = [];
  await forEachOf(placed, atOnce, async (place, index) => {
    const result = await read(place, sharing);
    documents[index] = result;
    progress.documentsDone++;
    if (result.row.status === "failed") progress.documentsFailed++;
    const endsRun = placed.length === 1 && result.row.status === "failed" && !job.shard; // the error of the run says the same
    if (result.row.status !== "complete" && !endsRun) log("warn", sentenceOf(result.row, names));
  });

  if (documents.every(({ row }) => row.status === "failed")) return { documents, notes: [] };
  const { ids, notes } = await findMovedDocuments(api, discovery, prefetch);
  for (const note of notes) log("warn", note);
  for (const [index, { name }] of placed.entries())
    if (begun.has(secondName(name)) && !documents[index]?.isOld) await discardDocument(secondName(name), dumping);
  const isSecondBegun = (index: number, name: string) =>
    begun.has(secondName(name)) && documents[index]?.isOld === true;
  const again = [...placed.entries()].filter(
    ([index, { ref, name }]) =>
      documents[index]?.row.status !== "failed" && (ids.has(ref.documentId) || isSecondBegun(index, name)),
  );
  if (again.length > 0) progress.step = "reading changed documents again";
  if (again.length > 0)
    log("info", `${countOf(again.length, "document")} changed since the run listed them: reading them again`);
  await forEachOf(again, atOnce, async ([index, { ref, name }]) => {
    const second = await read({ ref, name: secondName(name) }, dumping);
    const first = documents[index];
    if (first) documents[index] = newerOf(first, second, progress);
  });
  return { documents, notes };
}

/** The name for the segments of a second reading. It differs from the first, so that either can be removed separately. */
const secondName = (name: string): string => `${name}_again`;

/** Picks the better reading, preferring the second. The progress drops the rows of the other. */
function newerOf(first: DumpedDocument, second: DumpedDocument, progress: RunProgress): DumpedDocument {
  const isWorse =
    second.row.status === "failed" || (second.row.status !== "complete" && first.row.status === "complete");
  const dropped = isWorse ? second : first;
  progress.chunks -= dropped.row.chunk_count;
  progress.child_chunks -= dropped.row.child_chunk_count;
  return isWorse ? first : second;
}

/** Documents whose length shows that they changed since they were listed. */
interface MovedDocuments {
  readonly ids: ReadonlySet<string>;
  /** A sentence for every list that could not be read again. */
  readonly notes: readonly string[];
}

/**
 * Lists the documents again, if they were listed before, and finds those whose `word_count` changed: the service updates it when a
 * chunk is added, deleted, or edited to another length. It is a hint, not a proof, because other edits do not change it. A shard
 * checks only its own documents. The lists are read once, without a proof. A list that cannot be read adds only a note.
 */
export async function findMovedDocuments(
  api: Pick<KnowledgeApi, "documents">,
  { found }: Discovery,
  prefetch: Prefetch,
): Promise<MovedDocuments> {
  const before = new Map(found?.rows.map(({ document_id, word_count }) => [document_id, word_count]));
  const lists = new Set(found?.rows.map(({ dataset_id: id }) => String(id)));
  const ids = new Set<string>();
  const notes: string[] = [];
  const compare = async (datasetId: string) => {
    try {
      const read: ReadSizedPage = (page, limit) => api.documents(datasetId, page, limit);
      const readPage = halvingPages(read, { name: "documents", problem: () => {} });
      const proof = new ListProof("documents", () => {});
      for await (const page of readList(readPage, prefetch)) {
        for (const { id, word_count: now } of proof.add(page)) {
          const then = before.get(id);
          if (typeof then === "number" && typeof now === "number" && then !== now) ids.add(id);
        }
        if (proof.isStuck) break;
      }
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      notes.push(
        `the documents of dataset ${datasetId} could not be listed again, so documents that changed meanwhile were not read again: ${error.message}`,
      );
    }
  };
  await Promise.all([...lists].map(compare));
  return { ids, notes };
}
