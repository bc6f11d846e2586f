import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Job } from "../../../src/job/job.js";
import { planJob } from "../../../src/plan/plan-job.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { inFull } from "../../rounds.js";
import { jobFor, testFolder } from "../../run/job-for.js";
import { query, readJsonl } from "../../run/read-dump.js";
import { ask } from "../../serve/ask.js";
import { served } from "../../serve/redump.js";
import type { JsonObject } from "../../servers/json.js";
import { makeStatusEntry } from "../../servers/store.js";
import { change } from "../../verify/forge.js";
import { askedOf, idsOf, type Place, refusing, startPlace } from "./discovering.js";

const signature = `?timestamp=1741267200&nonce=${"0".repeat(32)}&sign=${"a".repeat(43)}=`;
const field = { id: "f1", name: "author", type: "string" };

const settings: JsonObject = {
  description: "All that we know",
  indexing_technique: "high_quality",
  embedding_model: "text-embedding-3-small",
  embedding_model_provider: "openai",
  retrieval_model_dict: { search_method: "hybrid_search", top_k: 3, score_threshold: 0.5 },
  summary_index_setting: null,
  doc_metadata: [field],
  tags: [],
  updated_at: 1741267200,
  icon_info: { icon_url: `https://kb.example.com/files/9/file-preview${signature}` },
};
const metadata: JsonObject = { doc_metadata: [{ ...field, count: 1 }], built_in_field_enabled: true };
const tags: JsonObject = { data: [{ id: "t1", name: "public" }], total: 1 };
const details = (id: string): JsonObject => ({
  id,
  name: "Guide.md",
  doc_form: "text_model",
  doc_language: "English",
  doc_metadata: [{ ...field, value: "Jo" }],
  data_source_type: "upload_file",
  data_source_info: { upload_file: { id: "u", name: "Guide.md", size: 12, url: `/files/u/file-preview${signature}` } },
  document_process_rule: { mode: "custom", rules: { segmentation: { max_tokens: 500 } } },
  segment_count: 1,
  average_segment_length: 12.5,
  indexing_latency: 1.25,
  updated_at: 1741267200.5,
  archived: false,
  enabled: true,
  indexing_status: "completed",
  dataset_process_rule_id: null,
});

/** A service with details for its one dataset and for its documents. */
async function detailedPlace(documents = 2): Promise<Place> {
  const place = await startPlace([documents]);
  const [dataset] = place.datasets;
  if (dataset) Object.assign(dataset, { listed: settings, metadata, tags });
  for (const document of dataset?.documents.values() ?? []) document.details = details(document.id);
  return place;
}

async function jobOf(place: Place, more: Record<string, unknown> = {}, formats = ["jsonl"]): Promise<Job> {
  const service = { base_url: place.server.url, concurrency: 4, retries: 0 };
  const output = { formats, ...(more.output as object | undefined) };
  return jobFor(await testFolder(), { service, datasets: "all", details: true, ...more, output });
}

const run = (job: Job, { server }: Place) => runJob(job, { env: { KNOWLEDGE_API_KEY: server.key } });
const filesOf = async ({ folder }: RunResult, names: readonly string[]) =>
  Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));

