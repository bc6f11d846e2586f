// Measures how fast `kbdump copy` writes the chunks of a document to another service: `npm run measure:copy [chunks] [ms]`.
// `ms`: how long the service, which runs in its own process, waits before it answers a write. Prints the number of requests, the time,
// and its ratio to two minimums. Both send only requests of the largest size, one after the other: the first is the sum of the waits, and
// the second is the time of a bare client.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runnerImport } from "vite";
import { openClient } from "../../dist/client/open-client.js";
import { openWriter } from "../../dist/client/write/writer.js";
import { openJournal } from "../../dist/journal/journal.js";
import { copyRows, largestRequest } from "../../dist/restore/copy/copy-rows.js";
import { DocumentCopy } from "../../dist/restore/copy/document-work.js";
import { emptyWriteProgress } from "../../dist/restore/result.js";

const [count = 10_000, delay = 20] = process.argv.slice(2).map(Number);
const [datasetId, documentId, bareId, warmId, oldId] = [1, 2, 3, 4, 5].map(
  (last) => `00000000-0000-4000-8000-00000000000${last}`,
);
const texts = (at) => ({
  content: `Chunk ${at + 1}. ${"A sentence of some length. ".repeat(40)}`,
  keywords: ["one", "two"],
});
await (process.send ? serve() : measure());

/** Starts the service with empty documents, and sends its address and key to the parent process. */
async function serve() {
  const documents = [documentId, bareId, warmId].map((id) => ({
    row: { id, name: `${id}.txt`, doc_form: "text_model", created_at: 1, word_count: 0, tokens: 0 },
    chunks: [],
  }));
  const dataset = { id: datasetId, name: "Target", indexing_technique: "high_quality" };
  const { module } = await runnerImport(`${import.meta.dirname}/../servers/writable/start-writable.ts`, {
    ...{ configFile: false, logLevel: "error" },
  });
  const { url, key } = await module.startWritable([{ row: dataset, documents, batches: [] }], { delay });
  process.send({ url, key });
}

async function measure() {
  const service = fork(import.meta.filename, process.argv.slice(2));
  try {
    const [{ url, key }] = await once(service, "message");
    await sendBare(url, key, warmId); // the first requests to a service take longer
    const { seconds, requests } = await copy(url, key);
    const bare = await sendBare(url, key, bareId);
    const waits = (Math.ceil(count / largestRequest) * delay) / 1000;
    process.stdout.write(
      `${count} chunks, ${requests} requests of ${delay} ms, ${seconds.toFixed(2)} s\n` +
        `waits of the largest requests: ${waits.toFixed(2)} s; ratio ${(seconds / waits).toFixed(2)}\n` +
        `a bare client: ${bare.toFixed(2)} s; ratio ${(seconds / bare).toFixed(2)}\n`,
    );
  } finally {
    service.kill();
  }
}

/** Copies the chunks to a document with kbdump. */
async function copy(baseUrl, key) {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-copy-"));
  const chunks = Array.from({ length: count }, (_, at) => ({
    ...{ id: `00000000-0000-4000-9000-${String(at).padStart(12, "0")}`, document_id: oldId, position: at + 1 },
    ...{ ...texts(at), answer: null, summary: null, attachment_ids: [], children: [] },
    ...{ enabled: true, status: "completed", updated_by: null, disabled_by: null, created_at: 1 },
  }));
  const api = openClient({ baseUrl, key });
  const writer = openWriter({ baseUrl, key, concurrency: 1 });
  const journal = await openJournal(folder, {
    ...{ runId: "20260301T000000000Z", baseUrl, another: false },
    ...{ now: () => new Date(), checkOwn: async () => {} },
  });
  journal.beginWith(null);
  const options = {
    ...{ api, writer, journal, concurrency: 1, settle: 60_000, lockTime: 600_000 },
    ...{ signal: new AbortController().signal, progress: emptyWriteProgress(), log: () => {}, now: Date.now },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    readChunks: async function* () {
      yield* chunks;
    },
  };
  const plan = { dataset_id: datasetId, document_id: oldId, doc_form: "text_model", attachments: [] };
  try {
    const begun = performance.now();
    const copied = new DocumentCopy(options, plan, { datasetId, documentId });
    await copyRows(copied);
    const seconds = (performance.now() - begun) / 1000;
    if (copied.failed.length > 0) throw new Error(copied.failed[0].reason);
    return { seconds, requests: journal.writes };
  } finally {
    await Promise.all([api.close(), writer.close(), journal.close()]);
    await rm(folder, { recursive: true });
  }
}

/** Sends the chunks to a document with node:http only; returns the seconds. */
async function sendBare(url, key, id) {
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const begun = performance.now();
  for (let first = 0; first < count; first += largestRequest) {
    const segments = Array.from({ length: Math.min(largestRequest, count - first) }, (_, at) => texts(first + at));
    const sent = request(`${url}/datasets/${datasetId}/documents/${id}/segments`, {
      method: "POST",
      headers,
      agent,
    });
    sent.end(JSON.stringify({ segments }));
    const [answer] = await once(sent, "response");
    const { data } = JSON.parse((await answer.toArray()).join(""));
    if (answer.statusCode !== 200 || data.length !== segments.length) throw new Error(`status ${answer.statusCode}`);
  }
  const seconds = (performance.now() - begun) / 1000;
  agent.destroy();
  return seconds;
}
