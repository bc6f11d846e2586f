import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Discovery, DocumentToRead } from "../../../src/crawl/discovery.js";
import { documentListText } from "../../../src/crawl/document-list.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";

import { listHash, type SubmittedResult } from "../../../src/parallel/accept-document.js";
import { orderBySize } from "../../../src/parallel/distribute.js";
import { jobIdOf, nameFromJobId, queueName, refusalOf } from "../../../src/parallel/document-queue.js";
import { OpenDocuments } from "../../../src/parallel/open-documents.js";
import { BrokerWatch, Heartbeats, WorkerNames } from "../../../src/parallel/supervision.js";
import { KnownRuns, ReportedRequests } from "../../../src/parallel/worker/take-document.js";
import { WorkersProgress } from "../../../src/parallel/workers-progress.js";

const placed = (names: readonly string[]): readonly DocumentToRead[] =>
  names.map((name) => ({ name, ref: { datasetId: "d", documentId: name, status: [], keyword: undefined } }));
const nameOf = ({ name }: DocumentToRead) => name;

describe("open documents", () => {
  test("they are queued in their order, no more than 2,000 at a time", () => {
    const names = Array.from({ length: 2_500 }, (_, at) => String(at).padStart(7, "0"));
    const open = new OpenDocuments(placed(names));
    expect(open.takeNext().map(nameOf)).toEqual(names.slice(0, 2_000));
    expect(open.takeNext()).toEqual([]);
    for (const name of names.slice(0, 100)) open.close(name);
    expect(open.takeNext().map(nameOf)).toEqual(names.slice(2_000, 2_100));
    expect(open.size).toBe(2_400);
  });

  test("a second attempt in vain ends the attempts of workers", () => {
    const open = new OpenDocuments(placed(["a", "b"]));
    open.takeNext();
    expect(open.tried("a")).toBe(true);
    expect(open.takeNext().map(nameOf)).toEqual(["a"]);
    expect(open.tried("a")).toBe(false);
    expect(open.get("a")).toBeUndefined();
    expect([open.size, open.takeNext()]).toEqual([1, []]);
  });

  test("a document that the queue lacks twice is lost, but for one whose result was announced within a minute", () => {
    const open = new OpenDocuments(placed(["a", "b"]));
    open.takeNext();
    open.announced("b", 0);
    open.missing(["a", "b"], 0);
    expect(open.takeNext()).toEqual([]);
    open.missing(["a", "b"], 2_000);
    expect(open.takeNext().map(nameOf)).toEqual(["a"]);
    open.missing(["b"], 59_999);
    expect(open.takeNext()).toEqual([]);
    open.missing(["b"], 60_000);
    expect(open.takeNext().map(nameOf)).toEqual(["b"]);
  });

  test("whatever the queue loses, each document that is open is queued once, or waits to be", () => {
    const steps = fc.array(fc.tuple(fc.constantFrom("lost", "close", "tried", "take"), fc.integer({ min: 0, max: 9 })));
    fc.assert(
      fc.property(steps, (all) => {
        const names = Array.from({ length: 10 }, (_, at) => `n${at}`);
        const open = new OpenDocuments(placed(names));
        const queued = new Set<string>();
        const take = () => {
          for (const { name } of open.takeNext()) {
            expect(queued.has(name), `${name} twice`).toBe(false);
            queued.add(name);
          }
        };
        for (const [step, at] of all) {
          const name = `n${at}`;
          if (step === "take") take();
          if (step === "lost") open.lost(name);
          if (step === "close") open.close(name);
          if (step === "tried" && open.get(name)) open.tried(name);
          if (step !== "take") queued.delete(name);
        }
        take();
        expect([...open.queued].sort()).toEqual(names.filter((name) => open.get(name)));
        expect(open.size).toBe(open.queued.length);
      }),
    );
  });
});

test("documents come by their size: characters that the service tells, chunks of the run before, and last the unknown", () => {
  const rows = [
    { dataset_id: "d", document_id: "small", word_count: 10 },
    { dataset_id: "d", document_id: "large", word_count: 90_000 },
    { dataset_id: "d", document_id: "silent", word_count: null },
  ];
  const before = { documents: [{ dataset_id: "d", document_id: "known", chunk_count: 20 }] };
  const documents = placed(["unknown", "small", "known", "silent", "large"]);
  const ordered = orderBySize(documents, { found: { rows } } as unknown as Discovery, before as never);
  expect(ordered.map(nameOf)).toEqual(["large", "known", "small", "unknown", "silent"]);
  expect(orderBySize(documents, { datasets: [], found: undefined }, undefined)).toEqual(documents);
});

