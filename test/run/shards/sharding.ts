import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Job } from "../../../src/job/job.js";
import { loadJob } from "../../../src/job/load-job.js";
import type { RunOptions } from "../../../src/job/open-service.js";
import { allKinds } from "../../../src/rows/columns.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import type { Behaviour } from "../../servers/behaviour.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../../servers/store.js";
import { jobFile, testFolder } from "../job-for.js";
import { type Rows, readJsonl } from "../read-dump.js";

/** Two datasets with documents of every shape, some of them edited; each dataset has a batch. The job reads everything. */
export async function startPlace(documents = 8, more: Record<string, unknown> = {}) {
  const store = new Store();
  for (const part of [0, 1]) {
    const made = Array.from({ length: documents / 2 }, (_, at) =>
      makeDocument({
        chunks: at === 1 ? 105 : 1 + at * 5,
        seed: 1 + part * 50 + at,
        childrenPerChunk: at % 2 === 0 ? 2 : 0,
      }),
    );
    const dataset = store.addDataset(...made);
    Object.assign(dataset, { listed: { description: "x" }, metadata: { doc_metadata: [] }, tags: { data: [] } });
    for (const each of made.slice(0, 1))
      for (const chunk of each.chunks)
        Object.assign(chunk, { enabled: true, disabled_by: null, updated_by: null, created_at: 1_741_267_200 });
    for (const each of made) each.details = { id: each.id, name: each.name, data_source_type: "upload_file" };
    dataset.batches.set(`2025${part}`, [makeStatusEntry([...dataset.documents.keys()][0] ?? "")]);
  }
  const behaviour: Behaviour = { resign: false };
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const file = await jobFile(folder, {
    service: { base_url: server.url, retries: 0, concurrency: 4 },
    datasets: [...store.datasets.values()].map(({ id, batches }) => ({
      id,
      documents: "all",
      batches: [...batches.keys()],
    })),
    child_chunks: "auto",
    details: "auto",
    output: { dir: join(folder, "out"), formats: ["jsonl"], csv_safe: true },
    ...more,
  });
  const env = { KNOWLEDGE_API_KEY: server.key };
  const job = await loadJob({ file }, {}, {});
  const run = (changes: Partial<Job> = {}, options: RunOptions = {}) =>
    runJob({ ...job, ...changes }, { env, ...options });
  const list = join(folder, "list.json");
  return { store, server, behaviour, folder, file, env, job, run, list, shards: join(folder, "out", "test", "shards") };
}

/** All `count` shards. */
export const allOf = (count: number) => Array.from({ length: count }, (_, at) => ({ index: at + 1, count }));

/** The rows of some runs, sorted so that the split into shards does not matter; status readings without their time. */
export async function rowsOf(runs: readonly { readonly folder: string }[], kind: string): Promise<readonly string[]> {
  const rows: Rows = [];
  for (const { folder } of runs) rows.push(...(await readJsonl(folder, kind)));
  return rows.map(({ captured_at: _, ...row }) => JSON.stringify(row)).sort();
}

/** Expects the shards to have the same rows as a whole run, in every file. */
export async function expectWhole(shards: Parameters<typeof rowsOf>[0], whole: RunResult): Promise<void> {
  for (const kind of allKinds) expect(await rowsOf(shards, kind), kind).toEqual(await rowsOf([whole], kind));
}
