import { join } from "node:path";
import { type Copies, compareDumps, datasetPairKey } from "../../../src/compare/proof/compare-dumps.js";
import type { LivePair } from "../../../src/compare/proof/proof-pairs.js";
import type { DumpDifference } from "../../../src/compare/proof/prove.js";
import type { CopiedDataset } from "../../../src/compare/proof/settings.js";
import { type Dump, openDump } from "../../../src/dump/open-dump.js";
import { formedDocuments, keepComing } from "../../../src/restore/copy/read-dump.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import * as sound from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";

type Row = Record<string, unknown>;

/** Tables that a test can change. */
export type Draft = { -readonly [Kind in keyof Tables]-?: Row[] };

const stands = { enabled: true, status: "completed", keywords: [], attachments: [], answer: null };
const settings = {
  ...{ description: "All of it", permission: "all_team_members", indexing_technique: "high_quality" },
  ...{ retrieval_model: { search_method: "hybrid_search", top_k: 3 }, built_in_field_enabled: true },
};
const details = {
  ...{ doc_language: "English", enabled: true, archived: false, indexing_status: "completed" },
  process_rule: { mode: "custom", rules: { segmentation: { max_tokens: 500, separator: "\n" } } },
};

/** A run with document `a` (chunks with children) and document `q` (questions). Some rows are blank, so a copy must skip them. */
export function oldTables(): Draft {
  const chunks = [
    sound.chunk("a", "a1", { ...stands, position: 1, content: "one", keywords: ["red", "blue"] }),
    sound.chunk("a", "a2", { ...stands, position: 2, content: " " }),
    sound.chunk("a", "a3", { ...stands, position: 4, content: "three", enabled: false }),
    sound.chunk("a", "a4", { ...stands, position: 5, content: "four", attachments: [{ id: "f1" }, { id: "lost" }] }),
    sound.chunk("q", "q1", { ...stands, position: 1, content: "Why?", answer: "So." }),
    sound.chunk("q", "q2", { ...stands, position: 2, content: "How?", answer: "" }),
  ];
  const children = [
    sound.child("a", "a1", "k1", { position: 1, content: "o", type: "automatic" }),
    sound.child("a", "a1", "k2", { position: 2, content: "\n", type: "customized" }),
    sound.child("a", "a1", "k3", { position: 3, content: "ne", type: "customized" }),
  ];
  const fields = [
    { id: "m1", name: "author", type: "string" },
    { id: "m2", name: "pages", type: "number" },
  ];
  const values = [
    { ...fields[0], value: "Jo" },
    { ...fields[1], value: 12 },
    { id: "m1", name: "list", type: "string", value: ["a list is no value"] },
    { id: "gone", name: "gone", type: "string", value: "of no field" },
    { id: "built-in", name: "uploader", type: "string", value: "Ann" },
  ];
  return draftOf({
    chunks,
    child_chunks: children,
    documents: [sound.document("a", 4, 3), sound.document("q", 2, 0, { doc_form: "qa_model" })],
    datasets: [
      sound.settings("d", {
        ...settings,
        ...models,
        name: "Old",
        doc_metadata: fields,
        tags: [{ id: "t1", name: "public" }],
      }),
    ],
    document_details: [
      sound.details("a", { ...details, doc_form: "text_model", doc_metadata: values }),
      sound.details("q", { ...details, doc_form: "qa_model", doc_metadata: [] }),
    ],
  });
}

/** The model fields, as an older release reports them. */
const models = { embedding_model: "small", embedding_model_provider: "openai" };

/** A correct copy of that run in a service that formats some values differently. */
export function liveTables(): Draft {
  const here = { dataset_id: "D" };
  const chunks = [
    sound.chunk("A", "x1", { ...here, ...stands, position: 1, content: "one", keywords: ["blue", "red"] }),
    sound.chunk("A", "x2", { ...here, ...stands, position: 2, content: "three", enabled: false, keywords: ["own"] }),
    sound.chunk("A", "x3", {
      ...here,
      ...stands,
      position: 3,
      content: "four",
      attachments: [{ id: "F1" }],
      answer: "",
    }),
    sound.chunk("Q", "y1", { ...here, ...stands, position: 1, content: "Why?", answer: "So." }),
  ];
  const children = [
    sound.child("A", "x1", "z1", { ...here, position: 1, content: "o", type: "customized" }),
    sound.child("A", "x1", "z2", { ...here, position: 2, content: "ne", type: "customized" }),
  ];
  const fields = [
    { id: "M2", name: "pages", type: "number" },
    { id: "M1", name: "author", type: "string" },
  ];
  const values = [
    { ...fields[1], value: "Jo" },
    { ...fields[0], value: "12" },
    { id: "built-in", name: "uploader", type: "string", value: "Bob" },
  ];
  const rule = {
    rules: { parent_mode: null, segmentation: { separator: "\n", max_tokens: 500 }, more: 1 },
    mode: "custom",
  };
  return draftOf({
    chunks,
    child_chunks: children,
    documents: [sound.document("A", 3, 2, here), sound.document("Q", 1, 0, { ...here, doc_form: "qa_model" })],
    datasets: [
      sound.settings("D", {
        ...settings,
        ...{ ...models, embedding_model_provider: "langgenius/openai/openai" },
        ...{ name: "Old (2)", doc_metadata: fields, tags: [{ id: "T", name: "public" }] },
        retrieval_model: { top_k: 3, score_threshold: 0.1, search_method: "hybrid_search" },
      }),
    ],
    document_details: [
      sound.details("A", {
        ...details,
        ...here,
        name: "a.md",
        doc_form: "text_model",
        doc_metadata: values,
        process_rule: rule,
      }),
      sound.details("Q", { ...details, ...here, name: "q.md", doc_form: "qa_model", doc_metadata: [] }),
    ],
  });
}