test("heartbeats: silence is reported once after 20 s, each time anew after a heartbeat, and ends the waiting", () => {
  const heartbeats = new Heartbeats(100_000, 0);
  expect([19_999, 20_000, 30_000].map((now) => heartbeats.look(now))).toEqual(["heard", "silent", "heard"]);
  heartbeats.beat(50_000);
  expect([60_000, 70_000, 149_999, 150_000].map((now) => heartbeats.look(now))).toEqual([
    "heard",
    "silent",
    "heard",
    "over",
  ]);
});

describe("documents in the queue", () => {
  const job = {
    run_id: "20261120T020000123Z",
    queue_id: "20261120T020000123Z-a",
    plan: "p",
    version: "1",
    dataset_id: "d",
    document_id: "x",
    name: "0000001",
  };
  const exchange = {
    run_id: job.run_id,
    queue_id: job.queue_id,
    plan: "p",
    version: "1",
    list: null,
    list_sha256: "x",
  };
  const own = { version: "1", plan: "p" };

  test("a document of another version, plan or run is refused, and one whose exchange is not there", () => {
    expect(refusalOf(job, exchange, own)).toBeUndefined();
    expect(refusalOf(job, exchange, { ...own, version: "2" })).toBe("the run is of kbdump 1, this worker is 2");
    expect(refusalOf(job, exchange, { ...own, plan: "q" })).toMatch(/job file of this worker asks for other things/);
    expect(refusalOf(job, undefined, own)).toMatch(/does not find run 20261120T020000123Z in its output/);
    for (const other of [
      { run_id: "20261120T020000124Z" },
      { queue_id: "20261120T020000123Z-b" },
      { plan: "q" },
      { version: "2" },
    ])
      expect(refusalOf(job, { ...exchange, ...other }, own)).toMatch(/is not the one that its exchange is of/);
  });

  test("the id of a document in the queue gives its name back, for its own run alone", () => {
    expect(nameFromJobId("r1", jobIdOf("r1", "0000001"))).toBe("0000001");
    expect(nameFromJobId("r2", jobIdOf("r1", "0000001"))).toBeUndefined();
  });

  test("the name of the queue tells the job and the service, and shows no URL", () => {
    const service = { baseUrl: "https://kb.example.com/v1", demo: false };
    const queue = queueName({ name: "nightly", service } as never);
    expect(queue).toMatch(/^kbdump-nightly-[0-9a-f]{8}$/);
    expect(queueName({ name: "nightly", service: { ...service, baseUrl: "https://other" } } as never)).not.toBe(queue);
  });
});

test("the progress of workers is that of the run, whatever is reported twice, begun anew or taken back", () => {
  const progress = emptyRunProgress();
  const workersProgress = new WorkersProgress(progress);
  const reported = { worker: "w", sent: 3, untold: 3, chunks: 10, child_chunks: 1, pages_expected: 5, pages: 1 };
  expect(workersProgress.reported("a", "rubbish")).toBe(false);
  expect(workersProgress.reported("a", reported)).toBe(true);
  expect(workersProgress.reported("a", reported), "its worker sent nothing meanwhile").toBe(false);
  expect(workersProgress.reported("a", { ...reported, sent: 4, untold: 4 })).toBe(true);
  workersProgress.reported("a", { ...reported, chunks: 20, pages: 2 });
  workersProgress.reported("b", { ...reported, sent: 4, untold: 4 });
  workersProgress.reported("c", { ...reported, worker: "v", untold: 2 });
  expect(progress.requestsElsewhere).toBe(6);
  workersProgress.forget("c");
  expect(progress).toMatchObject({ chunks: 30, child_chunks: 2, pagesExpected: 10, pagesDone: 3, documentsBegun: 2 });
  workersProgress.forget("b");
  workersProgress.forget("c");
  const submitted = {
    worker: "w",
    result: { row: { chunk_count: 50, child_chunk_count: 3 } },
    pages: 6,
  } as SubmittedResult;
  workersProgress.accepted("a", submitted);
  expect(progress).toMatchObject({ chunks: 50, child_chunks: 3, pagesExpected: 6, pagesDone: 6, documentsBegun: 1 });
  expect(progress).toMatchObject({ documentsDone: 1, requestsElsewhere: 2 });
  workersProgress.reported("b", reported);
  workersProgress.takeBack();
  const accepted = { documentsBegun: 1, pagesExpected: 6, pagesDone: 6 }; // so that the share that is read stays
  expect(progress).toEqual({ ...emptyRunProgress(), ...accepted, documentsFound: -1 });
});

