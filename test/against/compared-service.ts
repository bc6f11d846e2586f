import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import type { StoredDataset } from "../../src/demo/rows.js";
import { startService } from "../../src/demo/start-service.js";
import { openJournal } from "../../src/journal/journal.js";
import { copyFolderOf } from "../../src/restore/copy/copy-result.js";
import { runJob } from "../../src/run/run-job.js";
import { datasetId, documentId, smallDatasets } from "../demo/small-knowledge.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { writableKnowledge } from "../servers/writable/writable-knowledge.js";

/** The chunks of a document: three, the first with two children. */
export const sketches = [
  { content: "one", enabled: true, keywords: ["red"], answer: null, childContents: ["o", "ne"] },
  { content: "two", enabled: true, keywords: [], answer: null },
  { content: "three", enabled: false, keywords: [], answer: null },
];

const settings = { name: "one.txt", enabled: true, archived: false, indexing_status: "completed" };

/** The dataset tree with these chunks; `fields` override the document row. */
export function treeOf(
  rows: Parameters<typeof smallDatasets>[0] = sketches,
  fields: object = {},
): readonly StoredDataset[] {
  return smallDatasets(rows, { form: "hierarchical_model", embedsChildren: true }).map((dataset) => ({
    ...dataset,
    documents: dataset.documents.map((document) => ({ ...document, row: { ...document.row, ...settings, ...fields } })),
  }));
}

const copiedId = (id: string) => id.replace("-4000-", "-4fff-");

/** A copy of the tree with new ids, like a restored copy. */
export function copyOf(tree: readonly StoredDataset[]): readonly StoredDataset[] {
  return JSON.parse(JSON.stringify(tree).replaceAll(/-4000-/g, "-4fff-"));
}

/** Starts a service with this tree. */
export async function serve(tree: readonly StoredDataset[]) {
  const service = await startService({ demo: writableKnowledge(tree, () => new Date()) });
  onTestFinished(service.close);
  return service;
}

/** Dumps the document of a tree; returns the run folder. */
export async function dumped(
  tree: readonly StoredDataset[] = treeOf(),
  more: Record<string, unknown> = {},
): Promise<string> {
  const { url, key } = await serve(tree);
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: url, retries: 0 },
    datasets: [{ id: datasetId, documents: [documentId] }],
    output: { dir: join(folder, "out"), formats: ["jsonl", "csv"] },
    details: true,
    ...more,
  });
  return (await runJob(job, { env: { KNOWLEDGE_API_KEY: key } })).folder;
}

/** Writes the journal of a finished or unfinished copy of the document. */
export async function noteCopy(run: string, url: string, isFinished = true): Promise<void> {
  const journal = await openJournal(copyFolderOf(run, url), {
    ...{ runId: basename(run), baseUrl: url, now: () => new Date() },
    ...{ checkOwn: async () => {}, another: false },
  });
  journal.beginWith(null);
  const facts = { dataset_id: datasetId, name: "Small" };
  const request = { method: "POST", path: "/", sha256: "" };
  const dataset = await journal.intend({ ...facts, write: "create dataset", old_id: datasetId }, request);
  await journal.conclude(dataset, "done", { ids: [copiedId(datasetId)] });
  const document = await journal.intend({ ...facts, write: "create document", document_id: documentId }, request);
  await journal.conclude(document, "done", { ids: [copiedId(documentId)] });
  if (isFinished) await journal.finish(documentId);
  await journal.close();
}
