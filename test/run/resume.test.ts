import { appendFile, readdir, readFile, rename, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StopError } from "../../src/errors.js";
import type { RunOptions } from "../../src/job/open-service.js";
import { runJob } from "../../src/run/run-job.js";
import { resultSchema } from "../../src/segments/document-result.js";
import { readSharedJournal } from "../../src/segments/shared-segments.js";
import { inFull } from "../rounds.js";
import type { Behaviour } from "../servers/behaviour.js";
import { rawNumber } from "../servers/json.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store } from "../servers/store.js";
import { jobFor, testFolder, workOf } from "./job-for.js";

const files = ["chunks.jsonl", "child_chunks.jsonl", "chunks.csv", "child_chunks.csv"];
const refused = { kind: "status", status: 401, body: "json" } as const;

async function startPlace() {
  const store = new Store();
  const dataset = store.addDataset(
    makeDocument({ chunks: 120, seed: 1 }),
    makeDocument({ chunks: 110, seed: 2, childrenPerChunk: (at) => (at === 100 ? 230 : at % 3) }),
    makeDocument({ chunks: 1, seed: 3 }),
    makeDocument({ chunks: 0, seed: 4 }),
  );
  const behaviour: Behaviour = {};
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const jobWith = (name: string, more: Record<string, unknown> = {}) =>
    jobFor(folder, {
      name,
      service: { base_url: server.url, concurrency: 4, retries: 0 },
      datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
      output: { dir: join(folder, "out"), formats: ["jsonl", "csv"] },
      ...more,
    });
  const messages: string[] = [];
  const run = async (job: Awaited<ReturnType<typeof jobWith>>, options: RunOptions = {}) =>
    runJob(job, {
      env: { KNOWLEDGE_API_KEY: server.key },
      log: (_level, message) => messages.push(message),
      ...options,
    });
  /** Runs until the server has answered this many requests and then refuses the key, which ends the run at once. */
  const breakOff = async (job: Awaited<ReturnType<typeof jobWith>>, requests: number, options: RunOptions = {}) => {
    let answered = 0;
    behaviour.faults = () => (++answered > requests ? refused : undefined);
    await expect(run(job, options)).rejects.toThrow(StopError);
    delete behaviour.faults;
  };
  const contents = (runFolder: string) => Promise.all(files.map((name) => readFile(join(runFolder, name), "utf8")));
  return {
    dataset,
    server,
    behaviour,
    folder,
    jobWith,
    run,
    breakOff,
    contents,
    messages,
    work: join(folder, "out", "test", ".work"),
  };
}

/** The files of an undisturbed run. */
interface Undisturbed {
  readonly contents: readonly string[];
  readonly documents: unknown;
  readonly requests: number;
}

let known: Promise<Undisturbed> | undefined;

/** One undisturbed run for all tests. */
function undisturbed(): Promise<Undisturbed> {
  known ??= runUndisturbed();
  return known;
}

async function runUndisturbed(): Promise<Undisturbed> {
  const { jobWith, run, contents, server } = await startPlace();
  const { folder, manifest } = await run(await jobWith("undisturbed"));
  return { contents: await contents(folder), documents: manifest.documents, requests: server.requests.length };
}

test("a run that is interrupted again and again ends like an undisturbed one, and requests little twice", async () => {
  const { jobWith, run, breakOff, contents, server } = await startPlace();
  const { requests: needed, ...expected } = await undisturbed();
  const job = await jobWith("test");
  for (const requests of [2, 7, 30, 60, 100, 40]) await breakOff(job, requests);
  const { folder, manifest } = await run(job);
  expect(await contents(folder)).toEqual(expected.contents);
  expect(manifest.documents).toEqual(expected.documents);
  expect(manifest.status).toBe("complete");
  const answered = server.requests.filter(({ status }) => status === 200).length;
  expect(answered).toBeGreaterThanOrEqual(needed);
  expect(answered).toBeLessThan(needed * 1.1 + 6 * (4 + 4 * 4));
});

/** The documents that have a result, either in their own file or in the shared journal. */
async function readFinished(segments: string): Promise<ReadonlySet<string>> {
  const alone = (await readdir(segments)).filter((name) => name.endsWith(".result.json"));
  const together = (await readSharedJournal(segments, resultSchema)).map(({ name }) => name);
  return new Set([...alone.map((file) => file.slice(0, file.indexOf("."))), ...together]);
}

