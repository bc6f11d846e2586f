import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { documentsOf } from "../../../src/crawl/discovery.js";
import { discoveryFrom, documentListFromText } from "../../../src/crawl/document-list.js";
import { readPlan } from "../../../src/parallel/accept-document.js";
import { jobIdOf, queueName } from "../../../src/parallel/document-queue.js";
import { openFolderExchange } from "../../../src/parallel/exchange/folder-exchange.js";
import { foldersOf } from "../../../src/store/folder/job-folders.js";
import { startPlace } from "../../run/shards/sharding.js";
import { hasRedis } from "../../servers/start-redis.js";
import { expectSameBytes, startWorker, useBroker } from "./working.js";

const brokerOfAll = useBroker();

/** Starts a run that waits for workers, and opens its exchange. */
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
  const exchange = await openFolderExchange(foldersOf(place.job), runId);
  const { value } = { value: undefined, ...documentListFromText((await exchange.read("list.json")) ?? "") };
  if (!value) throw new Error("the list of the exchange cannot be read");
  const documents = documentsOf(discoveryFrom({ ...value, rows: [], drift: {}, pages: 0 }, place.job));
  const work = () => startWorker(place.job, broker.url, place.env, { name: "honest" });
  return { ...place, single, result, said, exchange, documents, work };
}

const requests = { sent: 0, answered: 0, retried: 0, throttled: 0, bytes: 0, retriedBy: {} };

describe.skipIf(!hasRedis)("results that no worker of the run wrote", () => {
  test("each of them is found out, and its document is read again", async () => {
    const { single, result, said, exchange, documents, work } = await startWaiting();
    const begin = async (at: number) => {
      const document = documents[at];
      const attempt = document && (await exchange.begin(document.name));
      if (!document || !attempt) throw new Error("there is no such document");
      return { ...document, attempt };
    };
    const row = ({ datasetId, documentId }: { datasetId: string; documentId: string }, chunks: number) => ({
      ...{ dataset_id: datasetId, document_id: documentId, doc_form: "text_model", status: "complete" },
      ...{ total: chunks, chunk_count: chunks, child_chunk_count: 0, sweeps: 1, error: null },
    });
    const [rubbish, another, without] = [await begin(0), await begin(1), await begin(2)];
    await rubbish.attempt.submit([], "{");
    const stolen = { row: row(without.ref, 0), drift: {}, childLists: null, proof: "one answer" };
    const known = { worker: "w", pages: 0, requests };
    await another.attempt.submit(
      [],
      JSON.stringify({ ...known, token: another.attempt.token, result: stolen, files: [] }),
    );
    const file = `${without.name}.chunks.jsonl`;
    await writeFile(join(without.attempt.folder, file), "half\n");
    const facts = { file, bytes: 5, sha256: createHash("sha256").update("other").digest("hex") };
    const damaged = { row: row(without.ref, 1), drift: {}, childLists: null, proof: "one answer" };
    const submitted = { ...known, token: without.attempt.token, result: damaged, files: [facts] };
    expect(await without.attempt.submit([facts], JSON.stringify(submitted))).toBe("first");
    while (said.filter((text) => text.includes("is damaged: it is read again")).length < 3) await delay(20);
    work();
    await expectSameBytes(single, await result);
  });

  test("a worker that wakes when the run is over changes nothing", async () => {
    const { result, exchange, documents, work } = await startWaiting();
    const [document] = documents;
    const attempt = await exchange.begin(document?.name ?? "");
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
    await attempt.giveUp("{}");
    await attempt.drop();
    expect(await exchange.begin(document?.name ?? "")).toBeUndefined();
    expect(await exchange.read("plan.json")).toBeUndefined();
    expect(await published()).toEqual(before);
  });

  test("events that no worker sent change nothing, and later ones are heard", async () => {
    const { single, result, said, exchange, documents, job, work } = await startWaiting();
    const redis = new Redis(brokerOfAll().url);
    onTestFinished(() => redis.disconnect());
    const send = (...event: string[]) => redis.xadd(`bull:${queueName(job)}:events`, "*", ...event);
    const plan = await readPlan(exchange);
    const [first = "", other = ""] = documents.map(({ name }) => jobIdOf(plan?.queue_id ?? "", name));
    const heard = async (reason: string) => {
      while (!said.some((text) => text.endsWith(reason))) {
        await send("event", "failed", "jobId", first, "failedReason", reason);
        await delay(100);
      }
    };
    await heard("one");
    await send("event", "failed", "jobId", `${first}0`, "failedReason", "never heard");
    await send("event", "completed", "jobId", other, "returnvalue", "no JSON");
    await send("event", "failed");
    await heard("another");
    work();
    await expectSameBytes(single, await result);
    expect(said.join("\n")).not.toContain("never heard");
  });
});