test("requests are reported once", () => {
  const progress = emptyRunProgress().requests;
  const requests = new ReportedRequests(progress);
  Object.assign(progress, { sent: 5, answered: 4, retried: 1, bytes: 100 });
  expect(requests.unreported).toBe(4);
  progress.retriedBy[500] = 1;
  expect(requests.take()).toEqual({
    sent: 5,
    answered: 4,
    retried: 1,
    throttled: 0,
    bytes: 100,
    retriedBy: { 500: 1 },
  });
  expect(requests.unreported).toBe(0);
  progress.sent = 7;
  progress.retriedBy[429] = 2;
  expect(requests.take()).toMatchObject({ sent: 2, answered: 0, retriedBy: { 500: 0, 429: 2 } });
});

test("a broker that is gone is reported once, in plain words, and so is its return", async () => {
  const said: string[] = [];
  const watch = new BrokerWatch(
    { shown: "redis://h" },
    (level, text) => said.push(`${level} ${text}`),
    new AbortController().signal,
  );
  const fail = (text: string) => watch.ask(() => Promise.reject(new Error(text)));
  const after = ": workers finish the documents that they have, and get no more until it is back";
  expect(await fail("Stream isn't writeable and enableOfflineQueue options is false")).toBe(false);
  await fail("Command timed out");
  expect(await watch.ask(async () => {})).toBe(true);
  await fail("NOPERM this user has no permissions");
  expect(said).toEqual([
    `warn the broker redis://h does not answer${after}`,
    "info the broker redis://h is back: documents are handed out again",
    `warn the broker redis://h refuses a command (NOPERM this user has no permissions)${after}`,
  ]);
});

test("workers are named when they come, when they go, and with what they read", () => {
  const said: string[] = [];
  const names = new WorkerNames((text) => said.push(text), "start one");
  names.see([]);
  names.see([]);
  names.see(["a", "b"]);
  names.see(["b", "a"]);
  names.see(["b"]);
  names.see([]);
  names.read("b");
  names.read("a");
  names.read("a");
  names.reportAll();
  expect(said).toEqual([
    "no worker is connected: start one",
    "worker a joined",
    "worker b joined",
    "worker a left",
    "worker b left",
    "no worker is connected: start one",
    "workers have read: a 2 documents, b 1 document",
  ]);
});

test("a worker reads the list of a run anew when its plan names another one, and none that is not the one of its plan", async () => {
  const files = new Map<string, string>();
  const exchange = { shown: "x", read: async (file: string) => files.get(file), begin: async () => undefined };
  const dataset = { id: "d", batches: [], status: [], keyword: undefined };
  const known = new KnownRuns({ datasets: [{ ...dataset, documents: "all" }] } as never);
  const write = (...documents: readonly string[]) => {
    const listed = { dataset_id: "d", name: null, state: "listed" as const, documents };
    const text = documentListText({ format: 1, datasets: [listed], all_datasets: null, failures: [], notes: [] });
    files.set("list.json", text);
    const plan = { run_id: "r", queue_id: "r-1", plan: "p", version: "1", list: null, list_sha256: listHash(text) };
    files.set("plan.json", JSON.stringify(plan));
  };
  const ids = async () => [...((await known.of(exchange))?.documents.values() ?? [])].map(({ ref }) => ref.documentId);
  expect(await known.of(exchange)).toBeUndefined();
  write("a");
  expect(await ids()).toEqual(["a"]);
  const old = files.get("list.json") ?? "";
  write("a", "b");
  expect(await ids()).toEqual(["a", "b"]);
  write("c");
  files.set("list.json", old);
  expect(await known.of(exchange)).toBeUndefined();
});