test.runIf(inFull)(
  "finished documents are not requested again, and the status before is the one from the start",
  async () => {
    const { jobWith, run, breakOff, server, dataset, messages, work } = await startPlace();
    const job = await jobWith("test");
    await breakOff(job, 150);
    const segments = join(await workOf(work), "segments");
    const finished = [...(await readFinished(segments))].map(Number);
    server.reset();
    const { manifest } = await run(job);
    expect(manifest.counts).toMatchObject({ chunks: 231, child_chunks: 338, metadata_fields: 5 });
    expect(messages).toContainEqual(expect.stringMatching(/^continuing the run that began at 2/));
    const asked = new Set(server.requests.map(({ path }) => path.split("/")[5]));
    expect(finished.length).toBeGreaterThanOrEqual(2); // the two small documents, and perhaps another one
    expect(asked).toEqual(new Set([...dataset.documents.keys()].filter((_id, at) => !finished.includes(at + 1))));
    expect(server.requests.some(({ path }) => path.endsWith("/built-in"))).toBe(false);
    expect(server.requests.length).toBeLessThan(160);
  },
);

test("the torn end after a kill is cut off: half a journal line, rows without a commit", async () => {
  const { jobWith, run, breakOff, contents, work } = await startPlace();
  const job = await jobWith("test");
  await breakOff(job, 80);
  const segments = join(await workOf(work), "segments");
  const names = await readdir(segments);
  expect(names.some((name) => name.endsWith(".journal"))).toBe(true);
  for (const name of names) {
    if (name.endsWith(".journal"))
      await appendFile(join(segments, name), '{"state":{"attempt":{"number":1},"read":{"howFar":{"chunks":{"tot');
    else if (!name.endsWith(".json")) await appendFile(join(segments, name), '{"dataset_id":"torn');
  }
  const { folder } = await run(job);
  expect(await contents(folder)).toEqual((await undisturbed()).contents);
});

test.runIf(inFull)("segments that do not match the journal are read again", async () => {
  const { jobWith, run, breakOff, contents, work } = await startPlace();
  const job = await jobWith("test");
  await breakOff(job, 150);
  const segments = join(await workOf(work), "segments");
  for (const name of (await readdir(segments)).filter((name) => /jsonl$/.test(name)))
    await truncate(join(segments, name), 10);
  const { folder } = await run(job);
  expect(await contents(folder)).toEqual((await undisturbed()).contents);
});

test.runIf(inFull)("the continued document is checked like any other: a change in between is seen", async () => {
  const { jobWith, run, breakOff, dataset } = await startPlace();
  const job = await jobWith("test");
  await breakOff(job, 80);
  const [first] = dataset.documents.values();
  const [, second] = dataset.documents.values();
  second?.chunks.splice(70, 10);
  first?.chunks.splice(0, 0);
  const { manifest } = await run(job);
  expect(manifest.status).toBe("complete");
  expect(manifest.documents[1]).toMatchObject({ total: 100, chunk_count: 100 });
});

test("a nightly job resumes the next night, even if its start is a little late", async () => {
  const { jobWith, run, breakOff, messages } = await startPlace();
  const job = await jobWith("test");
  await breakOff(job, 80);
  const nextNight = Date.now() + 24 * 3_600_000 + 60_000;
  const { manifest } = await run(job, { now: () => new Date(nextNight) });
  expect([manifest.counts.chunks, manifest.status]).toEqual([231, "complete"]);
  expect(messages).toContainEqual(expect.stringMatching(/^continuing the run that began at /));
});

test.runIf(inFull).each([
  ["a changed job", { child_chunks: "none" }, {}, "the job has changed since"],
  ["an old run", {}, { now: () => new Date(Date.now() + 49 * 3_600_000) }, "it is older than 48 h"],
  ["--fresh", {}, { fresh: true }, "a fresh start was asked for"],
])("%s starts over, says so and keeps the old work aside", async (_name, more, options, reason) => {
  const { jobWith, run, breakOff, messages, work, server } = await startPlace();
  await breakOff(await jobWith("test"), 100);
  server.reset();
  const { manifest } = await run(await jobWith("test", more), options);
  expect(manifest.counts.chunks).toBe(231);
  expect(server.requests.some(({ path }) => path.endsWith("/built-in"))).toBe(true);
  expect(messages).toContainEqual(
    expect.stringMatching(new RegExp(`^the work of run \\d{8}T\\d{9}Z is not continued: ${reason}; it lies in `)),
  );
  expect((await readdir(work)).sort()).toEqual(["indexing_status", "set-aside"]);
});