test.runIf(inFull)(
  "details: true adds the settings of datasets and documents, in every format and the database, and nothing else changes",
  async () => {
    const place = await detailedPlace();
    const formats = ["jsonl", "csv", "parquet", "duckdb"];
    const result = await run(await jobOf(place, {}, formats), place);
    const id = place.datasets[0]?.id ?? "";
    expect(result.manifest).toMatchObject({
      status: "complete",
      warnings: [],
      drift: {},
      counts: { datasets: 1, document_details: 2 },
      options: { details: true, originals: false },
    });
    expect(await readJsonl(result.folder, "datasets")).toEqual([
      expect.objectContaining({
        dataset_id: id,
        name: place.datasets[0]?.name,
        embedding_model: "text-embedding-3-small",
        retrieval_model: settings.retrieval_model_dict,
        doc_metadata: metadata.doc_metadata,
        built_in_field_enabled: true,
        tags: tags.data,
        updated_at: "2025-03-06T13:20:00Z",
        extra: { provider: "vendor", icon_info: { icon_url: "https://kb.example.com/files/9/file-preview" } },
      }),
    ]);
    const rows = await readJsonl(result.folder, "document_details");
    expect(rows.map((row) => row.document_id)).toEqual(idsOf(place.datasets[0]));
    expect(rows[0]).toMatchObject({
      dataset_id: id,
      process_rule: details("").document_process_rule,
      data_source_info: { upload_file: { url: "/files/u/file-preview" } },
      doc_metadata: [{ ...field, value: "Jo" }],
      average_segment_length: 12.5,
      indexing_latency: 1.25,
      updated_at: "2025-03-06T13:20:00.500Z",
      extra: { dataset_process_rule_id: null },
    });
    expect(await verifyRun(result.folder, { duckdb: true })).toMatchObject({ status: "sound", findings: [] });

    const plain = await run(await jobOf(place, { details: false }, formats), place);
    const shared = (await readdir(plain.folder)).filter((name) => /\.(jsonl|csv)$/.test(name));
    expect((await readdir(result.folder)).length - (await readdir(plain.folder)).length).toBe(6);
    expect(await filesOf(result, shared)).toEqual(await filesOf(plain, shared));
    expect(plain.manifest.counts).not.toHaveProperty("datasets");
  },
);

test("every question is asked once, and plan counts them", async () => {
  const place = await detailedPlace(3);
  const job = await jobOf(place, { child_chunks: "none" });
  const planned = await planJob(job, { env: { KNOWLEDGE_API_KEY: place.server.key } });
  place.server.reset();
  const { manifest } = await run(job, place);
  expect(planned.requests.this_job).toBe(manifest.requests.sent);
  const asked = askedOf(place);
  const id = place.datasets[0]?.id;
  for (const path of [
    "/metadata?",
    "/tags?",
    ...idsOf(place.datasets[0]).map((one) => `/documents/${one}?metadata=all`),
  ])
    expect(asked.filter((each) => each === `/datasets/${id}${path}`)).toHaveLength(1);
});

test("keep_signatures leaves the links of details as they are", async () => {
  const place = await detailedPlace(1);
  const { folder } = await run(await jobOf(place, { output: { keep_signatures: true } }), place);
  expect(await readFile(join(folder, "document_details.jsonl"), "utf8")).toContain(signature);
  expect(await readFile(join(folder, "datasets.jsonl"), "utf8")).toContain(signature);
});

test.runIf(inFull)(
  "an older service, a key that may not, a document whose details fail: warnings, and a complete run",
  async () => {
    const place = await startPlace([3], { details: false });
    const old = await run(await jobOf(place), place);
    expect(old.manifest).toMatchObject({
      status: "complete",
      counts: { chunks: 3, datasets: 0, document_details: 0 },
      warnings: [
        "settings, metadata fields, tags and details are not in this dump: this service does not know these requests (404); details: false asks for none",
      ],
    });
    expect(await verifyRun(old.folder)).toMatchObject({ status: "sound" });

    const { server, datasets } = await detailedPlace(3);
    const other: Place = { ...place, server, datasets };
    const [, ailing = ""] = idsOf(datasets[0]);
    server.behaviour.faults = (request) =>
      refusing("/tags", 403, "forbidden", "Not yours.")(request) ??
      refusing(`/documents/${ailing}`, 500, "internal_server_error", "Broken.")(request);
    const { manifest, folder } = await run(await jobOf(other), other);
    expect(manifest).toMatchObject({ status: "complete", counts: { chunks: 3, datasets: 1, document_details: 2 } });
    expect(manifest.warnings).toEqual([
      expect.stringMatching(
        `^the tags of dataset ${datasets[0]?.id} are not in this dump: GET .*/tags: 403 forbidden Not yours`,
      ),
      expect.stringMatching(
        `^the details of document ${ailing} are not in this dump: GET .* 500 internal_server_error Broken`,
      ),
    ]);
    expect((await readJsonl(folder, "datasets"))[0]).toMatchObject({ tags: [], doc_metadata: metadata.doc_metadata });
  },
);

