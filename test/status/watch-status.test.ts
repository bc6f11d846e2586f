import { readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { InterruptedError, StopError, UsageError } from "../../src/errors.js";
import { runJob } from "../../src/run/run-job.js";
import { takeStatus } from "../../src/status/capture-status.js";
import { watchStatus } from "../../src/status/watch-status.js";
import type { WatchOptions } from "../../src/status/watched-documents.js";
import { lockJob } from "../../src/store/folder/lock.js";
import { inFull } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { query } from "../run/read-dump.js";
import type { Behaviour } from "../servers/behaviour.js";
import { firstTimes } from "../servers/faults.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { type Batch, makeDocument, makeStatusEntry, Store } from "../servers/store.js";
import { WatchClock } from "./watch-clock.js";

type Facts = Parameters<typeof makeStatusEntry>[1];

/** A batch of one document that answers with these facts, one per read; the last one repeats. */
const statuses =
  (id: string, ...facts: readonly Facts[]) =>
  (read: number) => [makeStatusEntry(id, { completed_at: null, ...facts[Math.min(read, facts.length) - 1] })];
const at = (indexing_status: string, completed_segments = 0, total_segments = 0): Facts => ({
  indexing_status,
  completed_segments,
  total_segments,
});
const untimed: Facts = {
  processing_started_at: null,
  parsing_completed_at: null,
  cleaning_completed_at: null,
  splitting_completed_at: null,
};
const updated = [
  at("waiting"),
  at("waiting"),
  at("splitting", 0, 3),
  at("splitting", 0, 8),
  at("indexing", 5, 8),
  at("indexing", 4, 10),
  at("completed", 10, 10),
];

interface PlaceOptions {
  readonly batches?: (ids: readonly string[]) => Readonly<Record<string, Batch>>;
  readonly behaviour?: Behaviour;
  readonly asked?: readonly string[];
}

async function startPlace({
  batches = ([id = ""]) => ({ b: statuses(id, ...updated) }),
  behaviour = {},
  asked,
}: PlaceOptions = {}) {
  const store = new Store();
  const documents = [1, 2, 3].map((seed) => makeDocument({ chunks: 2, seed }));
  const ids = documents.map(({ id }) => id);
  const dataset = store.addDataset(...documents);
  for (const [name, batch] of Object.entries(batches(ids))) dataset.batches.set(name, batch);
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url, retries: 0 },
    datasets: [{ id: dataset.id, documents: ids, batches: asked ?? [...dataset.batches.keys()] }],
    output: { dir: join(folder, "out"), formats: ["duckdb"] },
  });
  const env = { KNOWLEDGE_API_KEY: server.key };
  const place = join(folder, "out", "test");
  const log: string[] = [];
  const watch = (options: Partial<WatchOptions> = {}) => {
    const { now, sleep } = new WatchClock(options.timeout);
    const report: WatchOptions["log"] = (level, message) => log.push(`${level}: ${message}`);
    return watchStatus(job, { env, interval: 5_000, now, sleep, log: report, ...options });
  };
  const kept = () =>
    query(
      "SELECT document_id, indexing_status AS s, completed_segments::INT AS n, epoch_ms(captured_at)::VARCHAR AS at FROM indexing_status ORDER BY rowid",
      join(place, "test.duckdb"),
    );
  const run = () => runJob(job, { env });
  return {
    job,
    env,
    ids,
    server,
    folder,
    place,
    waiting: join(place, ".work", "indexing_status"),
    log,
    watch,
    kept,
    run,
  };
}

test.runIf(inFull)("polls until the document is completed, and keeps every reading that differs", async () => {
  const { watch, kept, server, log, waiting } = await startPlace();
  expect(await watch()).toMatchObject({
    status: "completed",
    seconds: 30,
    polls: 7,
    readings: 6,
    rows: [{ indexing_status: "completed", completed_segments: 10 }],
    added: true,
  });
  const rows = await kept();
  expect(rows.map(({ s, n }) => `${s} ${n}`)).toEqual([
    "waiting 0",
    "splitting 0",
    "splitting 0",
    "indexing 5",
    "indexing 4",
    "completed 10",
  ]);
  expect(rows.map((row) => (Number(row.at) - Date.parse("2026-11-20T02:00:00Z")) / 5000)).toEqual([0, 2, 3, 4, 5, 6]);
  expect(server.requests.every(({ path }) => path.endsWith("/indexing-status"))).toBe(true);
  expect(log).toEqual([]);
  expect(await readdir(waiting)).toEqual([]);
});

