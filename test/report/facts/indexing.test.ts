import { describe, expect, it } from "vitest";
import { gatherIndexing } from "../../../src/report/facts/indexing.js";
import type { Row } from "../../../src/rows/row.js";
import { JobDatabase } from "../../database/job-database.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { noRows, type Tables } from "../../dump/formats/stage.js";
import { chunk, document, info, rowOf } from "../../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../../verify/write-dump.js";
import { gathered } from "./gather.js";

const time = (minute: number) => `2025-03-06T13:${String(minute).padStart(2, "0")}:00Z`;
const at = (minute: number) => Date.UTC(2025, 2, 6, 13, minute);
const reading = (minute: number, document_id: string, indexing_status: string | null, more: Row = {}) =>
  rowOf("indexing_status", {
    ...{ captured_at: time(minute), dataset_id: "d", batch: "1", document_id, indexing_status },
    ...more,
  });

const indexingOf = async (tables: Partial<Tables>, options: WriteOptions = {}, more: { database?: string } = {}) =>
  gathered(await writeDump(await plainFolder(), { ...noRows, ...tables }, options), gatherIndexing, more);

describe("the indexing of documents of batches", () => {
  const indexing_status = [
    reading(10, "done", "indexing"),
    reading(10, "stuck", "indexing", { completed_segments: 3, processing_started_at: time(5) }),
    reading(10, "slow", "indexing", { completed_segments: 3, processing_started_at: time(2) }),
    reading(12, "done", "completed", { completed_at: time(11), processing_started_at: time(1) }),
    reading(12, "stuck", "indexing", {
      ...{ completed_segments: 3, total_segments: 8, processing_started_at: time(5), error: "why" },
      ...{ parsing_completed_at: time(6), cleaning_completed_at: time(7), splitting_completed_at: time(8) },
    }),
    reading(12, "slow", "indexing", { completed_segments: 4, processing_started_at: time(2) }),
    reading(12, "odd", "dreaming"),
    reading(12, "mute", null),
    reading(12, "earlier", "completed", { completed_at: time(9) }),
  ];
  const documents = ["done", "stuck"].map((id) => document(id, 0, 0));

  it("is that of the newest reading: what is not completed first, the longest running first", async () => {
    const facts = await indexingOf({ indexing_status, documents, document_info: [info("stuck")] });
    expect(facts.states).toEqual([
      { status: "completed", documents: 2 },
      { status: "indexing", documents: 2 },
      { status: "dreaming", documents: 1 },
      { status: "unknown", documents: 1 },
    ]);
    const reported = facts.documents.rows.map((row) => [row.document_id, row.indexing_status, row.unmoved]);
    expect(reported).toEqual([
      ["slow", "indexing", 0],
      ["stuck", "indexing", 120_000],
      ["mute", "unknown", null],
      ["odd", "dreaming", null],
      ["done", "completed", null],
      ["earlier", "completed", null],
    ]);
    expect(facts.documents.rows[1]).toEqual({
      ...{ dataset_id: "d", document_id: "stuck", dataset_name: null, document_name: "stuck.md", batch: "1" },
      ...{ indexing_status: "indexing", started_at: at(5), parsed_at: at(6), cleaned_at: at(7), split_at: at(8) },
      ...{ completed_at: null, paused_at: null, stopped_at: null, captured_at: at(12), unmoved: 120_000 },
      ...{ completed_segments: 3, total_segments: 8, error: "why" },
    });
    expect(facts.was_asked).toBe(true);
  });

  it("has not moved since an earlier run saw it like that, if the history has it", async () => {
    const made = await JobDatabase.create();
    const run = { started_at: time(0), finished_at: time(1) };
    const seen = (minute: number, count: number) => reading(minute, "stuck", "indexing", { completed_segments: count });
    await made.run("20250306T130000000Z", { indexing_status: [seen(0, 2), seen(1, 3)] }, { run });
    await made.run("20250306T132000000Z", { indexing_status });
    const { documents: found } = await indexingOf({ indexing_status, documents }, {}, { database: made.path });
    expect(found.rows.find(({ document_id }) => document_id === "stuck")?.unmoved).toBe(11 * 60_000);
  });

  it("was asked for, or was not", async () => {
    const asked = { options: { datasets: [{ id: "d", batches: ["1"] }] } };
    const none = { was_asked: true, unread_batches: 1, states: [], documents: { total: 0 } };
    expect(await indexingOf({}, asked)).toMatchObject(none);
    const read = await indexingOf({ indexing_status: [reading(1, "a", "completed")] }, asked);
    expect(read).toMatchObject({ was_asked: true, unread_batches: 0 });
    const other = { options: { datasets: [{ id: "d", batches: [] }] } };
    expect(await indexingOf({}, other)).toMatchObject({ was_asked: false });
    expect(await indexingOf({})).toMatchObject({ was_asked: false });
  });
});

it("documents that the service lists as not completed or not available are listed, with their chunks", async () => {
  const state = (indexing_status: string | null, display_status: string | null) => ({
    indexing_status,
    display_status,
  });
  const { listed } = await indexingOf({
    chunks: [chunk("archived", "1")],
    documents: [document("archived", 1, 0)],
    document_info: [
      info("fine", state("completed", "available")),
      info("mute", state(null, null)),
      info("archived", state("completed", "archived")),
      info("failed", state("error", "error")),
    ],
  });
  expect(listed).toMatchObject({ total: 2, query: expect.stringContaining("FROM document_info") });
  expect((await indexingOf({})).listed).toEqual({ rows: [], total: 0, query: null });
  expect(listed.rows).toMatchObject([
    { document_id: "failed", document_name: null, indexing_status: "error", display_status: "error", chunks: 0 },
    { document_id: "archived", document_name: "archived.md", display_status: "archived", chunks: 1 },
  ]);
});

it("chunks are counted by their status, those left out that are completed or have none", async () => {
  const statuses = ["completed", "error", "error", "re_segment", null];
  const chunks = statuses.map((status, index) => chunk(index < 2 ? "a" : "b", `${index}`, { status }));
  const facts = await indexingOf({ chunks, documents: [document("a", 2, 0), document("b", 3, 0)] });
  expect(facts.chunks).toEqual([
    { status: "error", chunks: 2, documents: 2 },
    { status: "re_segment", chunks: 1, documents: 1 },
  ]);
});
