import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { runJob } from "../../src/run/run-job.js";
import { jobFor, testFolder } from "../run/job-for.js";
import type { Behaviour } from "../servers/behaviour.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";

/** A dump for one test, which may damage it. */
export interface Dumped {
  /** The folder to pass to `dump` for another run. */
  readonly base: string;
  /** `output/test` */
  readonly folder: string;
  readonly run: string;
  readonly database: string;
  /** Its documents in order: 12 chunks; 5 chunks with 3 child chunks each; one that cannot be read. */
  readonly documents: readonly string[];
}

const allFormats = ["jsonl", "csv", "parquet", "duckdb"];

export const absent = "00000000-0000-4000-8000-00000000dead";

/** A knowledge base with two documents and one batch. */
export function smallStore() {
  const store = new Store();
  const text = makeDocument({ chunks: 12, seed: 1 });
  const nested = makeDocument({ chunks: 5, seed: 2, docForm: "hierarchical_model", childrenPerChunk: 3 });
  const dataset = store.addDataset(text, nested);
  dataset.batches.set("2025", [makeStatusEntry(text.id), makeStatusEntry(nested.id)]);
  return { store, dataset, documents: [text, nested] as const };
}

export interface DumpOptions {
  readonly documents?: readonly string[];
  readonly output?: object;
  readonly childChunks?: string;
  readonly behaviour?: Behaviour;
}

/** Dumps the store to `<folder>/out` with the job `test`. */
export async function dump(
  folder: string,
  { store, dataset }: ReturnType<typeof smallStore>,
  options: DumpOptions = {},
) {
  const server = await startRealisticServer(store, options.behaviour);
  try {
    const documents = options.documents ?? [...dataset.documents.keys()];
    const job = await jobFor(folder, {
      service: { base_url: server.url, retries: 0 },
      datasets: [{ id: dataset.id, documents, batches: [...dataset.batches.keys()] }],
      ...(options.childChunks ? { child_chunks: options.childChunks } : {}),
      output: { formats: allFormats, ...options.output },
    });
    return await runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
  } finally {
    await server.close();
  }
}

/** Makes one dump for the tests of a file, by default in all formats; each test gets a copy. */
export function useDump(formats = allFormats): () => Promise<Dumped> {
  let made: { readonly base: string; readonly runId: string; readonly documents: readonly string[] };
  beforeAll(async () => {
    const base = await mkdtemp(join(tmpdir(), "kbdump-test-"));
    const store = smallStore();
    const documents = [...store.documents.map(({ id }) => id), absent];
    const { folder } = await dump(base, store, { documents, output: { formats } });
    made = { base, runId: basename(folder), documents };
  });
  afterAll(() => rm(made.base, { recursive: true, force: true }));
  return async () => {
    const base = await testFolder();
    const folder = join(base, "out", "test");
    await cp(join(made.base, "out", "test"), folder, { recursive: true, verbatimSymlinks: true });
    const { documents, runId } = made;
    return { base, folder, run: join(folder, "runs", runId), database: join(folder, "test.duckdb"), documents };
  };
}
