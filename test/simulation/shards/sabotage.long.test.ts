import { expect, test, vi } from "vitest";
import { StopError } from "../../../src/errors.js";
import type * as gather from "../../../src/join/gather-shards.js";
import type { DumpedDocument } from "../../../src/segments/document-result.js";
import { Coverage } from "../judge/coverage.js";
import { drawSharded } from "./draw-shards.js";
import { playShards } from "./play-shards.js";

/**
 * Damages joined documents so that the join breaks one of its promises. The checks must detect that, and must find nothing wrong
 * without it.
 */
type Breaking = (documents: readonly DumpedDocument[]) => readonly DumpedDocument[];
const broken = vi.hoisted((): { breaking: Breaking | undefined } => ({ breaking: undefined }));

vi.mock("node:fs", async (original) => (await import("../files.js")).simulatedFs(await original()));
vi.mock("node:fs/promises", async (original) => (await import("../files.js")).simulatedPromises(await original()));
vi.mock("../../../src/join/gather-shards.js", async (original) => {
  const actual = await original<typeof gather>();
  const broke: typeof actual.gatherShards = async (...args) => {
    const reading = await actual.gatherShards(...args);
    return { ...reading, documents: broken.breaking?.(reading.documents) ?? reading.documents };
  };
  return { ...actual, gatherShards: broke };
});

/** The judge must detect each sabotage within this many seeds. */
const seeds = 60;

test.each<[string, string, Breaking]>([
  ["drops a document", "the documents are not those of the job", (documents) => documents.slice(0, -1)],
  [
    "calls an unstable document complete",
    "complete: ",
    (documents) =>
      documents.map((document) => {
        const { row } = document;
        if (row.status !== "unstable") return document;
        const whole = { ...row, status: "complete" as const, total: row.chunk_count, error: null };
        return { ...document, row: whole, proof: "sweeps" as const };
      }),
  ],
  [
    "says nothing of a document that failed",
    "complete: ",
    (documents) =>
      documents.map((document) => {
        const { row } = document;
        return row.status === "failed" ? { ...document, row: { ...row, status: "complete", error: null } } : document;
      }),
  ],
])("a join that %s is found out", async (_name, complaint, breaking) => {
  for (let seed = 1; seed <= seeds; seed++) {
    broken.breaking = breaking;
    const { wrong } = await playShards(drawSharded(seed), new Coverage()).catch((error: unknown) => {
      if (error instanceof StopError) return { wrong: [] }; // there is nothing readable to join
      throw error;
    });
    broken.breaking = undefined;
    if (!wrong.some((text) => text.includes(complaint))) continue;
    expect((await playShards(drawSharded(seed), new Coverage())).wrong).toEqual([]);
    return;
  }
  expect.fail(`not found out in ${seeds} seeds`);
});