test.runIf(inFull)(
  "continues after an error until the others are done, and names the document that failed",
  async () => {
    const { watch, kept, log, ids } = await startPlace({
      batches: ([one = "", two = "", three = ""]) => ({
        b: (read) => [
          ...statuses(one, at("indexing"), { ...at("error"), error: "too \u001b[31mlong" })(read),
          ...statuses(two, ...updated)(read),
        ],
        c: statuses(three, at("completed")),
      }),
    });
    expect(await watch()).toMatchObject({ status: "error", polls: 7, readings: 9 });
    expect(log).toEqual([`warn: document ${ids[0]} of batch "b" ended in an error: too \u001b[31mlong`]);
    expect((await kept()).filter(({ document_id }) => document_id === ids[1])).toHaveLength(6);
  },
);

test.runIf(inFull)("everything is completed already: one poll", async () => {
  const { watch } = await startPlace({ batches: ([id = ""]) => ({ b: statuses(id, at("completed", 3, 3)) }) });
  expect(await watch()).toMatchObject({ status: "completed", polls: 1, readings: 1, seconds: 0 });
});

test.runIf(inFull)("the timeout ends it, and its readings are kept", async () => {
  const { watch, kept } = await startPlace({
    batches: ([id = ""]) => ({ b: statuses(id, at("waiting"), at("indexing")) }),
  });
  expect(await watch({ timeout: 60_000 })).toMatchObject({ status: "timeout", seconds: 60, polls: 12, added: true });
  expect((await kept()).map(({ s }) => s)).toEqual(["waiting", "indexing"]);
});

test.runIf(inFull)("the timeout cuts off an answer that does not come", async () => {
  const { watch } = await startPlace({ behaviour: { faults: firstTimes(1, { kind: "hang" }) } });
  const sleep = (ms: number) =>
    ms === 700 ? new Promise<void>((end) => setTimeout(end, 50)) : Promise.reject(new Error());
  expect(await watch({ timeout: 700, sleep })).toMatchObject({ status: "timeout", polls: 0, rows: [] });
});

test.runIf(inFull)("a document that does not move for ten minutes is warned of once, and its pause is", async () => {
  const { watch, log, ids } = await startPlace({
    batches: ([one = "", two = ""]) => ({
      b: statuses(one, { ...at("indexing", 5, 8), ...untimed }),
      c: statuses(two, at("paused")),
    }),
  });
  await watch({ timeout: 3_600_000, interval: 30_000 });
  const about = (id: string | undefined) => log.filter((line) => line.includes(String(id)));
  expect(about(ids[0])).toEqual([
    `warn: document ${ids[0]} of batch "b" has made no progress for 10 min: indexing, 5 of 8 chunks, no error reported`,
  ]);
  expect(about(ids[1])).toEqual([expect.stringContaining("is paused")]);
});

test.runIf(inFull)("of many warnings the first ten are written out", async () => {
  const { watch, log } = await startPlace({
    batches: () => ({
      b: Array.from({ length: 13 }, (_each, n) => makeStatusEntry(`d${n}`, { indexing_status: "error" })),
    }),
  });
  await watch();
  expect(log).toHaveLength(11);
  expect(log.at(-1)).toBe("warn: … and 3 more documents with warnings");
});

test.runIf(inFull)("polls that fail do not end it: it says so once, and when they are over", async () => {
  const fail: Behaviour["faults"] = ({ nth }) => {
    if (nth === 1 || nth === 2) return { kind: "status", status: 503 };
    if (nth === 3) return { kind: "reset-before" };
    return nth === 4 ? { kind: "status", status: 404, body: "html" } : undefined;
  };
  const { watch, log } = await startPlace({ behaviour: { faults: fail } });
  expect(await watch()).toMatchObject({ status: "completed", polls: 11, readings: 6 });
  expect(log).toEqual([
    expect.stringMatching(/^warn: indexing status of batch "b": GET .*503 .*; still watching$/),
    "info: every batch can be read again",
  ]);
});

test.runIf(inFull)("a service that is gone for longer than requests may be in flight is also waited for", async () => {
  const { watch } = await startPlace({
    behaviour: { faults: ({ nth }) => (nth > 0 && nth < 20 ? { kind: "reset-before" } : undefined) },
  });
  expect(await watch()).toMatchObject({ status: "completed", polls: 26 });
});

