import { describe, expect, it } from "vitest";
import { inFull } from "../rounds.js";
import { ask, read, readRows, rowsFrom, started } from "./ask.js";
import { sampleDatasets } from "./sample-datasets.js";
import { datasetId, documentId, segments, smallKnowledge, uuid } from "./small-knowledge.js";

const chunkFields = [
  ...["id", "position", "document_id", "content", "sign_content", "answer", "word_count", "tokens", "keywords"],
  ...["index_node_id", "index_node_hash", "hit_count", "enabled", "disabled_at", "disabled_by", "status", "created_by"],
  ...["created_at", "updated_at", "updated_by", "indexing_at", "completed_at", "error", "stopped_at", "child_chunks"],
  ...["attachments", "summary"],
];
const childFields = ["id", "segment_id", "content", "position", "word_count", "type", "created_at", "updated_at"];
const statusFields = [
  ...["id", "indexing_status", "processing_started_at", "parsing_completed_at", "cleaning_completed_at"],
  ...["splitting_completed_at", "completed_at", "paused_at", "error", "stopped_at", "completed_segments"],
  "total_segments",
];

const [product, handbook] = sampleDatasets();
const guide = `/datasets/${product?.id}/documents/${product?.documents[0]}/segments`;

describe("the operations", () => {
  it.runIf(inFull)("lists chunks: envelope and fields in their order", async () => {
    const service = await started();
    const body = await read(service, guide);
    expect(Object.keys(body)).toEqual(["data", "doc_form", "total", "has_more", "limit", "page"]);
    expect(body).toMatchObject({ doc_form: "hierarchical_model", total: 600, has_more: true, limit: 20, page: 1 });
    const rows = rowsFrom(body.data);
    expect(rows).toHaveLength(20);
    for (const row of rows) expect(Object.keys(row)).toEqual(chunkFields);
    expect(rows[0]).toMatchObject({ position: 1, document_id: product?.documents[0] });
  });

  it.runIf(inFull)("lists child chunks: envelope and fields in their order", async () => {
    const service = await started();
    const [parent] = await readRows(service, `${guide}?limit=1`);
    const body = await read(service, `${guide}/${parent?.id}/child_chunks`);
    expect(Object.keys(body)).toEqual(["data", "total", "total_pages", "page", "limit"]);
    expect(body).toMatchObject({ total: 250, total_pages: 13, page: 1, limit: 20 });
    const rows = rowsFrom(body.data);
    expect(rows).toHaveLength(20);
    for (const row of rows) expect(Object.keys(row)).toEqual(childFields);
    expect(rows[0]).toMatchObject({ position: 1, segment_id: parent?.id });
  });

  it("answers a list without rows", async () => {
    const service = await started({ knowledge: smallKnowledge([{}]) });
    expect(await read(service, `${segments}?page=2`)).toMatchObject({ data: [], total: 1, has_more: false, page: 2 });
    const children = await read(service, `${segments}/${uuid(101)}/child_chunks`);
    expect(children).toEqual({ data: [], total: 0, total_pages: 0, page: 1, limit: 20 });
  });

  it.runIf(inFull)("returns the indexing status of a batch, one entry per document", async () => {
    const service = await started();
    const body = await read(service, `/datasets/${product?.id}/documents/${product?.batches[0]}/indexing-status`);
    expect(Object.keys(body)).toEqual(["data"]);
    const rows = rowsFrom(body.data);
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(Object.keys(row)).toEqual(statusFields);
    expect(rows[0]).toMatchObject({
      id: product?.documents[0],
      indexing_status: "completed",
      completed_segments: 600,
      total_segments: 600,
    });
  });

  it.runIf(inFull)("lists the built-in metadata fields", async () => {
    const service = await started();
    expect(await read(service, `/datasets/${handbook?.id}/metadata/built-in`)).toEqual({
      fields: [
        { name: "document_name", type: "string" },
        { name: "uploader", type: "string" },
        { name: "upload_date", type: "time" },
        { name: "last_update_date", type: "time" },
        { name: "source", type: "string" },
      ],
    });
  });

  it.runIf(inFull)("lists datasets, and finds one by a part of its name", async () => {
    const service = await started();
    const body = await read(service, "/datasets?include_all=true");
    expect(Object.keys(body)).toEqual(["data", "has_more", "limit", "total", "page"]);
    expect(body).toMatchObject({ has_more: false, limit: 20, total: 2, page: 1 });
    expect(rowsFrom(body.data).map(({ id }) => id)).toEqual([product?.id, handbook?.id]);
    expect(rowsFrom(body.data)[0]).toMatchObject({ name: "Product knowledge", document_count: 7, enable_api: true });
    expect(await readRows(service, "/datasets?keyword=HANDBOOK")).toHaveLength(1);
  });

  it.runIf(inFull)("lists documents newest first, and finds one by a part of its name", async () => {
    const service = await started();
    const body = await read(service, `/datasets/${product?.id}/documents?limit=3`);
    expect(Object.keys(body)).toEqual(["data", "has_more", "limit", "total", "page"]);
    expect(body).toMatchObject({ has_more: true, limit: 3, total: 7, page: 1 });
    const rows = await readRows(service, `/datasets/${product?.id}/documents`);
    expect(rows.map(({ id }) => id)).toEqual(product?.documents.toReversed());
    const times = rows.map(({ created_at }) => Number(created_at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    const found = await readRows(service, `/datasets/${product?.id}/documents?keyword=user%20MANUAL`);
    expect(found).toMatchObject([{ name: "User manual.pdf", doc_form: "hierarchical_model", position: 2 }]);
  });

  it.runIf(inFull)("filters the documents by their displayed status", async () => {
    const service = await started();
    const [all, available, failed, both] = await Promise.all(
      ["", "?status=available", "?status=error", "?status=error&status=Available"].map((query) =>
        readRows(service, `/datasets/${product?.id}/documents${query}`),
      ),
    );
    expect(available?.length).toBeGreaterThan(0);
    expect(available?.every(({ display_status }) => display_status === "available")).toBe(true);
    expect(failed?.every(({ display_status }) => display_status === "error")).toBe(true);
    expect(both).toEqual(all);
  });

  it.runIf(inFull)("returns a dataset, a document and the metadata of a dataset", async () => {
    const service = await started();
    const [first] = await readRows(service, "/datasets");
    expect(await read(service, `/datasets/${product?.id}`)).toEqual(first);
    const [newest] = await readRows(service, `/datasets/${product?.id}/documents?limit=1`);
    const path = `/datasets/${product?.id}/documents/${newest?.id}`;
    const { total } = await read(service, `${path}/segments`);
    expect(await read(service, path)).toEqual({
      ...newest,
      ...{ segment_count: total, average_segment_length: Math.floor(Number(newest?.word_count) / Number(total)) },
      data_source_info: newest?.data_source_detail_dict,
      ...{ doc_language: "English", doc_type: null, indexing_latency: 60 },
      ...{ updated_at: newest?.created_at, completed_at: Number(newest?.created_at) + 60 },
      document_process_rule: expect.objectContaining({ id: newest?.dataset_process_rule_id, mode: "hierarchical" }),
    });
    expect(await read(service, `${path}?metadata=only`)).toEqual({
      ...{ id: newest?.id, doc_type: null, doc_metadata: newest?.doc_metadata },
    });
    expect(await read(service, `/datasets/${product?.id}/metadata`)).toEqual({
      doc_metadata: [],
      built_in_field_enabled: true,
    });
    expect((await ask(service, `/datasets/${uuid(9)}`)).status).toBe(404);
    expect((await ask(service, `/datasets/${product?.id}/documents/${uuid(9)}`)).status).toBe(404);
  });

  it.runIf(inFull)("answers application/json, and accepts ids in upper case", async () => {
    const service = await started();
    const { status, headers } = await ask(service, guide.replace(`${product?.id}`, `${product?.id.toUpperCase()}`));
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
  });

  it("serves any knowledge base, also one read from disk", async () => {
    const small = smallKnowledge([{ childContents: ["child"] }]);
    const slow: typeof small = {
      metadataFields: async (...args) => small.metadataFields(...args),
      chunks: async (...args) => small.chunks(...args),
      childChunks: async (...args) => small.childChunks(...args),
      indexingStatus: async (...args) => small.indexingStatus(...args),
      datasets: async (...args) => small.datasets(...args),
      documents: async (...args) => small.documents(...args),
      dataset: async (...args) => small.dataset(...args),
      document: async (...args) => small.document(...args),
      datasetMetadata: async (...args) => small.datasetMetadata(...args),
    };
    const service = await started({ knowledge: slow });
    expect(await readRows(service, `${segments}/${uuid(101)}/child_chunks`)).toMatchObject([{ content: "child" }]);
    const dataset = { id: datasetId, name: "Small", indexing_technique: "economy", word_count: 0 };
    expect(await readRows(service, "/datasets")).toEqual([dataset]);
    expect(await readRows(service, `/datasets/${datasetId}/documents`)).toMatchObject([{ id: documentId }]);
    expect((await ask(service, `/datasets/${uuid(9)}/metadata/built-in`)).status).toBe(404);
  });
});
