import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { beginAttempt } from "../../../src/parallel/exchange.js";
import { folderExchange } from "../../../src/parallel/folder-exchange.js";
import { queueName } from "../../../src/parallel/queue.js";
import { foldersOf } from "../../../src/store/folder/job-folders.js";
import { startPlace } from "../../run/shards/sharding.js";
import { hasRedis } from "../../servers/start-redis.js";
import { expectSameBytes, startWorker, useBroker } from "./working.js";

const brokerOfAll = useBroker();

/** Starts a run that waits for workers and opens its exchange. */
async function startWaiting() {
  const place = await startPlace(4);
  const broker = brokerOfAll();
  const single = await place.run();
  const said: string[] = [];
  const result = place.run({}, { workers: broker.url, log: (_level, text) => void said.push(text) });
  const exchanges = join(place.folder, "out", "test", ".work", "exchange");
  const find = async () => (await readdir(exchanges).catch(() => []))[0];
  while ((await find()) === undefined || !said.some((text) => text.includes("to workers"))) await delay(10);
  const runId = (await find()) ?? "";
  const exchange = await folderExchange(foldersOf(place.job), runId);
  const known = new Map(single.manifest.documents.map(({ document_id, dataset_id }) => [document_id, dataset_id]));
  const documents = [...known].map(([documentId, datasetId]) => ({
    ref: { datasetId, documentId },
    name: createHash("sha256")
      .update(JSON.stringify([datasetId, documentId]))
      .digest("hex")
      .slice(0, 32),
  }));
  const work = () => startWorker(place.job, broker.url, place.env, { name: "honest" });
  return { ...place, single, result, said, exchange, documents, work };
}

const requests = { sent: 0, answered: 0, retried: 0, throttled: 0, bytes: 0, retriedBy: {} };

describe.skipIf(!hasRedis)("results that no worker of the run wrote", () => {
  test("each of them is found out, and its document is read again", async () => {
    const { single, result, said, exchange, documents, work } = await startWaiting();
    const begin = async (at: number) => {
      const document = documents[at];
      const attempt = document && (await beginAttempt(exchange, document.name));
      if (!document || !attempt) throw new Error("there is no such document");
      return { ...document, attempt };
    };
    const row = ({ datasetId, documentId }: { datasetId: string; documentId: string }, chunks: number) => ({
      ...{ dataset_id: datasetId, document_id: documentId, doc_form: "text_model", status: "complete" },
      ...{ total: chunks, chunk_count: chunks, child_chunk_count: 0, sweeps: 1, error: null },
    });
    const [rubbish, another, without, twice] = [await begin(0), await begin(1), await begin(2), await begin(3)];
    await rubbish.attempt.submit([], "{");
    const stolen = { row: row(without.ref, 0), drift: {}, childLists: null, proof: "one answer", edited: false };
    const known = { worker: "w", pages: 0, requests };
    await another.attempt.submit(
      [],
      JSON.stringify({ ...known, token: another.attempt.token, stored: { state: stolen, segments: [] } }),
    );
    const file = `${without.name}.chunks.jsonl`;
    await writeFile(join(without.attempt.folder, file), "half\n");
    const facts = { file, bytes: 5, sha256: createHash("sha256").update("other").digest("hex") };
    const damaged = { row: row(without.ref, 1), drift: {}, childLists: null, proof: "one answer", edited: false };
    const submitted = { ...known, token: without.attempt.token, stored: { state: damaged, segments: [facts] } };
    expect(await without.attempt.submit([facts], JSON.stringify(submitted))).toBe("first");
    const same = {
      ...facts,
      file: `${twice.name}.chunks.jsonl`,
      sha256: createHash("sha256").update("half\n").digest("hex"),
    };
    await writeFile(join(twice.attempt.folder, same.file), "half\n");
    const doubled = { ...damaged, row: row(twice.ref, 1) };
    const listed = { ...known, token: twice.attempt.token, stored: { state: doubled, segments: [same, same] } };
    await twice.attempt.submit([same], JSON.stringify(listed));
    while (said.filter((text) => text.includes("is damaged: this run reads it itself")).length < 4) await delay(20);
    work();
    await expectSameBytes(single, await result);
  });

  test("a worker that wakes when the run is over changes nothing", async () => {
    const { result, exchange, documents, work } = await startWaiting();
    const [document] = documents;
    const attempt = await beginAttempt(exchange, document?.name ?? "");
    if (!attempt) throw new Error("the run is over already");
    work();
    const { folder } = await result;
    const published = async () =>
      Promise.all(
        (await readdir(folder)).sort().map(async (name) => [name, await readFile(join(folder, name), "hex")]),
      );
    const before = await published();
    await expect(writeFile(join(attempt.folder, "late"), "x")).rejects.toThrow("ENOENT");
    expect(await attempt.submit([], "{}")).toBe("late");
    await attempt.drop();
    expect(await beginAttempt(exchange, document?.name ?? "")).toBeUndefined();
    expect(await exchange.read("plan.json")).toBeUndefined();
    expect(await published()).toEqual(before);
  });

  test("events that no worker sent change nothing, and later ones are heard", async () => {
    const { single, result, said, job, work } = await startWaiting();
    const redis = new Redis(brokerOfAll().url);
    onTestFinished(() => redis.disconnect());
    const send = (...event: string[]) => redis.xadd(`bull:${queueName(job)}:events`, "*", ...event);
    await send("event", "failed", "jobId", "unknown", "failedReason", "refused: never heard");
    await send("event", "completed", "jobId", "unknown", "returnvalue", "no JSON");
    await send("event", "progress", "jobId", "unknown", "data", "no JSON");
    await send("event", "failed");
    work();
    await expectSameBytes(single, await result);
    expect(said.join("\n")).not.toContain("never heard");
  });
});
