import { expect, test, vi } from "vitest";
import { inFull } from "../../rounds.js";
import { play } from "../play.js";
import type { Scenario } from "../scenario.js";
import { chunkId } from "../service/ids.js";
import { simulate } from "../simulate.js";
import { small, still } from "./still.js";

/** Bugs that the simulation found, written out as scenarios, because a seed changes its meaning when the drawing code changes. */
vi.mock("node:fs", async (original) => (await import("../files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("../files.js")).simulatedPromises(await original()));

const document = { ...small, big: 80 };

test.runIf(inFull)(
  "a child list read in two halves is read a second time, like every list of more than one answer",
  async () => {
    const scenario: Scenario = {
      ...still,
      documents: [document, { ...document, big: 30 }],
      job: { ...still.job, consistency: "sweeps", retries: 1 },
      faults: { ...still.faults, heavy: 1 },
      edits: { kinds: ["replace child"], rate: 0.3, most: 20 },
    };
    for (let seed = 1; seed <= 6; seed++) expect((await play({ ...scenario, seed })).wrong).toEqual([]);
    await simulate({ ...scenario, edits: still.edits }, ({ through, calls }) => {
      expect(through?.reading.documents.map(({ row }) => row.status)).toEqual(["complete", "complete"]);
      const asked = (id: string) => calls.all.filter(({ list, limit }) => list?.chunk === id && limit === 50).length;
      expect({ of80: asked(chunkId(1, 3)), of30: asked(chunkId(2, 3)) }).toEqual({ of80: 4, of30: 1 });
    });
  },
);

test.runIf(inFull)(
  "children kept for a sample are readable once written, even with several concurrent readers",
  async () => {
    const embedding = { ...small, chunks: 5, bigEvery: 1, big: 23, form: "hierarchical_model", embeds: true } as const;
    const scenario: Scenario = {
      ...still,
      documents: [embedding, embedding],
      job: { ...still.job, childChunks: "auto", concurrency: 4 },
      service: { ...still.service, pageCap: 2, latency: [4, 8] },
    };
    for (let seed = 1; seed <= 10; seed++) {
      const { wrong } = await play({ ...scenario, seed });
      expect(wrong.filter((text) => !text.startsWith("it took"))).toEqual([]); // too short a run to judge its speed
    }
  },
);

test("a rate limit is found even if too few requests pass between two refusals to measure a rate", async () => {
  const scenario: Scenario = {
    ...still,
    documents: [
      { ...document, chunks: 1 },
      { ...document, chunks: 120 },
    ],
    service: { ...still.service, rateLimit: { perSecond: 3, answer: "503" } },
  };
  await simulate(scenario, ({ through, service }) => {
    expect(through?.reading.documents.map(({ row }) => row.status)).toEqual(["complete", "complete"]);
    expect(service.refusals / service.arrivals).toBeLessThan(0.1);
  });
});

// src/client/pace.ts ends every pause when it forgives a refusal, even the pause of a later Retry-After
test.runIf(inFull)("a pause from Retry-After is kept even if an earlier refusal is forgiven", async () => {
  const kinds: Scenario["faults"]["kinds"] = [
    { kind: "status", status: 429 },
    { kind: "status", status: 503, headers: { "retry-after": "5" } },
  ];
  const scenario: Scenario = {
    ...still,
    documents: [{ ...document, chunks: 60, big: 0 }],
    job: { ...still.job, concurrency: 16 },
    service: { ...still.service, latency: [0.7, 0.9] },
    faults: { ...still.faults, kinds, rate: 0.15, inARow: 2 },
  };
  for (let seed = 1; seed <= 10; seed++) {
    const { wrong } = await play({ ...scenario, seed });
    expect(wrong.filter((text) => !text.startsWith("it took"))).toEqual([]); // too short a run to judge its speed
  }
});

test("rows after an unreadable one are read even if pages have half the requested rows", async () => {
  const scenario: Scenario = {
    ...still,
    documents: [{ ...document, chunks: 150, unreadable: { chunks: [49, 127], status: 500 } }],
    job: { ...still.job, childChunks: "none", retries: 1 },
    service: { ...still.service, pageCap: 50 },
  };
  expect((await play(scenario)).wrong).toEqual([]);
  await simulate(scenario, ({ through }) => {
    expect(through?.reading.documents.map(({ row }) => row.chunk_count)).toEqual([148]);
  });
});