test.runIf(inFull)("a run that was killed between its publication and its tidying is not published twice", async () => {
  const { jobWith, run, breakOff, work, folder } = await startPlace();
  const job = await jobWith("test");
  const published = await run(job);
  await breakOff(job, 100);
  const left = await workOf(work);
  await rename(left, join(left, "..", published.manifest.run_id));
  const { manifest } = await run(job);
  expect(manifest.run_id).not.toBe(published.manifest.run_id);
  expect((await readdir(join(folder, "out", "test", "runs"))).length).toBe(2);
  expect(await readdir(work)).toEqual(["indexing_status"]);
});

test("after a partial run --retry-failed reads the failed documents only, and publishes everything", async () => {
  const { jobWith, run, contents, server, behaviour, dataset, work } = await startPlace();
  const [first, second] = dataset.documents.keys();
  behaviour.faults = ({ path }) =>
    path.includes(`/${second}/`) ? { kind: "status", status: 400, body: "json" } : undefined;
  const job = await jobWith("test");
  const partial = await run(job);
  expect(partial.manifest.documents.map(({ status }) => status)).toEqual([
    "complete",
    "failed",
    "complete",
    "complete",
  ]);

  delete behaviour.faults;
  server.reset();
  const { manifest, folder } = await run(job, { retryFailed: true });
  expect(manifest.status).toBe("complete");
  expect(manifest.run_id).not.toBe(partial.manifest.run_id);
  expect(await contents(folder)).toEqual((await undisturbed()).contents);
  const asked = new Set(server.requests.map(({ path }) => path.split("/")[5]));
  expect(asked.has(second ?? "")).toBe(true);
  expect(asked.has(first ?? "")).toBe(false);
  expect(await readdir(work)).toEqual(["indexing_status"]);
});

test.runIf(inFull)("after a partial run an ordinary one reads everything again", async () => {
  const { jobWith, run, server, behaviour, dataset } = await startPlace();
  const [first, second] = dataset.documents.keys();
  behaviour.faults = ({ path }) =>
    path.includes(`/${second}/`) ? { kind: "status", status: 400, body: "json" } : undefined;
  const job = await jobWith("test");
  await run(job);
  server.reset();
  await run(job);
  expect(server.requests.some(({ path }) => path.includes(`/${first}/`))).toBe(true);
});

test("--retry-failed without an earlier run says so and reads everything", async () => {
  const { jobWith, run, messages } = await startPlace();
  const { manifest } = await run(await jobWith("test"), { retryFailed: true });
  expect(manifest.status).toBe("complete");
  expect(messages).toEqual(["no earlier run left failed documents to continue from: this one starts over"]);
});

test.runIf(inFull)("numbers that a double cannot hold come through a resume as they were", async () => {
  const { jobWith, run, breakOff, server, dataset, folder } = await startPlace();
  const [id = ""] = dataset.documents.keys();
  dataset.batches.set("2025", [makeStatusEntry(id, { total_segments: rawNumber("9007199254740993") })]);
  const job = await jobWith("test", {
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()], batches: ["2025"] }],
  });
  await breakOff(job, 40);
  expect(server.requests.length).toBeGreaterThan(0);
  await run(job);
  const rows = await readFile(join(folder, "out", "test", "latest", "indexing_status.jsonl"), "utf8");
  expect(rows.match(/"total_segments":9007199254740993,/g)).toHaveLength(2);
});

test.runIf(inFull)("--retry-failed does not publish old data as new", async () => {
  const { jobWith, run, server, behaviour, dataset } = await startPlace();
  const [first, second] = dataset.documents.keys();
  behaviour.faults = ({ path }) =>
    path.includes(`/${second}/`) ? { kind: "status", status: 400, body: "json" } : undefined;
  const job = await jobWith("test");
  await run(job);
  server.reset();
  await run(job, { retryFailed: true, now: () => new Date(Date.now() + 25 * 3_600_000) });
  expect(server.requests.some(({ path }) => path.includes(`/${first}/`))).toBe(true);
});
