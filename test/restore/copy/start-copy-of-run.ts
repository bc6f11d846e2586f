import type { KnowledgeApi } from "../../../src/client/knowledge-api.js";
import type { JournalLine } from "../../../src/journal/journal-schema.js";
import type { JournalFacts } from "../../../src/journal/journal-state.js";
import { applyCopy } from "../../../src/restore/copy/apply-copy.js";
import type { CopyPlan, DatasetPlan, DocumentPlan } from "../../../src/restore/copy/copy-plan.js";
import type { Copied } from "../../../src/restore/copy/copy-result.js";
import type { ApplyOptions } from "../../../src/restore/copy/document-work.js";
import { reconcile } from "../../../src/restore/reconcile.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";
import { JumpingClock } from "../../client/jumping-clock.js";
import { openTestClient } from "../../client/open-test-client.js";
import { openTestWriter } from "../../client/write/open-test-writer.js";
import type { DocumentRows } from "../../compare/lost/rows.js";
import { type FlakyOptions, startFlaky } from "../lost/flaky-service.js";
import { memoryJournal } from "./memory-journal.js";
import { chunksOf } from "./start-copy.js";

/** A document of the dump: the contents of its chunks, and everything that differs from the defaults. */
export interface Sketch extends Partial<DocumentPlan> {
  readonly contents?: readonly string[];
}

export const customRule = {
  mode: "custom",
  rules: {
    pre_processing_rules: [],
    segmentation: { separator: "\n\n", max_tokens: 500, chunk_overlap: 0 },
  },
};

/** Two documents, and the expected state of the service after the copy. */
export const two = [
  { document_name: "one.txt", contents: ["# first", "second"] },
  { document_name: "two.txt", contents: ["third"], enabled: false, archived: true },
];
export const copyOfTwo = [
  "dataset Copy",
  ...["  one.txt completed", "    1 # first", "    2 second"],
  ...["  two.txt completed disabled archived", "    1 third"],
];

/** The plan of one document; its default id in the dump is `old <name>`. */
export function documentPlan(
  { contents = [], ...fields }: Sketch,
  dataset_id = "old set",
  dataset_key = dataset_id,
): DocumentPlan {
  const name = fields.document_name ?? "one.txt";
  return {
    ...{ dataset_id, dataset_key, document_id: `old ${name}`, document_name: name, doc_form: "text_model" },
    ...{ doc_language: "English", indexing_technique: "economy", process_rule: customRule, refused: null },
    ...{ earlier: null, chunks: contents.length, disabled: 0, children: 0, characters: 0, metadata: [] },
    ...{ enabled: true, archived: false, attachments: [], attached: 0, losses: [] },
    ...fields,
  };
}

/** The plan of a new dataset; its default name is `Copy`. */
export function datasetPlan(documents: readonly Sketch[], fields: Partial<DatasetPlan> = {}): DatasetPlan {
  const id = fields.dataset_id ?? "old set";
  const key = fields.key ?? id;
  return {
    ...{ key, dataset_id: id, dataset_name: "Original", target: { kind: "new", name: "Copy" }, losses: [] },
    settings: {
      ...{ description: "of old", indexing_technique: "economy", permission: "only_me", embedding_model: null },
      ...{ embedding_model_provider: null, retrieval_model: null, summary_index_setting: null },
    },
    ...{ fields: [], built_in_fields: false, tags: [], equipping: 0 },
    documents: documents.map((document) => documentPlan(document, id, key)),
    ...fields,
  };
}

export type Given = Partial<ApplyOptions> & {
  /** The journal lines at the start of the process; by default those that the process before left. */
  readonly lines?: readonly JournalLine[];
};

