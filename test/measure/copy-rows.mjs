// Measures how fast `kbdump copy` writes the chunks of a document to another service: `npm run measure:copy [chunks] [ms]`.
// ms: how long the embedded service takes to answer a write. Prints the requests, the time, and its ratio to the minimum, which is
// the time for only the largest requests.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runnerImport } from "vite";
import { openClient } from "../../dist/client/open-client.js";
import { openWriter } from "../../dist/client/write/writer.js";
import { emptyCopyProgress } from "../../dist/restore/copy/copy-result.js";
import { copyRows } from "../../dist/restore/copy/copy-rows.js";
import { BatchSize, largestSize } from "../../dist/restore/copy/document-work.js";
import { openJournal } from "../../dist/restore/journal.js";

const [count = 10_000, delay = 20] = process.argv.slice(2).map(Number);
const [datasetId, documentId, oldId] = [1, 2, 3].map((last) => `00000000-0000-4000-8000-00000000000${last}`);
const oldChunks = Array.from({ length: count }, (_, at) => ({
  ...{ id: `00000000-0000-4000-9000-${String(at).padStart(12, "0")}`, document_id: oldId, position: at + 1 },
  ...{
    content: `Chunk ${at + 1}. ${"A sentence of some length. ".repeat(40)}`,
    answer: null,
    keywords: ["one", "two"],
  },
  ...{ enabled: true, status: "completed", updated_by: null, disabled_by: null, created_at: 1, attachment_ids: [] },
  summary: null,
}));

async function* chunksOf(chunks) {
  for (const chunk of chunks) yield { ...chunk, children: [] };
}

const row = { id: documentId, name: "one.txt", doc_form: "text_model", created_at: 1, word_count: 0, tokens: 0 };
const dataset = { id: datasetId, name: "Target", indexing_technique: "high_quality" };
const stored = [{ row: dataset, documents: [{ row, chunks: [] }], batches: [] }];
const { module } = await runnerImport(`${import.meta.dirname}/../servers/writable/start-writable.ts`, {
  ...{ configFile: false, logLevel: "error" },
});
const service = await module.startWritable(stored, { delay });
const folder = await mkdtemp(join(tmpdir(), "kbdump-copy-"));
const { url: baseUrl, key } = service;
const signal = new AbortController().signal;
const api = openClient({ baseUrl, key });
const writer = openWriter({ baseUrl, key, concurrency: 1 });
const journal = await openJournal(folder, {
  ...{ runId: "20260301T000000000Z", baseUrl, another: false },
  ...{ now: () => new Date(), checkOwn: async () => {} },
});
journal.beginWith(null);
const progress = emptyCopyProgress();
const plan = { dataset_id: datasetId, document_id: oldId, doc_form: "text_model", attachments: [] };
const options = {
  ...{
    api,
    writer,
    journal,
    signal,
    progress,
    concurrency: 1,
    settle: 60_000,
    lockTime: 600_000,
    batchSize: new BatchSize(),
  },
  ...{
    log: () => {},
    readChunks: () => chunksOf(oldChunks),
    now: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  },
};
try {
  const begun = performance.now();
  const { failed, reason } = await copyRows({ options, plan, place: { datasetId, documentId } });
  const seconds = (performance.now() - begun) / 1000;
  const least = (Math.ceil(count / largestSize) * delay) / 1000;
  if (failed.length > 0 || reason !== null) throw new Error(reason ?? failed[0].reason);
  process.stdout.write(
    `${count} chunks, ${journal.writes} requests of ${delay} ms, ${seconds.toFixed(2)} s\n` +
      `least possible: ${least.toFixed(2)} s; ratio ${(seconds / least).toFixed(2)}\n`,
  );
} finally {
  await Promise.all([api.close(), writer.close(), journal.close(), service.close()]);
  await rm(folder, { recursive: true });
}
