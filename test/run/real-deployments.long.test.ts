import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runJob } from "../../src/run/run-job.js";
import type { Behaviour } from "../servers/behaviour.js";
import { type RealisticServer, startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, makeStatusEntry, Store, type TestDataset } from "../servers/store.js";
import { expectedChild, expectedChunk } from "./expected-rows.js";
import { jobFor, testFolder } from "./job-for.js";
import { query, readJsonl } from "./read-dump.js";

const batch = "batch/ü 100%?#1";

interface Place {
  readonly server: RealisticServer;
  readonly dataset: TestDataset;
  readonly folder: string;
}

/**
 * The service for behaviours that depend on pages. Its documents have two full pages; a full page plus one chunk; children on one
 * page and on three; old records; no chunks.
 */
function manyShapes(): Store {
  const store = new Store();
  const dataset = store.addDataset(
    makeDocument({ chunks: 200, seed: 1 }),
    makeDocument({
      chunks: 101,
      seed: 2,
      docForm: "hierarchical_model",
      childrenPerChunk: (at) => [0, 3, 101, 1, 205][at % 50] ?? 0,
    }),
    makeDocument({ chunks: 20, seed: 3, variant: "old" }),
    makeDocument({ chunks: 0, seed: 4 }),
    makeDocument({ chunks: 1, seed: 5, childrenPerChunk: 100 }),
  );
  dataset.batches.set(
    batch,
    [...dataset.documents.keys()].map((id) => makeStatusEntry(id)),
  );
  return store;
}

/**
 * The service for behaviours that do not depend on pages: a document of a full page plus one chunk, one with old records, and an
 * empty one.
 */
function fewShapes(): Store {
  const store = new Store();
  const childrenPerChunk = (at: number) => [0, 3, 101, 1, 205][at] ?? 0;
  const dataset = store.addDataset(
    makeDocument({ chunks: 101, seed: 2, docForm: "hierarchical_model", childrenPerChunk }),
    makeDocument({ chunks: 12, seed: 3, variant: "old" }),
    makeDocument({ chunks: 0, seed: 4 }),
  );
  dataset.batches.set(
    batch,
    [...dataset.documents.keys()].map((id) => makeStatusEntry(id)),
  );
  return store;
}

async function startPlace(behaviour: Behaviour, store = manyShapes()): Promise<Place> {
  const server = await startRealisticServer(store, behaviour);
  onTestFinished(() => server.close());
  const [dataset] = store.datasets.values();
  if (!dataset) throw new Error("the store has no dataset");
  return { server, dataset, folder: await testFolder() };
}

async function dump(
  { server, dataset, folder }: Place,
  more: { concurrency?: number; childChunks?: string; formats?: string[] } = {},
) {
  const job = await jobFor(folder, {
    service: { base_url: server.url, concurrency: more.concurrency ?? 8 },
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()], batches: [...dataset.batches.keys()] }],
    child_chunks: more.childChunks ?? "all",
    output: { dir: join(folder, "out"), formats: more.formats ?? ["jsonl"] },
  });
  return runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
}

/** The rows that a dump of the whole dataset must contain, in order. */
function expectedOf(dataset: TestDataset) {
  const documents = [...dataset.documents.values()];
  return {
    chunks: documents.flatMap(({ id, chunks }) => chunks.map((chunk) => expectedChunk(dataset.id, id, chunk))),
    children: documents.flatMap(({ id, chunks, children }) =>
      chunks.flatMap((chunk) =>
        (children.get(chunk.id) ?? []).map((child) => expectedChild(dataset.id, id, chunk.id, child)),
      ),
    ),
  };
}

/** The times more precise than a millisecond, which the test server sends on purpose. */
function driftOf({ chunks, children }: ReturnType<typeof expectedOf>) {
  const drift: Record<string, number> = {};
  const count = (kind: string, rows: readonly Record<string, unknown>[]) => {
    for (const field of rows.flatMap(({ extra }) => Object.keys(extra ?? {})))
      if (field.endsWith("_at")) drift[`${kind}.${field}`] = (drift[`${kind}.${field}`] ?? 0) + 1;
  };
  count("chunks", chunks);
  count("child_chunks", children);
  return drift;
}

/** The smallest possible number of requests if the service caps pages at `cap` rows. */
function leastRequests(dataset: TestDataset, cap: number): number {
  const pages = (rows: number) => Math.max(1, Math.ceil(rows / cap));
  const sweeps = (rows: number) => (rows > cap || rows === 100 ? 2 : 1); // a list that fills one page takes another request, because more rows may follow
  let sum = 1 + 2 * dataset.batches.size; // the metadata fields once, and every batch before and after
  for (const { chunks, children } of dataset.documents.values()) {
    sum += pages(chunks.length) * sweeps(chunks.length);
    for (const chunk of chunks) {
      const [listed, embedded] = [children.get(chunk.id) ?? [], chunk.child_chunks];
      const isShown = Array.isArray(embedded) && embedded.length === listed.length;
      sum += pages(listed.length) * (isShown ? 1 : sweeps(listed.length));
    }
  }
  return sum;
}