test.runIf(inFull)(
  "the database keeps the newest details that a run could read, and verify knows of later ones",
  async () => {
    const place = await detailedPlace();
    const job = await jobOf(place, {}, ["jsonl", "duckdb"]);
    const first = await run(job, place);
    const [kept = "", renamed = ""] = idsOf(place.datasets[0]);
    const document = place.datasets[0]?.documents.get(renamed);
    if (document) document.details = { ...details(renamed), name: "Renamed.md" };
    place.server.behaviour.faults = refusing(`/documents/${kept}`, 403, "forbidden", "No.");
    const { database = "", manifest } = await run(job, place);
    const names = `SELECT document_id, name, run_id FROM document_details ORDER BY name`;
    expect(await query(names, database)).toEqual([
      { document_id: kept, name: "Guide.md", run_id: first.manifest.run_id },
      { document_id: renamed, name: "Renamed.md", run_id: manifest.run_id },
    ]);
    expect(await query("SELECT name, run_id FROM datasets", database)).toMatchObject([{ run_id: manifest.run_id }]);
    expect(await verifyRun(first.folder, { duckdb: true })).toMatchObject({ findings: [] });
    await change(database, `UPDATE document_details SET name = 'other' WHERE document_id = '${kept}'`);
    expect((await verifyRun(first.folder, { duckdb: true })).findings).toEqual([
      { file: "test.duckdb", message: expect.stringMatching(`^document ${kept} of dataset .* differs in name`) },
    ]);
  },
);

test.runIf(inFull)("serve answers single datasets and documents as the service did", async () => {
  const place = await detailedPlace(1);
  const { folder } = await run(await jobOf(place), place);
  const service = await served(folder);
  const [id, document] = [place.datasets[0]?.id, idsOf(place.datasets[0])[0] ?? ""];
  const get = async (path: string) => JSON.parse((await ask(service, path)).text);
  expect(await get(`/datasets/${id}`)).toMatchObject({
    id,
    retrieval_model_dict: settings.retrieval_model_dict,
    tags: tags.data,
    document_count: 1,
  });
  expect(await get(`/datasets/${id}/metadata`)).toEqual(metadata);
  expect(await get(`/datasets/${id}/documents/${document}`)).toMatchObject({
    id: document,
    document_process_rule: details("").document_process_rule,
    updated_at: 1741267200.5,
  });
});

test.runIf(inFull)("a resumed run has the details already", async () => {
  const place = await detailedPlace(2);
  const { server, datasets } = place;
  const ids = idsOf(datasets[0]);
  datasets[0]?.batches.set("2025", [makeStatusEntry(ids[0] ?? "")]);
  const job = await jobOf(place, { datasets: [{ id: datasets[0]?.id, documents: ids, batches: ["2025"] }] });
  const stop = new AbortController();
  server.behaviour.onRequest = ({ path, nth }) => {
    if (path.endsWith("/indexing-status") && nth === 1) stop.abort(new Error("enough"));
  };
  const options = { env: { KNOWLEDGE_API_KEY: server.key } };
  await expect(runJob(job, { ...options, signal: stop.signal })).rejects.toThrow("enough");
  const { manifest, folder } = await runJob(job, options);
  expect(manifest.counts).toMatchObject({ datasets: 1, document_details: 2 });
  expect(askedOf(place).filter((path) => /metadata|tags/.test(path) && !path.includes("built-in"))).toHaveLength(4);
  expect(await verifyRun(folder)).toMatchObject({ status: "sound" });
});

test("a first answer that an older service has no details is no reason to end the run", async () => {
  const place = await startPlace([1], { details: false });
  const id = place.datasets[0]?.id ?? "";
  await expect(place.client.datasetTags(id)).rejects.toThrow("404");
  await expect(place.client.dataset(id)).rejects.toThrow("404");
  await expect(place.client.document(id, idsOf(place.datasets[0])[0] ?? "")).rejects.toThrow("404");
  expect((await place.client.documents(id, 1)).total).toBe(1);
});

test("a record without an id, or none at all, is a broken answer", async () => {
  const place = await detailedPlace(1);
  const [dataset] = place.datasets;
  const [document] = dataset?.documents.values() ?? [];
  if (document) document.details = { name: "no id" };
  if (dataset) dataset.tags = { data: "none" };
  await place.client.datasets(1); // the first answer must be valid, or the client would report the wrong service
  await expect(place.client.document(dataset?.id ?? "", document?.id ?? "")).rejects.toThrow('the answer has no "id"');
  await expect(place.client.datasetTags(dataset?.id ?? "")).rejects.toThrow('no list of objects "data"');
});
