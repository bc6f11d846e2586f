import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import type { Job } from "../../../src/job/job.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { nameAndId } from "../../../src/words.js";
import { inFull } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { query, readJsonl } from "../../run/read-dump.js";
import type { RealisticServer } from "../../servers/realistic-server.js";
import { makeDocument, makeStatusEntry } from "../../servers/store.js";
import { change } from "../../verify/forge.js";
import { askedOf, idsOf, refusing, smallDocument, startPlace, upload } from "./discovering.js";

/** Runs the job `name` in the folder. It covers everything in the service, unless `more` overrides this. */
async function jobOf(folder: string, server: RealisticServer, name: string, formats: string, more: object = {}) {
  const service = { base_url: server.url, concurrency: 4, retries: 0 };
  const output = { dir: join(folder, "out"), formats: formats.split(" ") };
  return jobFor(folder, { name, service, datasets: "all", output, ...more });
}

const run = (job: Job, server: RealisticServer, options = {}) =>
  runJob(job, { env: { KNOWLEDGE_API_KEY: server.key }, ...options });

const dumped = ["chunks", "child_chunks"].flatMap((kind) => ["jsonl", "csv"].map((format) => `${kind}.${format}`));
const contents = ({ folder }: RunResult, files = dumped) =>
  Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));

test.runIf(inFull)(
  "everything: the same files as with every id, and a row of document_info for every document",
  async () => {
    const { server, datasets } = await startPlace([3, 0, 2]);
    const folder = await testFolder();
    datasets[0]?.batches.set("2025", [makeStatusEntry(idsOf(datasets[0])[0] ?? "")]);
    upload(datasets[0], makeDocument({ chunks: 120, childrenPerChunk: 1, seed: 7 }));
    const found = await run(await jobOf(folder, server, "found", "jsonl csv parquet duckdb"), server);
    const ids = datasets.map((dataset) => ({ id: dataset.id, documents: idsOf(dataset) }));
    const named = await jobOf(folder, server, "named", "jsonl csv", {
      datasets: ids.filter(({ documents }) => documents.length > 0),
    });
    const byId = await run(named, server);

    expect(await contents(found)).toEqual(await contents(byId));
    expect(found.manifest.documents).toEqual(byId.manifest.documents);
    expect(found.manifest).toMatchObject({
      status: "complete",
      counts: { documents: 6, document_info: 6, metadata_fields: 15 },
      options: { datasets: "all" },
      warnings: [`dataset ${nameAndId(datasets[1]?.name, datasets[1]?.id ?? "")} has no documents`],
      discovered: {
        since: null,
        new: [],
        vanished: [],
        datasets: [{ documents: 4 }, { documents: 0 }, { documents: 2 }],
      },
    });
    expect((await readJsonl(found.folder, "document_info")).map(({ document_id }) => document_id)).toEqual(
      datasets.flatMap(idsOf),
    );
    expect((await readdir(found.folder)).filter((name) => name.startsWith("document_info"))).toHaveLength(3);
    expect((await readdir(byId.folder)).filter((name) => name.startsWith("document_info"))).toEqual([]);
    expect(byId.manifest.counts).not.toHaveProperty("document_info");
    expect(byId.manifest).not.toHaveProperty("discovered");
    expect(await verifyRun(found.folder, { duckdb: true })).toMatchObject({ status: "sound", findings: [] });
    expect(await verifyRun(byId.folder)).toMatchObject({ status: "sound", findings: [] });
  },
);

test("two runs over unchanged data give the same files, document_info among them", async () => {
  const { server, datasets } = await startPlace([105]);
  const job = await jobOf(await testFolder(), server, "test", "jsonl csv", {
    datasets: [{ id: datasets[0]?.id, documents: "all" }],
    child_chunks: "none",
  });
  const files = [...dumped, "document_info.jsonl", "document_info.csv", "documents.jsonl"];
  const [first, second] = [await run(job, server), await run(job, server)];
  expect(await contents(second, files)).toEqual(await contents(first, files));
  expect(second.manifest.discovered).toMatchObject({ since: first.manifest.run_id, new: [], vanished: [] });
});

