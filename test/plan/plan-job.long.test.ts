import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InterruptedError, StopError } from "../../src/errors.js";
import { planHash } from "../../src/store/earlier-work.js";
import { lockJob } from "../../src/store/folder/lock.js";
import { makeIndexed } from "../run/documents/proving.js";
import { jobFor } from "../run/job-for.js";
import { makeDocument, makeStatusEntry } from "../servers/store.js";
import { startPlace } from "./planning.js";

const absent = "00000000-0000-4000-8000-00000000dead";

test("a large document costs a plan a few requests; without a bound, as many as it takes", async () => {
  const { plan, server } = await startPlace([makeDocument({ chunks: 310, childrenPerChunk: 2 })]);
  const quick = await plan();
  expect(quick.asked.sent).toBe(server.requests.length);
  expect(quick.asked.sent).toBeLessThan(30);
  expect(quick).toMatchObject({
    requests: { all: 319, none: 9 },
    certainty: { all: { exact: false, at_least: 319 }, none: { exact: true, at_least: 9, why: [] } },
    counts: { chunks: 310, child_chunks: 620, child_chunks_exact: false },
  });
  expect(quick.certainty.all.why).toEqual([expect.stringMatching(/^the child lists of 30\d chunks were not read: /)]);
  const exact = await plan({ options: { budget: Number.POSITIVE_INFINITY } });
  expect(exact).toMatchObject({ requests: { all: 319 }, certainty: { all: { exact: true, why: [] } } });
  expect(exact.asked.sent).toBeGreaterThan(310);
});

test("a plan has what a run asks around the documents, too: datasets, batches before and after, sweeps", async () => {
  const { plan, run, dataset } = await startPlace([makeDocument({ chunks: 3, childrenPerChunk: 101 })]);
  dataset.batches.set("2025", [makeStatusEntry(absent)]);
  dataset.batches.set("2026", []);
  for (const consistency of ["counts", "sweeps", "anchored"]) {
    const { requests, certainty } = await plan({ job: { consistency } });
    const { manifest } = await run({ job: { consistency } });
    expect(certainty.this_job).toEqual({ exact: true, at_least: requests.all, why: [] });
    expect(requests.this_job).toBe(manifest.requests.sent);
  }
});

test("the proof of 99, 100, 101, 200 and 250 chunks takes the requests that are forecast for each", async () => {
  const documents = [99, 100, 101, 200, 250].map((chunks, at) => makeIndexed({ chunks, seed: at + 1 }));
  const { plan, run, server } = await startPlace(documents);
  for (const consistency of ["counts", "sweeps", "anchored"]) {
    const job = { consistency, child_chunks: "none" };
    const planned = await plan({ job });
    server.reset();
    expect(planned.requests.this_job).toBe((await run({ job })).manifest.requests.sent);
    const sent = documents.map(
      ({ id }) => server.requests.filter(({ path }) => path.includes(`/documents/${id}/`)).length,
    );
    expect(planned.documents.map(({ requests }) => requests)).toEqual(sent);
  }
});

test("a batch that is not known, and a document that is not there, cost what they cost a run", async () => {
  const document = makeDocument({ chunks: 2 });
  const { plan, run, dataset } = await startPlace([document]);
  const job = { datasets: [{ id: dataset.id, documents: [document.id, absent], batches: ["unknown"] }] };
  const planned = await plan({ job });
  expect(planned).toMatchObject({ status: "partial", counts: { documents: 2, documents_failed: 1 } });
  expect(planned.documents[1]).toMatchObject({ document_id: absent, chunks: null, requests: 1, exact: true });
  expect(planned.warnings).toEqual([
    expect.stringMatching(new RegExp(`^document ${absent} cannot be read: GET .*404 not_found`)),
    expect.stringMatching(/^indexing status of batch "unknown": GET .*404/),
  ]);
  expect(planned.requests.all).toBe((await run({ job })).manifest.requests.sent);
});

test("a job of batches alone has a plan", async () => {
  const { plan, dataset } = await startPlace([makeDocument({ chunks: 2 })]);
  dataset.batches.set("2025", []);
  const planned = await plan({ job: { datasets: [{ id: dataset.id, batches: ["2025"] }] } });
  expect(planned).toMatchObject({ status: "complete", counts: { documents: 0, batches: 1 }, requests: { all: 3 } });
  expect(planned.certainty.all.exact).toBe(true);
});

