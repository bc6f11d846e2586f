import { openWriter, type Writer, type WriterOptions } from "../../client/write/writer.js";
import type { DocumentPlan, RestorePlan } from "../../compare/lost/restore-plan.js";
import type { Applied, AppliedRow } from "../restore-options.js";
import { type ApplyOptions, DocumentWork, interleave, type Waiting, withDefaults } from "./document-work.js";
import { restoreChunk } from "./restore-chunk.js";

/**
 * Executes a plan: several documents at once, one write at a time in each. Every write is in the journal before it is sent. The
 * journal is left open, so that the proof of the restore can end it. Rejects with StopError where the key is refused, and with the
 * reason of the signal.
 */
export async function applyPlan({ documents }: RestorePlan, options: ApplyOptions): Promise<Applied> {
  const stop = new AbortController();
  const full = withDefaults({ ...options, signal: AbortSignal.any([options.signal, stop.signal]) });
  const { journal, progress } = full;
  const toWrite = documents.filter(({ refused, restores }) => refused === null && restores.length > 0);
  progress.chunks += toWrite.reduce((sum, { restores }) => sum + restores.length, 0);
  const unreconciled = new Set(journal.open.map(({ document_id }) => document_id));
  const rows = new Map<DocumentPlan, readonly AppliedRow[]>();
  const queue = toWrite.values();
  const workers = Array.from({ length: Math.min(full.concurrency, toWrite.length) }, async () => {
    for (const document of queue) {
      rows.set(document, await applyDocument(document, full, unreconciled.has(document.document_id)));
    }
  });
  for (const worker of workers) worker.catch((error: unknown) => stop.abort(error));
  await Promise.allSettled(workers);
  full.signal.throwIfAborted();
  return { rows: toWrite.flatMap((document) => rows.get(document) ?? []), writes: journal.writes };
}

async function applyDocument(
  { dataset_id, document_id, doc_form, restores }: DocumentPlan,
  options: Required<ApplyOptions>,
  isUnreconciled: boolean,
): Promise<readonly AppliedRow[]> {
  const { progress } = options;
  const work = new DocumentWork(options, { datasetId: dataset_id, documentId: document_id }, doc_form);
  if (isUnreconciled)
    work.refused = "the outcome of an earlier write to this document is not known: restore it again later";
  let waiting = 0;
  const onWaiting = (count: number) => {
    progress.waiting += count - waiting;
    waiting = count;
  };
  const chunks = restores.map((restore) => counted(restoreChunk(work, restore), () => progress.chunksDone++));
  return (await interleave(chunks, { ...options, onWaiting })).flat();
}

async function* counted<T>(work: Waiting<T>, onDone: () => void): Waiting<T> {
  const result = yield* work;
  onDone();
  return result;
}

export type { Writer, WriterOptions };

/** Opens the writer for as long as the work takes. Nothing else in the program opens one. */
export async function withWriter<T>(options: WriterOptions, work: (writer: Writer) => Promise<T>): Promise<T> {
  const writer = openWriter(options);
  try {
    return await work(writer);
  } finally {
    await writer.close();
  }
}