export function draftOf(tables: Partial<Draft>): Draft {
  return structuredClone({ ...noRows, document_info: [], datasets: [], document_details: [], ...tables }) as Draft;
}

const pairOf = (old: string, live: string, end = ""): LivePair => ({
  old: { dataset_id: `d${end}`, document_id: old + end },
  live: { dataset_id: `D${end}`, document_id: live + end },
});

const dataset: CopiedDataset = { name: "Old (2)", existed: false, missingTags: [] };

export const copies: Copies = {
  datasets: new Map([[datasetPairKey("d", "D"), dataset]]),
  attachmentOf: (id) => (id === "f1" ? "F1" : undefined),
  failed: new Set(),
};

interface Given {
  readonly copies?: Copies | null;
  readonly pairs?: readonly LivePair[];
  readonly old?: WriteOptions;
  readonly live?: WriteOptions;
}

/** Compares two dumps with these tables; `given` overrides the recorded copies. */
export async function compareTables(old: Draft, live: Draft, given: Given = {}): Promise<readonly DumpDifference[]> {
  const run = await dumpOf("old", old, given.old);
  const { differences } = await compareDumps({
    old: run,
    leaveOut: (connection, details) => keepComing(connection, formedDocuments(run.manifest, details)),
    live: await dumpOf("live", live, given.live),
    pairs: given.pairs ?? [pairOf("a", "A"), pairOf("q", "Q")],
    copies: given.copies === undefined ? copies : given.copies,
    memory: "200MB",
    signal: new AbortController().signal,
  });
  return differences;
}

/** Compares many copies at once, each with its own run; returns the differences of each. */
export async function compareEach(lives: readonly Draft[]): Promise<readonly (readonly string[])[]> {
  const ends = lives.map((_, at) => `/${at}`);
  const all = (tables: readonly Draft[]) => joined(tables.map((each, at) => withEnd(each, `/${at}`)));
  const differences = await compareTables(all(lives.map(oldTables)), all(lives), {
    pairs: ends.flatMap((end) => [pairOf("a", "A", end), pairOf("q", "Q", end)]),
    copies: { ...copies, datasets: new Map(ends.map((end) => [datasetPairKey(`d${end}`, `D${end}`), dataset])) },
  });
  return ends.map((end) =>
    described(
      differences.filter(({ id }) => id.endsWith(end)).map((each) => ({ ...each, id: each.id.replace(end, "") })),
    ),
  );
}

/** A copy of the rows with `end` appended to all ids. */
function withEnd(tables: Draft, end: string): Draft {
  const names = ["dataset_id", "document_id", "segment_id", "id"];
  const renamed = (row: Row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, names.includes(name) ? value + end : value]));
  return draftOf(Object.fromEntries(Object.entries(tables).map(([kind, rows]) => [kind, rows.map(renamed)])));
}

function joined(all: readonly Draft[]): Draft {
  const kinds = Object.keys(draftOf({})) as (keyof Draft)[];
  return draftOf(Object.fromEntries(kinds.map((kind) => [kind, all.flatMap((each) => each[kind])])));
}

/** A dump of these tables with matching row counts. */
async function dumpOf(name: string, { document_info: _, ...tables }: Draft, options: WriteOptions = {}): Promise<Dump> {
  const rowsOf = (kind: "chunks" | "child_chunks", { document_id }: Row) =>
    tables[kind].filter((row) => row.document_id === document_id).length;
  const documents = tables.documents.map((row) => {
    const [chunks, children] = [rowsOf("chunks", row), rowsOf("child_chunks", row)];
    return { ...row, total: chunks, chunk_count: chunks, child_chunk_count: children };
  });
  const base = join(await plainFolder(), name);
  return openDump(await writeDump(base, { ...tables, documents }, options), "nothing was compared");
}

/** `chunk a1: it differs in text` */
export function described(differences: readonly DumpDifference[]): readonly string[] {
  return differences.map(({ level, id, reason }) => `${level} ${id}: ${reason}`);
}

/** The row of a table with an id. */
export function rowOf(tables: Draft, kind: keyof Draft, id: string): Row {
  const row = tables[kind].find((each) => [each.id, each.document_id, each.dataset_id].includes(id));
  if (row === undefined) throw new Error(`${kind} has no ${id}`);
  return row;
}