const behaviours: readonly { name: string; cap: number; behaviour: Behaviour; store?: () => Store }[] = [
  { name: "an honest service", cap: 100, behaviour: {} },
  { name: "has_more true on a full last page", cap: 100, behaviour: { hasMore: "rows-equal-limit" } },
  { name: "has_more always false", cap: 100, behaviour: { hasMore: "always-false" } },
  { name: "has_more always true", cap: 100, behaviour: { hasMore: "always-true" } },
  { name: "has_more absent", cap: 100, behaviour: { hasMore: "absent" } },
  { name: "a cap of 50 that limit does not tell", cap: 50, behaviour: { pageCap: 50, hasMore: "rows-equal-limit" } },
  { name: "a cap of 7", cap: 7, behaviour: { pageCap: 7 } },
  { name: "paging ignored", cap: 1e9, behaviour: { paging: "ignored" } },
  { name: "gzip", cap: 100, behaviour: { gzip: true }, store: fewShapes },
  { name: "deflate in pieces", cap: 100, behaviour: { gzip: "deflate", chunked: true }, store: fewShapes },
  { name: "brotli", cap: 100, behaviour: { gzip: "br" }, store: fewShapes },
  {
    name: "answers that take their time, each another",
    cap: 100,
    behaviour: { latency: ({ query }) => query.length % 7 },
    store: fewShapes,
  },
];

describe("every row is read, with the least number of requests", () => {
  test.each(behaviours)("$name", async ({ behaviour, cap, store = manyShapes }) => {
    const place = await startPlace(behaviour, store());
    const { manifest, folder } = await dump(place);

    const expected = expectedOf(place.dataset);
    expect(expected.chunks.length + expected.children.length).toBeGreaterThan(322);
    expect(manifest.status).toBe("complete");
    expect(manifest.drift).toEqual(driftOf(expected));
    expect(manifest.drift["chunks.indexing_at"]).toBeGreaterThan(10);
    expect(manifest.warnings).toEqual([expect.stringMatching(/: its indexing is completed, and it has no chunks$/)]);
    expect(await readJsonl(folder, "chunks")).toEqual(expected.chunks);
    expect(await readJsonl(folder, "child_chunks")).toEqual(expected.children);
    expect(place.server.requests).toHaveLength(leastRequests(place.dataset, cap));
    expect(manifest.requests).toMatchObject({ sent: place.server.requests.length, retried: 0, throttled: 0 });
  });

  test("child_chunks: none asks for no child list", async () => {
    const place = await startPlace({});
    const { manifest, folder } = await dump(place, { childChunks: "none" });
    expect(manifest).toMatchObject({ status: "complete", counts: { chunks: 322, child_chunks: 0 } });
    expect(await readJsonl(folder, "chunks")).toEqual(expectedOf(place.dataset).chunks);
    expect(place.server.requests.filter(({ path }) => path.endsWith("/child_chunks"))).toEqual([]);
  });
});

test("at any concurrency: requests are GETs for 100 rows with the key, never more in flight than asked, and the same bytes in every text format", async () => {
  const files = ["chunks.jsonl", "child_chunks.jsonl", "chunks.csv", "child_chunks.csv"];
  const dumps: string[][] = [];
  for (const concurrency of [1, 3, 16]) {
    const place = await startPlace({
      latency: ({ nth, query }) => 1 + ((nth + query.length) % 5),
      hasMore: "rows-equal-limit",
    });
    const { folder } = await dump(place, { concurrency, formats: ["jsonl", "csv"] });
    dumps.push(await Promise.all(files.map((name) => readFile(join(folder, name), "utf8"))));
    const { requests, maxInFlight } = place.server;
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(new Set(requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${place.server.key}`]),
    );
    const lists = requests.filter(({ path }) => /(segments|child_chunks)$/.test(path));
    expect(lists.length).toBeGreaterThan(322);
    expect(lists.every(({ query }) => /^page=[1-9]\d*&limit=100$/.test(query))).toBe(true);
    expect(maxInFlight).toBe(concurrency);
  }
  expect(dumps[0]?.every((text) => text.length > 1000)).toBe(true);
  expect(dumps[1]).toEqual(dumps[0]);
  expect(dumps[2]).toEqual(dumps[0]);
});

test("every format contains the same rows, read by another tool", async () => {
  const place = await startPlace({});
  const { folder, database } = await dump(place, { formats: ["jsonl", "csv", "parquet", "duckdb"] });
  for (const kind of ["chunks", "child_chunks"]) {
    const inUtc = "REPLACE (created_at AT TIME ZONE 'UTC' AS created_at)"; // independent of the time zone of this machine
    const parquet = await query(`SELECT * ${inUtc} FROM '${folder}/${kind}.parquet'`);
    const csv = `read_csv('${folder}/${kind}.csv', all_varchar = true, allow_quoted_nulls = false, parallel = false)`;
    const texts = await query(`SELECT * FROM ${csv}`);
    const stored = await query(`SELECT * EXCLUDE (run_id) ${inUtc} FROM ${kind}`, database);
    const rows = await readJsonl(folder, kind);
    expect(rows.length).toBeGreaterThan(300);
    expect(stored).toEqual(parquet);
    expect(texts.map((row) => row.id)).toEqual(rows.map((row) => row.id));
    expect(texts.map((row) => row.content)).toEqual(rows.map((row) => row.content));
    expect(parquet.map((row) => row.content)).toEqual(rows.map((row) => row.content));
    expect(parquet.map((row) => (row.created_at === null ? null : `${row.created_at}Z`))).toEqual(
      rows.map((row) => (typeof row.created_at === "string" ? row.created_at.replace("T", " ") : null)),
    );
  }
});