/** An empty service and a journal. Each call of `copy` acts as a new process that continues from the journal. */
export async function startCopyRun(
  sketches: readonly Sketch[],
  { dataset = {}, ...options }: Omit<FlakyOptions, "clock"> & { readonly dataset?: Partial<DatasetPlan> } = {},
) {
  const clock = new JumpingClock(Date.parse("2026-03-01T12:00:00Z"));
  const service = await startFlaky([], { clock: () => new Date(clock.now()), ...options });
  const { url, key } = service;
  const plan: CopyPlan = { datasets: [datasetPlan(sketches, dataset)] };
  const dump = new Map(sketches.map((sketch) => [documentPlan(sketch).document_id, rowsOf(sketch)]));
  const api = openTestClient(url, { key, retries: 1 });
  let lines: readonly JournalLine[] = [];
  const copy = async ({ lines: begun = lines, ...given }: Given = {}, copied = plan): Promise<Copied> => {
    const signal = given.signal ?? new AbortController().signal;
    const made = memoryJournal(begun, { now: () => new Date(clock.now()) });
    const full: ApplyOptions = {
      ...{ api, journal: made.journal, signal, concurrency: 1, settle: 1_000, lockTime: 1_000 },
      writer: openTestWriter(url, { key, signal, grace: 50, timeout: 5, concurrency: 4, sleep: clock.sleep }),
      readChunks: ({ document_id }) => chunksOf(dump.get(document_id) ?? rowsOf({ document_id })),
      ...{ log: () => {}, progress: emptyWriteProgress(), now: clock.now },
      sleep: async (milliseconds) => {
        signal.throwIfAborted();
        await clock.sleep(milliseconds);
      },
      ...given,
    };
    try {
      await reconcile(full);
      return (await applyCopy(withEarlier(copied, made.journal.facts), full)).copied;
    } finally {
      lines = made.noted;
    }
  };
  /** Runs processes until one no longer asks to run the same command again. */
  const copyToEnd = async (given: Given = {}, copied = plan): Promise<Copied> => {
    let end = await copy(given, copied);
    while (end.documents.some(({ reason }) => reason?.includes("run the same command again")))
      end = await copy(given, copied);
    return end;
  };
  return {
    ...service,
    api,
    clock,
    plan,
    copy,
    copyToEnd,
    lines: () => lines,
    sent: () => sentIn(service),
    standing: () => readAll(api),
  };
}

/** The plan of a process that continues: with the copies that the journal knows. */
function withEarlier({ datasets }: CopyPlan, facts: JournalFacts): CopyPlan {
  const earlierOf = (id: string) => {
    const { target_id, state } = facts.documents.get(id) ?? {};
    return target_id && state ? { target_id, state } : null;
  };
  return {
    datasets: datasets.map(({ documents, ...dataset }) => {
      const known = facts.datasets.get(dataset.key);
      const target = known ? ({ kind: "there", id: known.id, name: known.name } as const) : dataset.target;
      return {
        ...dataset,
        target,
        documents: documents.map((each) => ({ ...each, earlier: earlierOf(each.document_id) })),
      };
    }),
  };
}

export type Started = Awaited<ReturnType<typeof startCopyRun>>;

/** The rows of a document in the dump. */
export function rowsOf(sketch: Sketch): DocumentRows {
  const { dataset_id, document_id, doc_form } = documentPlan(sketch);
  const answer = doc_form === "qa_model" ? "an answer" : null;
  const chunks = (sketch.contents ?? []).map((content, at) => ({
    ...{ id: `${document_id} chunk ${at + 1}`, document_id, position: at + 1, content, answer, keywords: null },
    ...{ enabled: true, status: "completed", created_by: null, updated_by: null, disabled_by: null },
    ...{ created_at: 1, updated_at: 1, disabled_at: null, attachment_ids: [], summary: null },
  }));
  return { dataset_id, document_id, doc_form, chunks, children: [] };
}

/** The writes that the service received, without its ids. */
function sentIn({ seen }: Pick<Awaited<ReturnType<typeof startFlaky>>, "seen">): readonly string[] {
  const writes = seen.filter(({ method }) => method !== "GET");
  return writes.map(
    ({ method, path }) => `${method} ${path.replace("/v1", "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "*")}`,
  );
}

/** Everything in the service, as one text per dataset, document and chunk; documents in order of creation. */
async function readAll(api: KnowledgeApi): Promise<readonly string[]> {
  const all: string[] = [];
  for (const { id, name } of (await api.datasets(1)).rows) {
    all.push(`dataset ${name}`);
    for (const document of [...(await api.documents(id, 1)).rows].reverse()) {
      const states = [
        document.indexing_status,
        document.enabled ? "" : "disabled",
        document.archived ? "archived" : "",
      ];
      all.push(`  ${document.name} ${states.filter(Boolean).join(" ")}`);
      const ref = { datasetId: id, documentId: document.id, status: [], keyword: undefined };
      for (const { position, content } of (await api.chunks(ref, 1)).rows) all.push(`    ${position} ${content}`);
    }
  }
  return all;
}

/** The outcome of each document, with its reason if there is one. */
export function outcomesOf({ documents }: Copied): readonly string[] {
  return documents.map(({ document_name, outcome, reason }) =>
    [document_name, outcome, ...(reason ? [reason] : [])].join(": "),
  );
}
