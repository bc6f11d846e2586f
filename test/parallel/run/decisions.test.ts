import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Discovery, DocumentToRead } from "../../../src/crawl/discovery.js";
import type { Job } from "../../../src/job/job.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";

import type { SubmittedResult } from "../../../src/parallel/accept-document.js";
import { watchBroker } from "../../../src/parallel/broker.js";
import { DocumentBatches, requestsFor } from "../../../src/parallel/hand-out-documents.js";
import { batchSchema, queueName } from "../../../src/parallel/queue.js";
import { documentsOf, reasonToRefuse } from "../../../src/parallel/worker.js";
import { WorkersProgress } from "../../../src/parallel/workers-progress.js";
import { valueIf } from "../../../src/schema.js";
import { planHash } from "../../../src/segments/resume.js";
import { tool } from "../../../src/tool.js";

const placed = (names: readonly string[]): readonly DocumentToRead[] =>
  names.map((name) => ({ name, ref: { datasetId: "d", documentId: name, status: [], keyword: undefined } }));

/** Open documents; those with a name that starts with `large` are known to be large. */
const openOf = (names: readonly string[], concurrency: number) =>
  new DocumentBatches(placed(names), concurrency, ({ name }) => (name.startsWith("large") ? 1_000_000 : undefined));
const nothing = { submitted: [], large: [] };

describe("open documents", () => {
  const batchesOf = (round: ReturnType<DocumentBatches["nextRound"]>) => [...(round?.batches.values() ?? [])];
  const idsOf = (round: ReturnType<DocumentBatches["nextRound"]>) => [...(round?.batches.keys() ?? [])];

  test("large ones come first, one at a time with all slots, then small ones together", () => {
    const open = openOf(["large1", "a", "b", "c"], 8);
    const first = open.nextRound(0);
    expect(first).toMatchObject({ atOnce: 1, slots: 8, mostPages: null });
    expect(batchesOf(first)).toEqual([["large1"]]);
    expect(open.nextRound(0)).toBeUndefined();
    open.close("large1");
    open.ended(idsOf(first)[0] ?? "", { submitted: ["large1"], large: [] }, 0);
    const second = open.nextRound(0);
    expect(second).toMatchObject({ atOnce: 3, slots: 2, mostPages: 160 });
    expect(batchesOf(second)).toEqual([["a"], ["b"], ["c"]]);
  });

  test("many small ones share batches, which shrink towards the end", () => {
    const names = Array.from({ length: 300 }, (_, at) => `n${String(at).padStart(3, "0")}`);
    const round = openOf(names, 4).nextRound(0);
    expect([round?.atOnce, round?.slots]).toEqual([4, 1]);
    const batches = batchesOf(round);
    expect(batches.flat()).toEqual(names);
    const sizes = batches.map((batch) => batch.length);
    expect(sizes).toEqual(sizes.toSorted((one, other) => other - one));
    expect([sizes[0], sizes.at(-1)]).toEqual([20, 1]);
  });

  test("a round has at most as many batches as the queue may contain", () => {
    const names = Array.from({ length: 30_000 }, (_, at) => `n${at}`);
    const open = openOf(names, 4);
    const first = open.nextRound(0);
    expect(batchesOf(first).map(({ length }) => length)).toEqual(Array.from({ length: 1_000 }, () => 20));
    for (const [id, some] of first?.batches ?? []) {
      for (const name of some) open.close(name);
      open.ended(id, { submitted: [...some], large: [] }, 0);
    }
    expect(batchesOf(open.nextRound(0)).flat()).toEqual(names.slice(20_000));
  });

  test("a document that turns out large waits for its own round, and counts as not tried", () => {
    const open = openOf(["a", "b"], 8);
    for (const [id, names] of open.nextRound(0)?.batches ?? []) open.ended(id, { submitted: [], large: [...names] }, 0);
    const second = open.nextRound(0);
    expect(second).toMatchObject({ atOnce: 1, slots: 8, mostPages: null });
    expect(batchesOf(second)).toEqual([["a"], ["b"]]);
  });

  test("a document that workers fail to finish three times is left to the coordinator; refusals do not count", () => {
    const open = openOf(["a"], 8);
    for (const isTry of [false, true, false, true, true]) {
      const round = open.nextRound(0);
      expect(open.size).toBe(1);
      open.ended(idsOf(round)[0] ?? "", nothing, 0, isTry);
    }
    expect(open.nextRound(0)).toBeUndefined();
    expect([open.size, open.get("a")]).toEqual([0, undefined]);
  });

  test("a submitted result may come into sight a minute later", () => {
    const open = openOf(["a"], 8);
    for (let round = 0; round < 3; round++) {
      open.ended(idsOf(open.nextRound(round * 60_001))[0] ?? "", { submitted: ["a"], large: [] }, round * 60_001);
      expect(open.nextRound(round * 60_001 + 60_000)).toBeUndefined();
      expect(open.size).toBe(1);
    }
    expect([open.nextRound(180_003), open.size], "it never did").toEqual([undefined, 0]);
  });

  test("whatever happens, each open document is handed out once or waits, and the slots never exceed the bound", () => {
    const step = fc.record({
      kind: fc.constantFrom("take", "end", "close", "submit", "large", "lose everything"),
      at: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(step), fc.integer({ min: 1, max: 12 }), (steps, concurrency) => {
        const names = Array.from({ length: 10 }, (_, at) => (at < 3 ? `large${at}` : `n${at}`));
        const open = openOf(names, concurrency);
        let out = new Map<string, readonly string[]>();
        const take = () => {
          const round = open.nextRound(0);
          if (out.size > 0) expect(round).toBeUndefined();
          if (!round) return;
          expect(round.atOnce * round.slots).toBeLessThanOrEqual(concurrency);
          const all = [...round.batches.values()].flat();
          expect(new Set(all).size).toBe(all.length);
          for (const name of all) expect(open.get(name), name).toBeDefined();
          out = new Map(round.batches);
        };
        for (const { kind, at } of steps) {
          const [id, some = []] = [...out][at] ?? [];
          if (kind === "take") take();
          else if (kind === "close") open.close(names[at] ?? "");
          else if (kind === "lose everything") {
            open.returnAll();
            out = new Map();
          } else if (id !== undefined) {
            if (kind === "submit") for (const name of some) open.close(name);
            open.ended(id, { submitted: kind === "submit" ? some : [], large: kind === "large" ? some : [] }, 0);
            out.delete(id);
          }
        }
        for (let round = 0; round < 100 && open.size > 0; round++) {
          for (const [id, some] of out) {
            for (const name of some) open.close(name);
            open.ended(id, { submitted: some, large: [] }, 0);
          }
          out.clear();
          take();
        }
        expect(open.size).toBe(0);
      }),
    );
  });
});

