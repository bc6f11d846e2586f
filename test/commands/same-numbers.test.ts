import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../src/demo/start-service.js";
import type { Row } from "../../src/rows/row.js";
import { runJob } from "../../src/run/run-job.js";
import { tablesOf, twoDumps } from "../compare/diff/dumps.js";
import { JobDatabase } from "../database/job-database.js";
import type { Tables } from "../dump/formats/stage.js";
import { datasetId, documentId, KnowledgeBase } from "../restore/random/knowledge-base.js";
import type { ManualEdit, Scenario } from "../restore/random/scenario.js";
import { inFull, rounds } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { child, chunk, details, document } from "../verify/sound-tables.js";
import type { WriteOptions } from "../verify/write-dump.js";
import { expectSameNumbers, jsonOf, type Numbers } from "./same-numbers.js";

/** The counts of the view lost_texts for the newest run in the database of a job. */
async function viewNumbers(database: string): Promise<Numbers> {
  const sql = `SELECT count(*)::INTEGER AS lost, count(manual_edit)::INTEGER AS manual_edits FROM lost_texts
    WHERE run_id = (SELECT max(run_id) FROM runs)`;
  return (await jsonOf(["sql", database, sql])).rows[0];
}

/** The counts of the view lost_texts in a database that is built from two dumps. */
async function viewOf(...dumps: readonly Tables[]): Promise<Numbers> {
  const database = await JobDatabase.create();
  for (const [nr, dump] of dumps.entries()) await database.run(`r${nr + 1}`, dump);
  return viewNumbers(database.path);
}

interface Reindexed {
  readonly form: Scenario["form"];
  /** The manual edits before the first run, which the history therefore does not contain. */
  readonly early?: readonly ManualEdit[];
  readonly edits: readonly ManualEdit[];
  /** The chunk size for the re-index; unchanged by default. */
  readonly maxCharacters?: number;
  readonly history: boolean;
}

/** Dumps a document before and after `edits`, re-indexes it, and dumps it a third time. */
async function dumpAroundReindex({ form, early = [], edits, maxCharacters, history }: Reindexed) {
  const base = new KnowledgeBase({ form, chunks: 7 });
  const service = await startService({ demo: base.demo });
  onTestFinished(() => service.close());
  const job = await jobFor(await testFolder(), {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: [documentId] }],
    child_chunks: "all",
    details: true,
    output: { formats: ["jsonl", "duckdb"] },
  });
  const run = async () => (await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } })).folder;
  for (const edit of early) await base.work(edit);
  await run();
  for (const edit of edits) await base.work(edit);
  const older = await run();
  base.demo.store.reindex(documentId, { seconds: 0, ...(maxCharacters === undefined ? {} : { maxCharacters }) });
  const newer = await run();
  const database = join(dirname(dirname(older)), "test.duckdb");
  if (!history) await rm(database);
  return { older, newer, database };
}

const work: readonly ManualEdit[] = [
  { do: "edit", at: 0 },
  { do: "disable", at: 1 },
  { do: "edit and disable", at: 4 },
  { do: "edit keywords", at: 5 },
  { do: "add" },
  { do: "add and disable" },
];
const childWork: readonly ManualEdit[] = [
  { do: "add child", at: 2 },
  { do: "edit child", at: 3 },
];
const [early, nested] = [[{ do: "edit", at: 6 }] as const, [...work, ...childWork]];

test.runIf(inFull).each<readonly [string, Reindexed, Numbers]>([
  // Without the history, the edited keywords are unknown and the added chunk counts as automatic.
  ["of the same size", { form: "text_model", early, edits: work, history: true }, { lost: 7, manual_edits: 7 }],
  [
    "of the same size, without history",
    { form: "text_model", early, edits: work, history: false },
    { lost: 6, manual_edits: 5 },
  ],
  [
    "of another size",
    { form: "text_model", early, edits: work, maxCharacters: 40, history: true },
    { lost: 9, manual_edits: 7 },
  ],
  [
    "with child chunks",
    { form: "hierarchical_model", early, edits: nested, history: true },
    { lost: 22, manual_edits: 9 },
  ],
  ["with answers", { form: "qa_model", early, edits: work, history: true }, { lost: 7, manual_edits: 7 }],
])("diff, report, restore and lost_texts count the same: a re-index %s", async (_, reindexed, expected) => {
  const { older, newer, database } = await dumpAroundReindex(reindexed);
  expect(await expectSameNumbers(older, newer)).toEqual(expected);
  if (reindexed.history) expect(await viewNumbers(database)).toEqual(expected);
});

const at = (position: number, more: Row = {}): Row => ({ position, enabled: true, ...more });
const [by, off] = [{ updated_by: "ann" }, { enabled: false, disabled_by: "ann" }];
const of = (documentId: string, ids: string, more: (id: string, at: number) => Row = () => ({})) =>
  [...ids].map((id, index) => chunk(documentId, id, at(index + 1, { content: `text ${id}`, ...more(id, index) })));