test("chunks that carry other children than their lists are sampled like those that carry none", async () => {
  const document = makeDocument({ chunks: 40, docForm: "hierarchical_model", childrenPerChunk: 120 });
  for (const chunk of document.chunks) chunk.child_chunks = [{ id: "another" }];
  const { plan, run } = await startPlace([document]);
  const { requests, certainty, counts } = await plan();
  expect(certainty.all).toMatchObject({ exact: true, why: [] });
  expect(counts.child_chunks).toBe(40 * 120);
  expect(requests.all).toBe((await run()).manifest.requests.sent);
});

test("a budget is kept, and spent on the largest documents first", async () => {
  const held = [30, 90, 60].map((chunks, at) => makeDocument({ chunks, childrenPerChunk: 60, seed: at + 1 }));
  const { plan } = await startPlace(held);
  const [none, some, more] = [
    await plan({ options: { budget: 0 } }),
    await plan({ options: { budget: 20 } }),
    await plan({ options: { budget: 160 } }),
  ];
  expect(some.asked.sent - none.asked.sent).toBeLessThanOrEqual(20);
  expect(more.asked.sent - none.asked.sent).toBeLessThanOrEqual(160);
  expect(none.counts.child_lists_known).toBe(3);
  expect(some.counts.child_lists_known).toBe(3 + 7);
  expect(more.documents.map(({ exact }) => exact)).toEqual([false, true, false]);
});

test("child_chunks: none asks for no list but one of each document", async () => {
  const { plan, run, server } = await startPlace([makeDocument({ chunks: 230, childrenPerChunk: 120 })]);
  const planned = await plan({ job: { child_chunks: "none" } });
  expect(server.requests.filter(({ path }) => path.endsWith("/child_chunks")).length).toBeLessThan(3);
  expect(planned).toMatchObject({
    child_chunks: "none",
    requests: { this_job: 7 },
    certainty: { this_job: { exact: true } },
  });
  expect((await run({ job: { child_chunks: "none" } })).manifest.requests.sent).toBe(7);
});

test("filters are those of the job", async () => {
  const { plan, run, dataset } = await startPlace([makeDocument({ chunks: 150, childrenPerChunk: 1 })]);
  const documents = [...dataset.documents.keys()];
  const job = { datasets: [{ id: dataset.id, documents, status: ["completed"], keyword: "warranty" }] };
  const planned = await plan({ job });
  const { manifest } = await run({ job });
  expect(planned.counts.chunks).toBe(manifest.counts.chunks);
  expect(planned.counts.chunks).toBeLessThan(150);
  expect(planned.requests.all).toBe(manifest.requests.sent);
});

test("the documents of a dataset are found as a run finds them", async () => {
  const documents = Array.from({ length: 5 }, (_, at) => makeDocument({ chunks: at, seed: at + 1 }));
  const { plan, run, dataset } = await startPlace(documents);
  const job = { datasets: [{ id: dataset.id, documents: "all" }] };
  const planned = await plan({ job });
  expect(planned.counts).toMatchObject({ documents: 5, chunks: 10 });
  expect(planned.requests.all).toBe((await run({ job })).manifest.requests.sent);
});

test("work that the next run continues is left as it is, and makes the forecast an upper bound", async () => {
  const { plan, folder, server, dataset } = await startPlace([makeDocument({ chunks: 2 })]);
  const job = await jobFor(folder, {
    service: { base_url: server.url, retries: 0 },
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()], batches: [] }],
    output: { dir: join(folder, "out"), formats: ["jsonl"] },
  });
  const hidden = join(folder, "out", "test", ".work");
  const work = join(hidden, "5fd3c9ab-0000-4000-8000-000000000001", "20250306T132000000Z");
  await mkdir(work, { recursive: true });
  const facts = { plan: planHash(job), started_at: new Date().toISOString() };
  await writeFile(join(work, "plan.json"), JSON.stringify(facts));
  const { certainty } = await plan();
  expect(certainty.this_job.exact).toBe(false);
  expect(certainty.this_job.why).toEqual([
    expect.stringMatching(/^the interrupted run 20250306T132000000Z will be resumed/),
  ]);
  expect(await readdir(work)).toEqual(["plan.json"]);
  expect((await plan({ job: { consistency: "counts" } })).certainty.this_job.exact).toBe(true);

  const lock = await lockJob(hidden, new Date());
  const meanwhile = await plan();
  await lock.release(hidden);
  expect(meanwhile.certainty.this_job.exact).toBe(true);
  expect(meanwhile.warnings).toEqual([
    expect.stringMatching(/^latencies may be too high: another run of this job is at work: process \d+ on /),
  ]);
});

