import { onTestFinished } from "vitest";
import { openWriter } from "../../../src/client/write/writer.js";
import { haveSameTexts } from "../../../src/compare/document-rows.js";
import type {
  ChildRestore,
  ChunkRestore,
  ChunkTexts,
  DocumentPlan,
  TargetChunk,
} from "../../../src/compare/lost/restore-plan.js";
import { compareRestored } from "../../../src/compare/proof/prove.js";
import type { Chunk, StoredDataset } from "../../../src/demo/rows.js";
import { openJournal } from "../../../src/journal/journal.js";
import { applyPlan, reconcileLost } from "../../../src/restore/lost/apply-plan.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { standingChild, standingChunk } from "../../../src/restore/target-rows.js";
import { mayMakeTwo, type WriteOptions } from "../../../src/restore/write-once.js";
import { JumpingClock } from "../../client/jumping-clock.js";
import { openTestClient } from "../../client/open-test-client.js";
import { allOf, paired } from "../../compare/proof/paired.js";
import { testFolder } from "../../run/job-for.js";
import { type Flaky, type FlakyOptions, startFlaky } from "./flaky-service.js";

/** A UUID that ends with the number. */
export const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

export const datasetId = uuid(1);
export const documentId = uuid(2);
export const segments = `/datasets/${datasetId}/documents/${documentId}/segments`;

type Sketch = Partial<Chunk> & { readonly children?: readonly string[] };

export interface Shape {
  readonly form?: string;
  readonly technique?: string;
  /** Additional fields for the document rows; by default there is one document without any. */
  readonly documents?: readonly Readonly<Record<string, unknown>>[];
}

/**
 * A dataset with one document, or several with the same texts. Chunks are named `chunk 1` and so on; chunk ids start at
 * uuid(101), child chunk ids at uuid(1001), ten for each chunk. Further documents have ids from uuid(3); the ids of
 * their rows are 100,000 higher for each document.
 */
export function smallDatasets(sketches: readonly Sketch[], shape: Shape = {}): readonly StoredDataset[] {
  const { form = "text_model", technique = "economy", documents = [{}] } = shape;
  const stored = documents.map((fields, at) => {
    const id = uuid(2 + at);
    const row = { id, name: `${at}.txt`, doc_form: form, created_at: 1, word_count: 0, tokens: 0, ...fields };
    const chunks = sketches.map((sketch, index) => chunkFrom(sketch, index, id, at * 100_000));
    return { row, chunks, embedsChildren: false };
  });
  return [{ row: { id: datasetId, name: "Small", indexing_technique: technique }, documents: stored, batches: [] }];
}

function chunkFrom({ children = [], ...fields }: Sketch, index: number, document_id: string, offset: number) {
  const id = uuid(offset + 101 + index);
  return {
    row: {
      ...{ id, document_id, position: index + 1, content: `chunk ${index + 1}` },
      ...{ answer: null, keywords: [], enabled: true, status: "completed", ...fields },
    },
    children: children.map((content, child) => ({
      id: uuid(offset + 1001 + index * 10 + child),
      segment_id: id,
      position: child + 1,
      content,
      type: "automatic",
    })),
  };
}

/** A plan that restores one chunk of an older run; by default `lost 1` replaces `chunk 1`. */
export function restoring(number: number, fields: Partial<ChunkRestore> = {}): ChunkRestore {
  return {
    chunk_id: uuid(500 + number),
    position: number,
    edit: { kind: "edited", by: null, at: null },
    evidence: ["updated_by"],
    target: target(number),
    texts: { content: `lost ${number}`, answer: null, keywords: null },
    equal: 0,
    disable: false,
    children: [],
    ...fields,
  };
}

export function target(number: number, fields: Partial<TargetChunk> = {}): TargetChunk {
  const texts = { content: `chunk ${number}`, answer: null, keywords: [] };
  return { id: uuid(100 + number), position: number, enabled: true, status: "completed", ...texts, ...fields };
}

export function restoringChild(number: number, content: string, twin: ChildRestore["twin"] = null): ChildRestore {
  const edit = { kind: "customized", by: null, at: null } as const;
  return { child_id: uuid(600 + number), position: number, edit, evidence: ["customized"], content, twin };
}