const withNewIds = (rows: readonly Row[], more: Row = {}) =>
  rows.map((row) => ({ ...row, id: `${row.id}'`, updated_by: null, disabled_by: null, enabled: true, ...more }));

type Losses = readonly [string, Parameters<typeof tablesOf>, Parameters<typeof tablesOf>, Numbers];

const losses: readonly Losses[] = [
  [
    "a chunk was deleted where others kept their ids",
    [of("a", "123", (id) => (id === "2" ? by : {}))],
    [of("a", "13")],
    { lost: 1, manual_edits: 1 },
  ],
  [
    "a chunk without manual edits was deleted, and another one with its text is there",
    [of("a", "123")],
    [[...of("a", "1"), chunk("a", "x", at(2, { content: "text 2" }))]],
    { lost: 1, manual_edits: 0 },
  ],
  [
    "a chunk that kept its id has another text, other keywords and is enabled: nothing is lost",
    [of("a", "12", () => ({ ...by, ...off, keywords: ["k"] }))],
    [of("a", "12", () => ({ content: "other", keywords: [] }))],
    { lost: 0, manual_edits: 0 },
  ],
  [
    "people had disabled two chunks, the service one, and one came again disabled",
    [of("a", "1234", (id) => (id === "3" ? { enabled: false } : off))],
    [[...withNewIds(of("a", "123")), ...withNewIds(of("a", "4"), { enabled: false, position: 4 })]],
    { lost: 2, manual_edits: 2 },
  ],
  [
    "one of two equal texts is gone, and the answers of others are none and empty",
    [of("a", "1234", (id) => (id < "3" ? { content: "same" } : { answer: "", ...by }))],
    [withNewIds([...of("a", "1", () => ({ content: "same" })), ...of("a", "34", () => ({ answer: null }))])],
    { lost: 1, manual_edits: 0 },
  ],
  [
    "one document is gone, and one could not be read: no row of them counts",
    [[...of("a", "12", () => by), ...of("gone", "34", () => by), ...of("failed", "56", () => by)]],
    [withNewIds(of("a", "1")), [], [document("failed", 0, 0, { status: "failed", total: 2, error: "500" })]],
    { lost: 1, manual_edits: 1 },
  ],
  [
    "child chunks were lost with their chunk, and without it",
    [
      of("a", "12"),
      [
        child("a", "1", "k", { content: "k", type: "customized" }),
        child("a", "1", "l", { content: "l", type: "automatic" }),
        child("a", "2", "m", { content: "m", type: "customized" }),
      ],
    ],
    [withNewIds(of("a", "1")), [child("a", "1'", "x", { content: "l", type: "automatic" })]],
    { lost: 3, manual_edits: 2 },
  ],
  [
    "a document has another form now, so that nothing of it can be restored",
    [of("a", "12", () => by), [], []],
    [[], [], [document("a", 1, 0, { doc_form: "qa_model" })]],
    { lost: 2, manual_edits: 2 },
  ],
];

test.each(losses.slice(0, rounds(1, losses.length)))(
  "diff, report, restore and lost_texts count the same: %s",
  async (_, before, after, expected) => {
    const old = tablesOf(...before);
    const fresh = tablesOf(...after);
    const isOther = fresh.documents.some(({ doc_form }) => doc_form === "qa_model");
    const chunks = isOther ? withNewIds(of("a", "9")) : fresh.chunks;
    expect(await expectSameNumbers(...(await twoDumps(old, { ...fresh, chunks })))).toEqual(expected);
    expect(await viewOf(old, { ...fresh, chunks })).toEqual(expected);
  },
);

test.runIf(inFull)(
  "diff, report, restore and lost_texts count the same: chunks that were created after the indexing, as details tell",
  async () => {
    const created = (id: string) => ({ created_at: id === "3" ? "2025-03-06T13:20:06Z" : "2025-03-06T13:20:05Z" });
    const old = {
      ...tablesOf(of("a", "123", created)),
      document_details: [details("a", { completed_at: "2025-03-06T13:20:05Z" })],
    };
    const fresh = tablesOf(withNewIds(of("a", "1")));
    const expected = { lost: 2, manual_edits: 1 };
    expect(await expectSameNumbers(...(await twoDumps(old, fresh)))).toEqual(expected);
    expect(await viewOf(old, fresh)).toEqual(expected);
  },
);

test.runIf(inFull).each<readonly [string, readonly [WriteOptions, WriteOptions]]>([
  ["CSV and Parquet", [{ formats: ["csv"] }, { formats: ["parquet"] }]],
  ["compressed JSONL", [{ compress: "zstd" }, {}]],
])("diff, report and restore count the same in %s", async (_, options) => {
  const old = tablesOf(of("a", "123", (id) => (id === "3" ? {} : by)));
  const folders = await twoDumps(old, tablesOf(withNewIds(of("a", "1"))), options);
  expect(await expectSameNumbers(...folders)).toEqual({ lost: 2, manual_edits: 1 });
});