test.runIf(inFull)(
  "new and vanished documents are reported from run to run, and the rows of a vanished one stay",
  async () => {
    const { server, datasets } = await startPlace([2, 1]);
    const [dataset, other] = datasets;
    const job = await jobOf(await testFolder(), server, "test", "jsonl duckdb");
    const first = await run(job, server);
    const [gone = "", kept = ""] = idsOf(dataset);
    dataset?.documents.delete(gone);
    const added = upload(other, smallDocument({ name: "It's new" }));
    const { manifest, database = "" } = await run(job, server);
    expect(manifest.discovered).toMatchObject({ since: first.manifest.run_id, new: [added], vanished: [gone] });
    expect(manifest.status).toBe("complete");
    expect(manifest.warnings).toEqual([]);
    const changes = "SELECT run_id, change, dataset_id, document_id, name FROM document_changes ORDER BY change";
    const name = `document ${Number((await readJsonl(first.folder, "document_info"))[0]?.name?.toString().match(/\d+/))}.md`;
    expect(await query(changes, database)).toEqual([
      { run_id: manifest.run_id, change: "new", dataset_id: other?.id, document_id: added, name: "It's new" },
      { run_id: manifest.run_id, change: "vanished", dataset_id: dataset?.id, document_id: gone, name },
    ]);
    const runOf = (table: string, id: string) =>
      query(`SELECT DISTINCT run_id FROM ${table} WHERE document_id = '${id}'`, database);
    for (const table of ["chunks", "documents", "document_info"]) {
      expect(await runOf(table, gone), table).toEqual([{ run_id: first.manifest.run_id }]);
      expect(await runOf(table, kept), table).toEqual([{ run_id: manifest.run_id }]);
    }
    for (const { folder } of [first, { folder: join(first.folder, "..", manifest.run_id) }]) {
      expect(await verifyRun(folder, { duckdb: true })).toMatchObject({ findings: [] });
    }
    await change(database, `UPDATE document_info SET name = 'other' WHERE document_id = '${gone}'`);
    const { findings } = await verifyRun(first.folder, { duckdb: true });
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(`^document ${gone} of dataset .* differs in name from row . of document_info.jsonl$`),
    ]);
  },
);

test.runIf(inFull)("in the database only: later runs, failed documents and vanished ones leave it sound", async () => {
  const { server, datasets } = await startPlace([3]);
  const [first = "", second = "", third = ""] = idsOf(datasets[0]);
  const job = await jobOf(await testFolder(), server, "test", "duckdb");
  const error = { status: 400, body: { code: "provider_not_initialize", message: "No model." } };
  server.behaviour.documentError = new Map([[first, error]]);
  const runs = [await run(job, server)];
  server.behaviour.documentError = new Map([[second, error]]);
  datasets[0]?.documents.delete(third);
  runs.push(await run(job, server));
  expect(runs.map(({ manifest }) => [manifest.status, manifest.discovered?.vanished])).toEqual([
    ["partial", []],
    ["partial", [third]],
  ]);
  for (const { folder } of runs) {
    expect(await verifyRun(folder, { duckdb: true })).toMatchObject({ findings: [] });
  }
});

test("other entries among the runs are ignored", async () => {
  const { server } = await startPlace([1]);
  const folder = await testFolder();
  const job = await jobOf(folder, server, "test", "jsonl csv");
  for (const [id, text] of [
    ["20200101T000000000Z", "{"],
    ["20200102T000000000Z", '{"discovered": {"datasets": [null, 1]}, "documents": [null, {"dataset_id": 7}]}'],
    ["20200103T000000000Z", '{"discovered": null, "documents": {}}'],
  ] as const) {
    await mkdir(join(folder, "out", "test", "runs", id), { recursive: true });
    await writeFile(join(folder, "out", "test", "runs", id, "manifest.json"), text);
  }
  const { manifest } = await run(job, server);
  expect(manifest.status).toBe("complete");
  expect(manifest.discovered?.since).toBeNull();
});

test.runIf(inFull)(
  "an interrupted run resumes with the documents that it found, in their order, even if others were added since",
  async () => {
    const { server, datasets, ...place } = await startPlace([0]);
    const [dataset] = datasets;
    for (const seed of [1, 2, 3]) upload(dataset, makeDocument({ chunks: 105, childrenPerChunk: 1, seed }));
    const folder = await testFolder();
    const undisturbed = await run(await jobOf(folder, server, "undisturbed", "jsonl csv"), server);
    const job = await jobOf(folder, server, "test", "jsonl csv");
    for (const answered of [120, 20, 100]) {
      let left = answered;
      server.behaviour.faults = () => (--left < 0 ? { kind: "status", status: 401, body: "json" } : undefined);
      await expect(run(job, server)).rejects.toThrow(StopError);
      delete server.behaviour.faults;
      upload(dataset);
    }
    server.reset();
    const resumed = await run(job, server);
    const lists = askedOf({ server, datasets, ...place }).filter((target) => /\/datasets\?|\/documents\?/.test(target));
    expect(lists).toHaveLength(1); // one list only, read after the documents to see which of them changed
    const files = [...dumped, "documents.jsonl", "document_info.jsonl", "document_info.csv"];
    expect(await contents(resumed, files)).toEqual(await contents(undisturbed, files));
    expect(resumed.manifest.documents).toHaveLength(3);
  },
);