export function planOf(restores: readonly ChunkRestore[], fields: Partial<DocumentPlan> = {}): DocumentPlan {
  return {
    dataset_id: datasetId,
    document_id: documentId,
    document_name: "one.txt",
    doc_form: "text_model",
    lost: restores.length,
    manual_edits: restores.length,
    refused: null,
    restores,
    listed: [],
    losses: [],
    present: 0,
    ...fields,
  };
}

/** A service and a folder for the journal. Each call of `apply` or `reconcile` acts as a new process. */
export async function startTarget(
  sketches: readonly Sketch[],
  shape: Shape = {},
  options: Omit<FlakyOptions, "clock"> = {},
) {
  const clock = new JumpingClock(Date.parse("2026-03-01T12:00:00Z"));
  const folder = await testFolder();
  const service = await startFlaky(smallDatasets(sketches, shape), { clock: () => new Date(clock.now()), ...options });
  const before = rowsOf(service);
  const open = async () => {
    const now = () => new Date(clock.now());
    const id = { runId: "20260301T000000000Z", baseUrl: service.url };
    const journal = await openJournal(folder, { ...id, now, checkOwn: async () => {} });
    onTestFinished(() => journal.close());
    return journal;
  };
  const withOptions = async <T>(work: (options: WriteOptions) => Promise<T>, given: Given = {}) => {
    const { writeTimeout: timeout = 5, ...others } = given;
    const signal = others.signal ?? new AbortController().signal;
    const { url: baseUrl, key } = service;
    const journal = await open();
    journal.beginWith("before/runs/1");
    const api = openTestClient(baseUrl, { key, retries: 2 });
    const writer = openWriter({ baseUrl, key, concurrency: 2, timeout, signal, grace: 100 });
    try {
      return await work({
        ...{ api, writer, journal, signal, concurrency: 4, settle: 60_000, lockTime: 600_000, log: () => {} },
        ...{ progress: emptyWriteProgress(), now: clock.now, sleep: clock.sleep },
        ...others,
      });
    } finally {
      await writer.close();
      await journal.close();
    }
  };
  return {
    ...service,
    clock,
    folder,
    open,
    apply: (restores: readonly ChunkRestore[], given?: Given, document: Partial<DocumentPlan> = {}) =>
      withOptions(
        (each) => applyPlan({ documents: [planOf(restores.map(countedIn(rowsOf(service))), document)] }, each),
        given,
      ),
    applyAll: (documents: readonly DocumentPlan[], given?: Given) =>
      withOptions((each) => applyPlan({ documents }, each), given),
    reconcile: (given?: Given) => withOptions(reconcileLost, given),
    texts: () => rowsOf(service).chunks.map(({ content }) => content),
    rows: () => rowsOf(service),
    prove: async () => {
      const journal = await open();
      const { written } = journal;
      const openAdds = journal.open.filter(mayMakeTwo);
      const after = rowsOf(service);
      const pairs = {
        chunks: paired(before.chunks, after.chunks),
        children: paired(before.children, after.children),
      };
      const differences = await allOf(compareRestored(pairs, { documentId, written, openAdds }));
      return differences.map(({ id, reason }) => `${id.replace(/^0.*-0+/, "#")}: ${reason}`);
    },
  };
}

type Given = Partial<WriteOptions> & { readonly writeTimeout?: number };

export type Target = Awaited<ReturnType<typeof startTarget>>;

/** The outcomes of all rows, each with the id in the target and the reason. */
export function outcomesOf({ rows }: Awaited<ReturnType<Target["apply"]>>) {
  return rows.map(({ level, id, outcome }) => `${level} ${Number(id.slice(-12))}: ${outcome}`);
}

/** Sets `equal` of a planned restore as a new plan would: how many chunks already have its texts. */
function countedIn({ chunks }: ReturnType<typeof rowsOf>): (restore: ChunkRestore) => ChunkRestore {
  return (restore) => {
    const { texts } = restore;
    const isEqual = (chunk: ChunkTexts) => texts !== null && haveSameTexts(chunk, texts);
    return { ...restore, equal: chunks.filter(isEqual).length };
  };
}

/** The rows of the document. */
function rowsOf({ store }: Pick<Flaky, "store">) {
  const { chunks } = store.read(documentId);
  return {
    chunks: chunks.map(({ row }) => standingChunk(row)),
    children: chunks.flatMap(({ children }) => children.map(standingChild)),
  };
}