test("a document that is given up after several tries is marked uncertain", async () => {
  const [good, bad] = [makeDocument({ chunks: 2 }), makeDocument({ chunks: 2, seed: 2 })];
  const { plan } = await startPlace([good, bad], {
    faults: ({ path }) => (path.includes(bad.id) ? { kind: "status", status: 500 } : undefined),
  });
  const { documents, certainty } = await plan();
  expect(documents[0]).toMatchObject({ exact: true, error: null });
  expect(documents[1]).toMatchObject({ exact: false, why: ["a request failed at every try"] });
  expect(certainty.all.why).toEqual([`document ${bad.id}: a request failed at every try`]);
});

test("what a sample cannot have is no failure of the document", async () => {
  const { plan, run } = await startPlace([makeDocument({ chunks: 40 })], {
    faults: ({ query }) =>
      /limit=[15]$/.test(query) && query !== "page=1&limit=1" ? { kind: "status", status: 400 } : undefined,
  });
  const { status, documents, requests } = await plan();
  expect(status).toBe("complete");
  expect(documents[0]).toMatchObject({ exact: false, error: null });
  expect(documents[0]?.why).toContainEqual(expect.stringMatching(/^some requests failed: GET .*limit=5: 400/));
  expect(requests.all).toBe((await run()).manifest.requests.sent);
});

test.each([
  [
    "rows of one position in changing order",
    430,
    { ties: "shuffled" },
    /: chunks with equal positions change their order/,
  ],
  ["pages that repeat", 1930, { paging: "same-page" }, /: its pages repeat/],
] as const)("%s: documents of several pages are uncertain, others are not", async (_name, chunks, behaviour, why) => {
  const held = [makeDocument({ chunks, seed: 1 }), makeDocument({ chunks: 3, seed: 2 })];
  const { plan, run } = await startPlace(held, behaviour);
  const { documents, certainty } = await plan({ job: { child_chunks: "none" } });
  expect(documents.map(({ exact }) => exact)).toEqual([false, true]);
  expect(certainty.none).toMatchObject({ exact: false, why: [expect.stringMatching(why)] });
  for (const [child_chunks, { at_least }] of [
    ["none", certainty.none],
    ["all", certainty.all],
  ] as const) {
    const { manifest } = await run({ job: { child_chunks } });
    expect(at_least).toBeLessThanOrEqual(manifest.requests.sent);
  }
});

test("a list that moves, or counts rows that it does not list, is marked uncertain", async () => {
  const document = makeDocument({ chunks: 30, childrenPerChunk: 60 });
  const { plan } = await startPlace([document], {
    onRequest: ({ query }) => {
      if (query === "page=1&limit=100") document.chunks.pop();
    },
  });
  const { certainty } = await plan();
  expect(certainty.all).toMatchObject({
    exact: false,
    why: expect.arrayContaining([`document ${document.id}: it changed while it was read`]),
  });
});

test("nothing can be asked: the reason of the first document, and the hint that goes with it", async () => {
  const { plan } = await startPlace([makeDocument({ chunks: 1 })], {
    faults: () => ({ kind: "redirect", location: "https://kb.example.com/v1/datasets/x" }),
  });
  const error = await plan().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StopError);
  expect(String(error)).toMatch(/service\.base_url should probably be https:\/\/kb\.example\.com\/v1$/);
  const { plan: another } = await startPlace([makeDocument({ chunks: 1 }), makeDocument({ chunks: 1, seed: 2 })], {
    faults: () => ({ kind: "status", status: 404, code: "not_found", message: "Document not found." }),
  });
  await expect(another()).rejects.toThrow(
    /^none of the 2 documents can be read; the first: .* check the id of the document/,
  );
});

