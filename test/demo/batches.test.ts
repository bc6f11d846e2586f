import { describe, expect, it } from "vitest";
import { demoKnowledge } from "../../src/demo/demo-knowledge.js";
import { DocumentStore } from "../../src/demo/document-store.js";
import { restingEntry } from "../../src/demo/sample/sample-knowledge.js";
import type { RunningService } from "../../src/demo/start-service.js";
import { inFull } from "../rounds.js";
import { ask, type Row, readRows, started } from "./ask.js";
import { sampleDatasets } from "./sample-datasets.js";
import { datasetId, documentId, smallDatasets, uuid } from "./small-knowledge.js";

const handbook = sampleDatasets()[1];
const [underWay = "", withError = ""] = handbook?.batches ?? [];

function status(service: RunningService, batch: string): Promise<readonly Row[]> {
  return readRows(service, `/datasets/${handbook?.id}/documents/${encodeURIComponent(batch)}/indexing-status`);
}

describe("the batch under way", () => {
  it.runIf(inFull)("grows with each read, never falls, and is completed after 20", async () => {
    const service = await started();
    const reads: (readonly Row[])[] = [];
    for (let read = 1; read <= 22; read++) reads.push(await status(service, underWay));
    const stages = reads.map((entries) => entries[0]?.indexing_status);
    expect(stages.slice(0, 5)).toEqual(Array(5).fill("splitting"));
    expect(stages.slice(5, 19)).toEqual(Array(14).fill("indexing"));
    expect(stages.slice(19)).toEqual(Array(3).fill("completed"));
    for (const [document, chunks] of [1180, 300].entries()) {
      const completed = reads.map((entries) => Number(entries[document]?.completed_segments));
      const total = reads.map((entries) => Number(entries[document]?.total_segments));
      for (let read = 1; read < 20; read++) expect(completed[read]).toBeGreaterThan(completed[read - 1] ?? 0);
      for (let read = 1; read < 5; read++) expect(total[read]).toBeGreaterThan(total[read - 1] ?? 0);
      expect(new Set([...total.slice(4), ...completed.slice(19)])).toEqual(new Set([chunks]));
      completed.forEach((count, read) => {
        expect(count).toBeLessThanOrEqual(total[read] ?? 0);
      });
    }
  });

  it.runIf(inFull)("takes the times of its stages from the clock, and keeps them", async () => {
    let now = 1_750_000_000;
    const service = await started({ clock: () => new Date(now++ * 1000 + 500) });
    const reads: (Row | undefined)[] = [];
    for (let read = 1; read <= 22; read++) reads.push((await status(service, underWay))[0]);
    expect(reads[0]).toMatchObject({ processing_started_at: 1_750_000_000, splitting_completed_at: null });
    expect(reads[5]).toMatchObject({ splitting_completed_at: 1_750_000_001, completed_at: null });
    expect(reads[19]).toMatchObject({ splitting_completed_at: 1_750_000_001, completed_at: 1_750_000_002 });
    expect(reads[21]).toEqual(reads[19]);
  });

  it.runIf(inFull)("is under way in each service by itself", async () => {
    const clock = () => new Date(1_750_000_000_000);
    const [one, other] = [await started({ clock }), await started({ clock })];
    const first = await status(one, underWay);
    await status(one, underWay);
    expect(await status(other, underWay)).toEqual(first);
  });
});

describe("the batch with an error", () => {
  it.runIf(inFull)("names the document that failed, and counts no chunk that is being replaced", async () => {
    const service = await started();
    const entries = await status(service, withError);
    expect(entries[0]).toMatchObject({ id: handbook?.documents[2], indexing_status: "completed", error: null });
    expect(entries[0]).toMatchObject({ completed_segments: 0, total_segments: 0 });
    expect(entries[1]).toMatchObject({ id: handbook?.documents[5], indexing_status: "error", completed_at: null });
    expect(entries[1]?.error).toMatch(/input is too long/);
    expect(entries[1]).toMatchObject({ completed_segments: 24, total_segments: 56 });
    expect(await status(service, withError)).toEqual(entries);
  });
});

describe("a batch id", () => {
  it.each(["a/b", "a b", "what?", "#1", "100%", "%2F", "ü", "日本", "a+b", "a&b=c", "import/März 2025 #3? 100%"])(
    "%j is found by its percent-encoding",
    async (id) => {
      const [dataset] = smallDatasets([]);
      const entries = (dataset?.documents ?? []).map(restingEntry);
      const batches = [{ id, entries: () => entries }];
      const demo = demoKnowledge(new DocumentStore(dataset ? [{ ...dataset, batches }] : [], () => new Date()));
      const service = await started({ demo });
      const encoded = encodeURIComponent(id);
      const path = (batchId: string) => `/datasets/${datasetId}/documents/${batchId}/indexing-status`;
      expect(await readRows(service, path(encoded))).toMatchObject([{ id: documentId }]);
      expect((await ask(service, path(`${encoded}x`))).status).toBe(404);
      expect((await ask(service, path(uuid(5)))).status).toBe(404);
    },
  );
});