test("the requests for a document: from the characters that the service reports, or the chunks of the run before", () => {
  const rows = [
    { dataset_id: "d", document_id: "listed", word_count: 10_000 },
    { dataset_id: "d", document_id: "silent", word_count: null },
  ];
  const before = { documents: [{ dataset_id: "d", document_id: "known", chunk_count: 20 }] };
  const requestsOf = (childChunks: Job["childChunks"]) =>
    placed(["unknown", "listed", "known", "silent"]).map(
      requestsFor({ found: { rows } } as unknown as Discovery, before as never, { childChunks }),
    );
  expect(requestsOf("none")).toEqual([undefined, 0.2, 0.2, undefined]);
  expect(requestsOf("all")).toEqual([undefined, 20.2, 20.2, undefined]);
});

describe("documents in the queue", () => {
  const dataset = { id: "d", batches: [], status: ["completed"], keyword: "x" };
  const rest = { service: { baseUrl: "https://kb.example.com/v1", demo: false }, output: { formats: [] } };
  const job = (documents: "all" | readonly string[]) =>
    ({ ...rest, datasets: [{ ...dataset, documents }] }) as unknown as Job;
  const run = { run_id: "20261120T020000123Z", plan: planHash(job("all")), version: tool.version, list: null };

  test("a document of another version, plan or run is refused, and one whose exchange is not there", () => {
    const refusal = (changes: object, found: string | undefined = JSON.stringify(run)) =>
      reasonToRefuse({ ...run, ...changes }, found, job("all"));
    expect(refusal({})).toBeUndefined();
    expect(refusal({ version: "2" })).toBe(`the run is of kbdump 2, this worker is ${tool.version}`);
    for (const changes of [{ plan: "q" }, { list: "given" }])
      expect(refusal(changes)).toMatch(/job file does not read the same data/);
    expect(reasonToRefuse(run, undefined, job("all"))).toMatch(/cannot find run 20261120T020000123Z in its output/);
    for (const other of [{ run_id: "20261120T020000124Z" }, { plan: "q" }, { version: "2" }])
      expect(refusal({}, JSON.stringify({ ...run, ...other }))).toMatch(/is not the run of its exchange/);
  });

  test("a run id that a broker made up leads nowhere: no batch has one", () => {
    const batch = { run, concurrency: 1, max_rps: null, slots: 1, most_pages: null, documents: [] };
    expect(valueIf(batchSchema, batch)).toEqual(batch);
    for (const id of ["..", "", "../../runs", `${run.run_id}/../x`])
      expect(valueIf(batchSchema, { ...batch, run: { ...run, run_id: id } })).toBeUndefined();
  });

  test("a worker accepts only documents that its job requests, with the filter of the job", () => {
    const ref = { datasetId: "d", documentId: "1", status: ["completed"], keyword: "x" };
    expect(documentsOf(job("all"))("d", "1")).toEqual(ref);
    expect(documentsOf(job(["1"]))("d", "1")).toEqual(ref);
    expect(documentsOf({ datasets: "all" })("d", "1")).toEqual({ ...ref, status: [], keyword: undefined });
    expect(documentsOf(job(["2"]))("d", "1")).toBeUndefined();
    expect(documentsOf(job("all"))("e", "1")).toBeUndefined();
  });

  test("a worker finds each of many listed documents at once", () => {
    const listed = Array.from(
      { length: 100_000 },
      (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    );
    const start = performance.now();
    const documentIn = documentsOf(job(listed));
    expect(listed.filter((id) => documentIn("d", id)?.documentId === id)).toHaveLength(listed.length);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  test("the name of the queue identifies the job and the service, and contains no URL", () => {
    const service = { baseUrl: "https://kb.example.com/v1", demo: false };
    const queue = queueName({ name: "nightly", service } as never);
    expect(queue).toMatch(/^kbdump-nightly-[0-9a-f]{8}$/);
    expect(queueName({ name: "nightly", service: { ...service, baseUrl: "https://other" } } as never)).not.toBe(queue);
  });
});

test("the progress of workers adds up to that of the run, even if a document is reported twice, read again or taken back", () => {
  const progress = emptyRunProgress();
  const closed = new Set(["closed"]);
  const workersProgress = new WorkersProgress(progress, (name) => !closed.has(name));
  const read = { chunks: 10, child_chunks: 1, pages_expected: 5, pages: 1 };
  const report = (batch: string, sent: number, unreported: number, documents: Record<string, typeof read>) =>
    workersProgress.reported(batch, { worker: batch, sent, unreported, documents });
  expect(workersProgress.reported("w", "rubbish")).toBe(false);
  expect(report("w", 3, 3, { a: read, closed: read })).toBe(true);
  expect(report("w", 3, 3, { a: read }), "it sent nothing meanwhile").toBe(false);
  expect(report("w", 4, 4, { a: { ...read, chunks: 20, pages: 2 }, b: read })).toBe(true);
  report("v", 1, 2, { c: read });
  expect(progress.requestsElsewhere).toBe(6);
  workersProgress.ended("v");
  expect(progress).toMatchObject({ chunks: 30, child_chunks: 2, pagesExpected: 10, pagesDone: 3, documentsBegun: 2 });
  const row = { chunk_count: 50, child_chunk_count: 3 };
  const requests = { sent: 4, answered: 4, retried: 0, throttled: 0, bytes: 9, retriedBy: { 429: 1 } };
  closed.add("a");
  const submitted = { worker: "w", stored: { state: { row } }, pages: 6, requests } as unknown as SubmittedResult;
  workersProgress.submitted(submitted, true);
  expect(progress).toMatchObject({ chunks: 60, child_chunks: 4, pagesExpected: 11, pagesDone: 7, documentsBegun: 2 });
  expect(progress).toMatchObject({ documentsDone: 1, requestsElsewhere: 2, requests });
  workersProgress.submitted(submitted, false);
  expect(progress).toMatchObject({ documentsDone: 1, requests: { sent: 8, retriedBy: { 429: 2 } } });
  report("w", 5, 5, { b: read });
  workersProgress.ended();
  expect(progress).toMatchObject({ chunks: 50, child_chunks: 3, documentsBegun: 1 });
  workersProgress.takeBack();
  const accepted = { documentsBegun: 1, pagesExpected: 6, pagesDone: 6 }; // keeps the progress of accepted documents
  expect(progress).toEqual({ ...emptyRunProgress(), ...accepted, documentsFound: -1, requests: progress.requests });
});

test("a broker that is gone is reported once, in plain words, and so is its return", async () => {
  const said: string[] = [];
  const log = (level: string, text: string) => void said.push(`${level} ${text}`);
  const ask = watchBroker({ shown: "redis://h" }, log, new AbortController().signal);
  const fail = (text: string) => ask(() => Promise.reject(new Error(text)));
  const after = ": no document is handed out until it is back";
  expect(await fail("Stream isn't writeable and enableOfflineQueue options is false")).toBe(false);
  await fail("Command timed out");
  expect(await ask(async () => {})).toBe(true);
  await fail("NOPERM this user has no permissions");
  expect(said).toEqual([
    `warn the broker redis://h does not answer${after}`,
    "info the broker redis://h is back: documents are handed out again",
    `warn the broker redis://h refuses a command (NOPERM this user has no permissions)${after}`,
  ]);
});