test.each<[string, PlaceOptions, RegExp]>([
  ["an unknown batch", { asked: ["b", "nope"] }, /^indexing status of batch "nope": .*404 not_found/],
  ["a batch without a document", { batches: () => ({ b: [] }) }, /^batch "b" contains no document/],
  [
    "a wrong address",
    { behaviour: { faults: firstTimes(Number.POSITIVE_INFINITY, { kind: "invalid-json" }) } },
    /the body is not valid JSON/,
  ],
  [
    "a batch that is taken away",
    { behaviour: { faults: ({ nth }) => (nth > 2 ? { kind: "status", status: 404, code: "not_found" } : undefined) } },
    /404 not_found/,
  ],
  [
    "a refused key",
    { behaviour: { faults: ({ nth }) => (nth > 2 ? { kind: "status", status: 401 } : undefined) } },
    /401/,
  ],
])("%s ends it with a sentence, and what was read waits", async (_name, options, sentence) => {
  const { watch, waiting, server } = await startPlace(options);
  const ended = watch();
  await expect(ended).rejects.toThrow(StopError);
  await expect(ended).rejects.toThrow(sentence);
  const read = server.requests.some(({ status, fault }) => status === 200 && !fault);
  expect((await readdir(waiting).catch(() => [])).length > 0).toBe(read && options.batches === undefined);
});

test("a refused connection is reported at once", async () => {
  const { job, env, server } = await startPlace();
  await server.close();
  await expect(watchStatus(job, { env, interval: 1000 })).rejects.toThrow(/connection refused by 127/);
  await expect(watchStatus(job, { env: {}, interval: 1000 })).rejects.toThrow(UsageError);
});

test.runIf(inFull)("a signal ends it with its reason; its readings wait for the next run", async () => {
  const { watch, waiting, job, env, kept } = await startPlace();
  const stop = new AbortController();
  const onPoll = () => stop.signal.aborted || stop.abort(new InterruptedError("SIGINT"));
  await expect(watch({ signal: stop.signal, onPoll })).rejects.toThrow("interrupted by SIGINT");
  expect(await readdir(waiting)).toHaveLength(1);
  await takeStatus(job, { env });
  expect((await kept()).map(({ s }) => s)).toEqual(["waiting", "waiting"]);
});

test.runIf(inFull)("while a run is in progress the readings wait, and the next run adds them all", async () => {
  const { watch, waiting, place, run, kept } = await startPlace();
  await run();
  const before = await readFile(join(place, "test.duckdb"));
  const lock = await lockJob(join(place, ".work"), new Date());
  expect(await watch()).toMatchObject({ status: "completed", added: false });
  await lock.release(join(place, ".work"));
  expect((await readFile(join(place, "test.duckdb"))).equals(before)).toBe(true);
  expect(await readdir(waiting)).toHaveLength(5);
  await run();
  expect(await kept()).toHaveLength(2 + 5 + 2);
  expect(await readdir(waiting)).toEqual([]);
});

test.runIf(inFull)("a large database is never copied", async () => {
  const { watch, waiting, place, run } = await startPlace();
  await run();
  const database = join(place, "test.duckdb");
  await writeFile(database, "");
  await truncate(database, 300_000_000);
  const { ino, mtimeMs } = await stat(database);
  expect(await watch()).toMatchObject({ status: "completed", added: false });
  expect(await stat(database)).toMatchObject({ ino, mtimeMs });
  expect((await readdir(waiting)).length).toBeGreaterThan(0);
});

test.runIf(inFull)("an unreadable database is reported, and so is how the watch ended", async () => {
  const { watch, waiting, place, run, log } = await startPlace();
  await run();
  await writeFile(join(place, "test.duckdb"), "notes");
  expect(await watch()).toMatchObject({ status: "completed", added: false });
  expect(log).toEqual([
    expect.stringMatching(/^warn: .*test\.duckdb cannot be read \(.*\), so the readings wait beside it/),
  ]);
  expect((await readdir(waiting)).length).toBeGreaterThan(0);
});

test.runIf(inFull)("a watch of a day: every reading is kept, and all are added at once", async () => {
  const polls = 100;
  const { watch, kept, waiting } = await startPlace({
    batches: ([id = ""]) => ({
      b: (read) => [makeStatusEntry(id, at(read < polls ? "indexing" : "completed", read, polls))],
    }),
  });
  expect(await watch({ interval: 864_000 })).toMatchObject({ seconds: 85_536, polls, readings: polls, added: true });
  expect((await kept()).map(({ n }) => n)).toEqual(Array.from({ length: polls }, (_each, index) => index + 1));
  expect(await readdir(waiting)).toEqual([]);
});