test.runIf(inFull)(
  "a dataset that cannot be listed makes the run partial; --retry-failed lists it again and reads only the missing documents",
  async () => {
    const { server, datasets, ...place } = await startPlace([1, 2]);
    const [first, second] = datasets;
    const job = await jobOf(await testFolder(), server, "test", "jsonl duckdb");
    server.behaviour.faults = refusing(
      `/${first?.id}/documents`,
      403,
      "forbidden",
      "Dataset api access is not enabled.",
    );
    const { manifest } = await run(job, server);
    expect(manifest.status).toBe("partial");
    expect(manifest.warnings).toEqual([
      expect.stringMatching(`^the documents of dataset "${first?.name}" .${first?.id}. cannot be listed: `),
    ]);
    expect(manifest.counts).toMatchObject({ documents: 2, document_info: 2 });

    delete server.behaviour.faults;
    server.reset();
    const mended = await run(job, server, { retryFailed: true });
    expect(mended.manifest).toMatchObject({
      status: "complete",
      counts: { documents: 3, document_info: 3, chunks: 3 },
    });
    const asked = askedOf({ server, datasets, ...place }).filter((target) => target.includes("/segments?"));
    expect(asked).toHaveLength(1);
    expect(mended.manifest.documents.map(({ document_id }) => document_id)).toEqual([
      ...idsOf(first),
      ...idsOf(second),
    ]);
    expect(await verifyRun(mended.folder, { duckdb: true })).toMatchObject({ findings: [] });
  },
);

test("documents that are still being indexed, or are switched off, are read like any other; the first are named", async () => {
  const { server, datasets } = await startPlace([0]);
  const [indexing, paused, failed, archived, empty] = [
    { indexing_status: "splitting" },
    { indexing_status: "paused" },
    { indexing_status: "error", error: "no embedding model" },
    { archived: true, enabled: false, display_status: "archived" },
  ].map((listed) => upload(datasets[0], smallDocument(listed)));
  upload(datasets[0], { ...makeDocument({ chunks: 0, seed: 99 }) });
  const { manifest, folder } = await run(await jobOf(await testFolder(), server, "test", "jsonl csv"), server);
  expect(empty).toBeUndefined();
  const nameOf = (id = "") => nameAndId(datasets[0]?.documents.get(id)?.name, id);
  expect(manifest.status).toBe("complete");
  expect(manifest.counts).toMatchObject({ documents: 5, chunks: 4 });
  expect(manifest.warnings.toSorted()).toEqual(
    [
      `document ${nameOf(indexing)}: it is being indexed (splitting), so its chunks are not final`,
      `document ${nameOf(paused)}: its indexing is paused, so its chunks are not final`,
      `document ${nameOf(manifest.documents[0]?.document_id)}: its indexing is completed, and it has no chunks`,
    ].toSorted(),
  );
  const rows = new Map((await readJsonl(folder, "document_info")).map((row) => [row.document_id, row]));
  expect(rows.get(archived)).toMatchObject({ archived: true, enabled: false, display_status: "archived" });
  expect(rows.get(failed)).toMatchObject({ indexing_status: "error", error: "no embedding model" });
});

test("an unknown field, or one of an unexpected type, is kept and counted", async () => {
  const { server, datasets } = await startPlace([0]);
  const listed = { name: 7, doc_metadata: [{ a: 1 }], tokens: null, created_at: 1_700_000_000.5 };
  upload(datasets[0], smallDocument(listed, 6)); // with another seed, the chunk may have unexpected fields, too
  const { manifest, folder } = await run(await jobOf(await testFolder(), server, "test", "jsonl csv"), server);
  const [row] = await readJsonl(folder, "document_info");
  expect(row).toMatchObject({ name: null, tokens: null, created_at: "2023-11-14T22:13:20.500Z" });
  expect(row?.extra).toEqual({ name: 7, doc_metadata: [{ a: 1 }] });
  expect(manifest.drift).toEqual({ "document_info.name": 1 });
});