test("a signal ends a plan", async () => {
  const end = new AbortController();
  const { plan } = await startPlace([makeDocument({ chunks: 9 })], {
    onRequest: () => end.abort(new InterruptedError("SIGTERM")),
  });
  await expect(plan({ options: { signal: end.signal } })).rejects.toThrow(InterruptedError);
});

test("the least time is that of all requests at their median latencies, concurrency in flight, within max_rps", async () => {
  const { plan, run } = await startPlace([makeDocument({ chunks: 130, childrenPerChunk: 1 })], { latency: 20 });
  const { time, requests } = await plan({ service: { concurrency: 4 } });
  const { chunk_page: page, child_list: list } = time.latency;
  expect([page.answers, list.answers]).toEqual([expect.any(Number), 8]);
  for (const { median_seconds: median, p95_seconds: p95 } of [page, list]) {
    expect(median).toBeGreaterThanOrEqual(0.019);
    expect(p95).toBeGreaterThanOrEqual(median ?? Number.NaN);
  }
  const waited = (4 * (page.median_seconds ?? 0) + 130 * (list.median_seconds ?? 0)) / 4;
  expect(time.least_seconds.all - waited).toBeGreaterThanOrEqual(-0.1);
  expect(time.least_seconds.all - waited).toBeLessThan(0.2);
  expect(time.least_seconds.none).toBeLessThan(time.least_seconds.all);
  const start = performance.now();
  await run({ service: { concurrency: 4 } });
  expect((performance.now() - start) / 1000).toBeGreaterThan(time.least_seconds.this_job * 0.9);
  const bounded = await plan({ service: { concurrency: 4, max_rps: 40 } });
  expect(bounded.time.least_seconds.all).toBeCloseTo(requests.all / 40, 1);
});

test("the figures of bytes and rows are near what a run then brings", async () => {
  const { plan, run } = await startPlace([makeDocument({ chunks: 240, childrenPerChunk: 3 })], { gzip: true });
  const { received, disk } = await plan();
  const { manifest } = await run();
  expect(received.bytes.this_job / manifest.requests.bytes).toBeGreaterThan(0.6);
  expect(received.bytes.this_job / manifest.requests.bytes).toBeLessThan(1.6);
  const written = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(disk.run_folder_bytes / written).toBeGreaterThan(0.8);
  expect(disk.run_folder_bytes / written).toBeLessThan(1.25);
  expect(disk).toMatchObject({ enough: true, database_bytes: 0 });
});

test("bytes go by what came of each document: embedded children of some, long rows of others", async () => {
  const hierarchical = [2, 3, 4].map((seed) =>
    makeDocument({ chunks: 60, seed, docForm: "hierarchical_model", childrenPerChunk: 12 }),
  );
  const { plan, run } = await startPlace([makeDocument({ chunks: 130 }), ...hierarchical]);
  for (const child_chunks of ["none", "auto", "all"]) {
    const job = { child_chunks, consistency: "sweeps" };
    const { received } = await plan({ job });
    const { manifest } = await run({ job });
    expect(received.bytes.this_job / manifest.requests.bytes, child_chunks).toBeGreaterThan(0.8);
    expect(received.bytes.this_job / manifest.requests.bytes, child_chunks).toBeLessThan(1.25);
  }
});

test("the bytes of a run are never forecast below those that the plan received", async () => {
  const uneven = makeDocument({ chunks: 250, seed: 2, childrenPerChunk: (at) => (at % 100 === 7 ? 150 : 1) });
  for (const [at, chunk] of uneven.chunks.entries()) if (at > 180) chunk.content = "x".repeat(20_000);
  for (const documents of [[makeDocument({ chunks: 1 })], [uneven, makeDocument({ chunks: 1 })]]) {
    const { plan, run } = await startPlace(documents);
    const job = { consistency: "sweeps" };
    const { received, asked } = await plan({ job, options: { budget: Number.POSITIVE_INFINITY } });
    expect(received.bytes.this_job).toBeGreaterThanOrEqual(asked.bytes);
    expect(received.bytes.all).toBe(received.bytes.this_job);
    expect(received.bytes.none).toBeLessThan(received.bytes.all);
    const { bytes } = (await run({ job })).manifest.requests;
    if (documents.length > 1) expect(Math.abs(received.bytes.this_job / bytes - 1)).toBeLessThan(0.15);
  }
});
