import { onTestFinished } from "vitest";
import { startService } from "../../../src/demo/start-service.js";
import { openDump } from "../../../src/dump/open-dump.js";
import { emptyReadProgress } from "../../../src/read-progress.js";
import { gatherLost, type LostFacts, type LostOptions } from "../../../src/report/sections/lost.js";
import { runJob } from "../../../src/run/run-job.js";
import { datasetId, documentId, KnowledgeBase } from "../../restore/random/knowledge-base.js";
import type { ManualEdit } from "../../restore/random/scenario.js";
import { jobFor, testFolder } from "../../run/job-for.js";

/** Two runs of a job: after the manual edits, and after the re-index that removed them. */
export interface TwoRuns {
  readonly older: string;
  readonly newer: string;
  /** The path of the job's database. */
  readonly database: string;
}

/** Dumps a document with manual edits, some of them from before the first run; re-indexes it; dumps it again. */
export async function runsAroundReindex(
  before: readonly ManualEdit[],
  edits: readonly ManualEdit[],
  output: object = {},
): Promise<TwoRuns> {
  const base = new KnowledgeBase({ form: "hierarchical_model", chunks: 7 });
  const service = await startService({ demo: base.demo });
  onTestFinished(() => service.close());
  const job = await jobFor(await testFolder(), {
    service: { base_url: service.url },
    datasets: [{ id: datasetId, documents: "all" }],
    child_chunks: "all",
    output: { formats: ["jsonl", "duckdb"], ...output },
  });
  const run = async () => (await runJob(job, { env: { KNOWLEDGE_API_KEY: service.key } })).folder;
  for (const edit of before) await base.work(edit);
  await run();
  for (const edit of edits) await base.work(edit);
  const older = await run();
  base.demo.store.reindex(documentId, { seconds: 0 });
  const newer = await run();
  return { older, newer, database: older.replace(/runs\/[^/]+$/, "test.duckdb") };
}

/** The losses of a re-index; by default with texts and without a database. */
export async function gathered(older: string, newer: string, more: Partial<LostOptions> = {}): Promise<LostFacts> {
  const signal = new AbortController().signal;
  const given = { database: undefined, content: true, memory: "400MB", nameFolder: undefined };
  const options = { ...given, signal, progress: emptyReadProgress(), ...more };
  return gatherLost(
    await openDump(older, "nothing was compared"),
    await openDump(newer, "nothing was compared"),
    options,
  );
}
