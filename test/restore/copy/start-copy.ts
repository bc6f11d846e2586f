import type { ChildRow, ChunkRow } from "../../../src/compare/document-rows.js";
import { SkipError } from "../../../src/errors.js";
import type { JournalLine } from "../../../src/journal/journal-schema.js";
import type { DocumentPlan } from "../../../src/restore/copy/copy-plan.js";
import { copyRows } from "../../../src/restore/copy/copy-rows.js";
import { type ApplyOptions, DocumentCopy } from "../../../src/restore/copy/document-work.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { JumpingClock } from "../../client/jumping-clock.js";
import { openTestClient } from "../../client/open-test-client.js";
import { openTestWriter } from "../../client/write/open-test-writer.js";
import type { DocumentRows } from "../../compare/lost/rows.js";
import { type FlakyOptions, startFlaky } from "../lost/flaky-service.js";
import { memoryJournal } from "./memory-journal.js";

/** A UUID that ends with the number. */
export const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

const datasetId = uuid(1);
const documentId = uuid(2);

export type Sketch = Partial<ChunkRow> & { readonly children?: readonly Partial<ChildRow>[] };

/** The rows of a document in a dump. Chunk ids start at uuid(101), child chunk ids at uuid(1001), ten for each chunk. */
export function rowsFrom(sketches: readonly Sketch[], doc_form = "text_model") {
  const chunks: ChunkRow[] = [];
  const children: ChildRow[] = [];
  for (const [at, { children: below = [], ...fields }] of sketches.entries()) {
    const row = { id: uuid(101 + at), document_id: uuid(50), position: at + 1, content: `chunk ${at + 1}` };
    chunks.push({
      ...{ ...row, answer: null, keywords: null, enabled: true, status: "completed", updated_by: null },
      ...{ created_by: null, disabled_by: null, created_at: 1, updated_at: 1, disabled_at: null },
      ...{ attachment_ids: [], summary: null, ...fields },
    });
    for (const [each, child] of below.entries()) {
      const place = { id: uuid(1001 + at * 10 + each), segment_id: row.id, position: each + 1, content: "" };
      children.push({ ...place, type: "automatic", created_at: 1, updated_at: 1, ...child });
    }
  }
  return { dataset_id: uuid(49), document_id: uuid(50), doc_form, chunks, children };
}

export type Rows = ReturnType<typeof rowsFrom>;

/** `count` plain chunks. */
export const plain = (count: number): Rows => rowsFrom(Array.from({ length: count }, () => ({})));

/** Yields the chunks of a document in a dump, like DuckDB. */
export async function* chunksOf({ chunks, children }: Pick<DocumentRows, "chunks" | "children">) {
  for (const chunk of chunks)
    yield { ...chunk, children: children.filter(({ segment_id }) => segment_id === chunk.id) };
}

function planFor(rows: Rows, fields: Partial<DocumentPlan>): DocumentPlan {
  return {
    ...{ dataset_id: rows.dataset_id, dataset_key: rows.dataset_id, document_id: rows.document_id },
    ...{
      document_name: "one.txt",
      doc_form: rows.doc_form,
      doc_language: null,
      indexing_technique: "high_quality",
      process_rule: {},
    },
    ...{ refused: null, earlier: null, chunks: rows.chunks.length, disabled: 0, children: rows.children.length },
    ...{ characters: 0, metadata: [], enabled: true, archived: false, attachments: [], attached: 0 },
    losses: [],
    ...fields,
  };
}

interface StartOptions extends Omit<FlakyOptions, "clock"> {
  readonly form?: string;
}

/** A service with one empty document, and a journal. Each call of `run` acts as a new process that continues from the journal. */
export async function startCopy({ form = "text_model", ...options }: StartOptions = {}) {
  const clock = new JumpingClock(Date.parse("2026-03-01T12:00:00Z"));
  const row = { id: documentId, name: "one.txt", doc_form: form, created_at: 1, word_count: 0, tokens: 0 };
  const dataset = { id: datasetId, name: "Small", indexing_technique: "high_quality" };
  const datasets = [{ row: dataset, documents: [{ row, chunks: [], embedsChildren: true }], batches: [] }];
  const service = await startFlaky(datasets, { clock: () => new Date(clock.now()), ...options });
  const noted: JournalLine[] = [];
  const progress = emptyWriteProgress();
  const api = openTestClient(service.url, { key: service.key, retries: 1 });
  const run = async (rows: Rows, fields: Partial<DocumentPlan> = {}, given: Partial<ApplyOptions> = {}) => {
    const signal = given.signal ?? new AbortController().signal;
    const writer = openTestWriter(service.url, {
      key: service.key,
      signal,
      grace: 100,
      timeout: 2,
      now: clock.now,
      sleep: clock.sleep,
    });
    const lines = memoryJournal(noted);
    for (const open of lines.journal.open) await lines.journal.conclude(open, "not done");
    const full: ApplyOptions = {
      ...{
        api,
        writer,
        journal: lines.journal,
        signal,
        concurrency: 1,
        settle: 1_000,
        lockTime: 1_000,
        progress,
      },
      ...{ log: () => {}, readChunks: () => chunksOf(rows), now: clock.now, sleep: clock.sleep },
      onWrite: () => void progress.writes++,
      ...given,
    };
    const copied = new DocumentCopy(full, planFor(rows, fields), { datasetId, documentId });
    try {
      await copyRows(copied);
      return { failed: copied.failed, reason: null };
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      return { failed: copied.failed, reason: error.message };
    } finally {
      noted.splice(0, noted.length, ...lines.noted);
    }
  };
  /** Runs processes until one no longer asks to run the same command again. */
  const runToEnd = async (...given: Parameters<typeof run>) => {
    let copied = await run(...given);
    while (copied.reason?.includes("run the same command again")) copied = await run(...given);
    return copied;
  };
  const stored = () => service.store.read(documentId).chunks;
  return {
    ...{ ...service, clock, noted, progress, run, runToEnd, documentId },
    texts: () => stored().map(({ row }) => row.content),
    chunks: () => stored().map(({ row }) => row),
    /** The contents and types of each chunk's children, in order. */
    children: () => stored().map(({ children }) => children.map(({ content, type }) => `${content} ${type}`)),
    /** The writes so far, without the service's ids; additions show their number of chunks. */
    sent: () => service.writes().map(({ what, body }) => sentText(what, body)),
  };
}

function sentText(what: string, body: unknown): string {
  const isAdding = typeof body === "object" && body !== null && "segments" in body && Array.isArray(body.segments);
  const short = what.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "*").replace("…/segments", "");
  return isAdding ? `add ${(body as { segments: readonly unknown[] }).segments.length}` : short;
}
