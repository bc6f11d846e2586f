import { expect, test, vi } from "vitest";
import { play } from "./play.js";
import type { Scenario } from "./scenario.js";
import { simulate } from "./simulate.js";

/** What the simulation has found, as scenarios of its own: seeds mean something else when scenarios are drawn otherwise. */
vi.mock("node:fs", async (original) => (await import("./files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("./files.js")).simulatedPromises(await original()));

const still: Scenario = {
  seed: 1,
  documents: [],
  job: {
    childChunks: "all",
    consistency: "counts",
    concurrency: 8,
    retries: 6,
    maxRps: undefined,
    timeout: 60,
    formats: ["jsonl"],
  },
  service: {
    pageCap: 100,
    paging: "normal",
    hasMore: "honest",
    ties: "stable",
    rateLimit: undefined,
    latency: [70, 100],
  },
  faults: { kinds: [], rate: 0, inARow: 1, lies: 0, heavy: 0, heavyLimit: 50, revokedAt: undefined },
  edits: { kinds: [], rate: 0, most: 0 },
  interruptions: [],
};
const document = {
  chunks: 3,
  few: 1,
  bigEvery: 3,
  big: 80,
  ties: 0,
  refused: undefined,
  form: "text_model",
  embeds: false,
} as const;

test("a child list that came in two halves is read a second time, as any that takes more than one answer", async () => {
  const scenario: Scenario = {
    ...still,
    documents: [document, { ...document, big: 30 }],
    job: { ...still.job, consistency: "sweeps", retries: 1 },
    faults: { ...still.faults, heavy: 1 },
    edits: { kinds: ["replace child"], rate: 0.3, most: 20 },
  };
  for (let seed = 1; seed <= 20; seed++) expect((await play({ ...scenario, seed })).wrong).toEqual([]);
  await simulate({ ...scenario, edits: still.edits }, ({ through, calls }) => {
    expect(through?.reading.documents.map(({ row }) => row.status)).toEqual(["complete", "complete"]);
    const asked = (id: string) => calls.all.filter(({ list, limit }) => list?.chunk === id && limit === 50).length;
    expect({ of80: asked("d1-c3"), of30: asked("d2-c3") }).toEqual({ of80: 4, of30: 1 });
  });
});

test("a limit is found also where it lets fewer through between two refusals than tell a rate", async () => {
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
