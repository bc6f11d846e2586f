import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InterruptedError, StopError } from "../../src/errors.js";
import { planHash } from "../../src/segments/resume.js";
import { lockJob } from "../../src/store/folder/lock.js";
import { inFull, rounds } from "../rounds.js";
import { makeIndexed } from "../run/documents/proving.js";
import { jobFor } from "../run/job-for.js";
import type { Behaviour } from "../servers/behaviour.js";
import { makeDocument, makeStatusEntry, type TestDocument } from "../servers/store.js";
import { startPlace } from "./planning.js";

const absent = "00000000-0000-4000-8000-00000000dead";

/** A document; lists the number of children of each chunk. */
interface Shape {
  readonly chunks: number;
  readonly docForm: string;
  readonly embedChildren: boolean;
  readonly children: readonly number[];
}

const shapes: fc.Arbitrary<Shape[]> = fc.array(
  fc.record({
    chunks: fc.constantFrom(0, 1, 2, 99, 100, 101, 250, 400),
    docForm: fc.constantFrom("text_model", "qa_model", "hierarchical_model", "hierarchical_model"),
    embedChildren: fc.boolean(),
    children: fc.array(fc.constantFrom(0, 1, 3, 6), { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 4 },
);

const behaviours: fc.Arbitrary<Behaviour> = fc.constantFrom(
  {},
  { pageCap: 50, hasMore: "rows-equal-limit" },
  { pageCap: 7 },
  { paging: "ignored" },
  { gzip: true, hasMore: "absent" },
);

function documentOf({ children, ...shape }: Shape, at: number): TestDocument {
  return makeDocument({ ...shape, childrenPerChunk: (index) => children[index % children.length] ?? 0, seed: at + 1 });
}

test.runIf(inFull)(
  "a run sends the requests that its plan forecasts, within 3 % or a request for each document",
  {
    timeout: 300_000,
  },
  async () => {
    const property = fc.asyncProperty(
      shapes,
      behaviours,
      fc.constantFrom("counts", "sweeps"),
      fc.constantFrom("all", "auto", "none"),
      async (held, behaviour, consistency, child_chunks) => {
        const { plan, run, server } = await startPlace(held.map(documentOf), behaviour);
        const job = { consistency, child_chunks };
        const { requests, counts, asked } = await plan({ job });
        expect(asked.sent).toBe(server.requests.length);
        const { manifest } = await run({ job });
        expect(manifest).toMatchObject({ status: "complete", requests: { retried: 0 } });
        const { sent } = manifest.requests;
        expect(Math.abs(requests.this_job - sent)).toBeLessThanOrEqual(Math.max(held.length, 0.03 * sent));
        expect(counts.chunks).toBe(manifest.counts.chunks);
        await server.close();
      },
    );
    await fc.assert(property, { numRuns: rounds(6, 60), seed: 1 });
  },
);

test.each([
  ["text without children", { docForm: "text_model" }],
  ["text with children", { docForm: "text_model", childrenPerChunk: 2 }],
  ["paragraphs", { docForm: "hierarchical_model", childrenPerChunk: (at: number) => at % 4 }],
  ["long lists", { chunks: 25, docForm: "hierarchical_model", childrenPerChunk: 230 }],
  ["parents without their children", { docForm: "hierarchical_model", childrenPerChunk: 3, embedChildren: false }],
  ["another form", { docForm: "new_model", childrenPerChunk: 1 }],
  ["long lists that are not embedded", { chunks: 25, docForm: "text_model", childrenPerChunk: 230 }],
])("each value of child_chunks: %s", async (_name, shape) => {
  const { plan, run } = await startPlace([makeDocument({ chunks: 130, ...shape })]);
  const { requests } = await plan();
  for (const child_chunks of ["all", "auto", "none"] as const) {
    const { manifest } = await run({ job: { child_chunks } });
    expect(Math.abs(requests[child_chunks] / manifest.requests.sent - 1), child_chunks).toBeLessThanOrEqual(0.03);
  }
});

test.runIf(inFull).each(["settled", "young"])("consistency: anchored, with chunks that are %s", async (age) => {
  const documents = [99, 100, 101, 250, 400].map((chunks, at) => makeIndexed({ chunks, seed: at + 1 }));
  for (const { chunks } of documents)
    if (age === "young") Object.assign(chunks.at(-1) ?? {}, { created_at: Math.floor(Date.now() / 1_000) });
  const { plan, run } = await startPlace(documents);
  const job = { consistency: "anchored", child_chunks: "none" };
  expect((await plan({ job })).requests.this_job).toBe((await run({ job })).manifest.requests.sent);
});

test("a large document costs a plan a few requests", async () => {
  const { plan, server } = await startPlace([makeDocument({ chunks: 1_310, docForm: "hierarchical_model" })]);
  const { asked, requests } = await plan();
  expect(asked.sent).toBe(server.requests.length);
  expect(asked.sent).toBeLessThan(16);
  expect(requests.all).toBeGreaterThan(1_310);
});

test("a plan includes the other requests of a run: datasets, batches before and after", async () => {
  const { plan, run, dataset } = await startPlace([makeDocument({ chunks: 3 })]);
  dataset.batches.set("2025", [makeStatusEntry(absent)]);
  dataset.batches.set("2026", []);
  const { requests, counts } = await plan();
  expect(counts).toMatchObject({ batches: 2, documents: 1 });
  expect(requests.this_job).toBe((await run()).manifest.requests.sent);
  const onlyBatches = await plan({ job: { datasets: [{ id: dataset.id, batches: ["2025"] }] } });
  expect(onlyBatches).toMatchObject({ status: "complete", counts: { documents: 0, batches: 1 }, requests: { all: 3 } });
});

test("an unknown batch and a missing document cost the same as in a run", async () => {
  const document = makeDocument({ chunks: 2 });
  const { plan, run, dataset } = await startPlace([document]);
  const job = { datasets: [{ id: dataset.id, documents: [document.id, absent], batches: ["unknown"] }] };
  const planned = await plan({ job });
  expect(planned).toMatchObject({ status: "partial", counts: { documents: 2, documents_failed: 1 } });
  expect(planned.documents[1]).toMatchObject({ document_id: absent, chunks: null, requests: 1 });
  expect(planned.warnings).toEqual([
    expect.stringMatching(new RegExp(`^document ${absent} cannot be read: GET .*404 not_found`)),
    expect.stringMatching(/^indexing status of batch "unknown": GET .*404/),
  ]);
  expect(planned.requests.all).toBe((await run({ job })).manifest.requests.sent);
});

test.runIf(inFull)("child_chunks: none asks for no child list", async () => {
  const { plan, run, server } = await startPlace([makeDocument({ chunks: 230, childrenPerChunk: 120 })]);
  const planned = await plan({ job: { child_chunks: "none" } });
  expect(server.requests.filter(({ path }) => path.endsWith("/child_chunks"))).toEqual([]);
  expect(planned).toMatchObject({ child_chunks: "none", requests: { this_job: 7 } });
  expect((await run({ job: { child_chunks: "none" } })).manifest.requests.sent).toBe(7);
});

test("the plan uses the filters of the job", async () => {
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

test("work that the next run resumes is kept and named; a running job too", async () => {
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
  expect((await plan()).warnings).toEqual([
    expect.stringMatching(/^the interrupted run 20250306T132000000Z will be resumed and sends fewer requests/),
  ]);
  expect(await readdir(work)).toEqual(["plan.json"]);
  expect((await plan({ job: { consistency: "counts" } })).warnings).toEqual([]);

  const lock = await lockJob(hidden, new Date());
  const meanwhile = await plan();
  await lock.release(hidden);
  expect(meanwhile.warnings).toEqual([
    expect.stringMatching(/^latencies may be too high: another run of this job is active: process \d+ on /),
  ]);
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

test.runIf(inFull)(
  "the minimum time is for all requests at their median latencies, concurrency in flight, within max_rps",
  async () => {
    const { plan } = await startPlace([makeDocument({ chunks: 130, childrenPerChunk: 1 })], { latency: 20 });
    const { least_seconds: least, latency, requests } = await plan({ service: { concurrency: 4 } });
    const { chunk_page: page, child_list: list } = latency;
    for (const median of [page, list]) expect(median).toBeGreaterThanOrEqual(0.019);
    const waited = (4 * (page ?? 0) + 130 * (list ?? 0)) / 4;
    expect(least - waited).toBeGreaterThanOrEqual(-0.1);
    expect(least - waited).toBeLessThan(0.2);
    const bounded = await plan({ service: { concurrency: 4, max_rps: 40 } });
    expect(bounded.least_seconds).toBeCloseTo(requests.all / 40, 1);
  },
);

test.runIf(inFull)(
  "sizes come from the first, the middle and the last page; a page without rows does not count",
  async () => {
    const document = makeDocument({ chunks: 300 });
    for (const [at, chunk] of document.chunks.entries()) chunk.content = "x".repeat(at < 100 ? 1 : 10_000);
    const { plan, run, server } = await startPlace([document]);
    const { disk } = await plan();
    const written = (await run()).manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(disk.run_folder_bytes / written).toBeGreaterThan(0.8);
    expect(disk.run_folder_bytes / written).toBeLessThan(1.25);
    server.behaviour.faults = ({ query }) => (query === "page=1&limit=100" ? { kind: "empty-page" } : undefined);
    const empty = await plan();
    expect(Number.isSafeInteger(empty.requests.all)).toBe(true);
  },
);

test.runIf(inFull)("the disk forecast is close to what a run then writes", async () => {
  const { plan, run } = await startPlace([makeDocument({ chunks: 240, childrenPerChunk: 3 })]);
  const { disk, counts } = await plan();
  const { manifest } = await run();
  const written = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(disk.run_folder_bytes / written).toBeGreaterThan(0.8);
  expect(disk.run_folder_bytes / written).toBeLessThan(1.25);
  expect(disk).toMatchObject({ enough: true, database_bytes: 0 });
  expect(counts.child_chunks).toBe(720);
});
