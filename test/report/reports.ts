import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderReport } from "../../src/report/render-report.js";
import type { ReportRequest } from "../../src/report/source.js";
import { runJob } from "../../src/run/run-job.js";
import { noRows } from "../dump/formats/stage.js";
import { jobFor } from "../run/job-for.js";
import { reindex } from "../servers/edits.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store, type TestDocument } from "../servers/store.js";
import { writeDump } from "../verify/write-dump.js";
import { hostileTexts } from "./page/hostile-texts.js";

/** The reports that every rule is tested on, each made once. */
export const reports = { sample: once(sample), hostile: once(hostile), empty: once(empty) } as const;
export type ReportName = keyof typeof reports;
export const reportNames = Object.keys(reports) as readonly ReportName[];

function once(make: (base: string) => Promise<ReportRequest>): () => Promise<string> {
  let page: Promise<string> | undefined;
  return () => {
    page ??= inFolder(make);
    return page;
  };
}

async function inFolder(make: (base: string) => Promise<ReportRequest>): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), "kbdump-reports-"));
  try {
    return (await renderReport({ ...(await make(base)), verify: false })).html;
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

/** Two documents with ordinary names, one of them still indexing, before and after a re-index that loses manual edits. */
export async function sample(base: string): Promise<ReportRequest> {
  const documents = [1, 2].map((seed) =>
    makeDocument({ chunks: 14, childrenPerChunk: 1, docForm: "hierarchical_model", seed }),
  );
  const [handbook, prices] = documents;
  if (!handbook || !prices) throw new Error("there are two documents");
  Object.assign(handbook, { name: "Handbook.pdf" });
  Object.assign(prices, { name: "Prices, and more.csv" });
  for (const [at, chunk] of handbook.chunks.entries()) Object.assign(chunk, { hit_count: at % 2, enabled: at > 0 });
  for (const chunk of prices.chunks)
    Object.assign(chunk, { status: "error", error: "The input is too long.", position: null });
  const { run, close } = await startRuns(base, documents, "Company knowledge", {
    [prices.id]: { indexing_status: "indexing", completed_at: null, completed_segments: 4 },
  });
  try {
    await run();
    const [, , edited] = handbook.chunks;
    const before = edited?.content ?? "";
    Object.assign(edited ?? {}, { content: "Ask Ms Itonaga for the key.", updated_by: handbook.id });
    const against = await run();
    Object.assign(edited ?? {}, { content: before, updated_by: null });
    reindex(handbook, 5000);
    return { folder: await run(), against };
  } finally {
    await close();
  }
}

/** A document with these texts in every field that can hold text. */
export function documentOf(texts: readonly string[], seed: number): TestDocument {
  const made = makeDocument({ chunks: texts.length, docForm: "qa_model", seed });
  made.name = texts[seed % texts.length] ?? "";
  made.chunks.forEach((chunk, at) => {
    const text = (shift: number) => texts[(at + shift) % texts.length] ?? "";
    Object.assign(chunk, { position: at + 1, content: text(0), answer: text(1), keywords: [text(2)], error: text(3) });
    Object.assign(chunk, { sign_content: text(0), disabled_by: text(4), enabled: at % 3 > 0, summary: text(5) });
    Object.assign(chunk, { status: at % 4 === 0 ? "error" : "completed", updated_by: text(6), hit_count: at % 2 });
  });
  return made;
}

/** Runs over these documents, before and after a re-index that loses texts of each. */
export async function hostileRuns(base: string, documents: readonly TestDocument[]): Promise<ReportRequest> {
  const entries = documents.map(({ id, name }) => [id, { error: name, completed_at: null, indexing_status: name }]);
  const { run, close } = await startRuns(base, documents, hostileTexts[0] ?? "", Object.fromEntries(entries));
  try {
    const against = await run();
    for (const [at, each] of documents.entries()) {
      reindex(each, 5000 + at);
      for (const chunk of each.chunks) chunk.content = `${String(chunk.content).slice(0, 500)} as of old`;
    }
    return { folder: await run(), against };
  } finally {
    await close();
  }
}

/** Serves these documents; `run` returns the folder of a new run. */
async function startRuns(
  base: string,
  documents: readonly TestDocument[],
  name: string,
  entries: Readonly<Record<string, Parameters<typeof makeStatusEntry>[1]>>,
) {
  const store = new Store();
  const dataset = store.addDataset(...documents);
  dataset.name = name;
  dataset.batches.set(
    "batch",
    documents.map(({ id }) => makeStatusEntry(id, entries[id])),
  );
  const server = await startRealisticServer(store);
  const job = await jobFor(base, {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: "all", batches: ["batch"] }],
    child_chunks: "auto",
    consistency: "counts",
    output: { formats: ["jsonl", "duckdb"] },
  });
  const run = async () => (await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } })).folder;
  return { run, close: () => server.close() };
}

function hostile(base: string): Promise<ReportRequest> {
  return hostileRuns(base, [documentOf(hostileTexts, 1)]);
}

async function empty(base: string): Promise<ReportRequest> {
  return { folder: await writeDump(join(base, "empty"), noRows) };
}
