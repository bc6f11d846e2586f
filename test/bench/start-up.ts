import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { datasetId, documentId } from "./dataset.js";
import { measure, withService } from "./measure.js";
import { median } from "./median.js";

/** Median seconds of whole processes that have little to do. */
export interface StartUp {
  readonly node: number;
  readonly version: number;
  /** The time of a run with one document of ten chunks, in JSONL. */
  readonly run: number;
}

export async function measureStartUp(rounds: number, scratch: string): Promise<StartUp> {
  const dataset = { id: datasetId, documents: 1, chunks: 10, childLists: false, embedsChildren: false };
  const dir = await mkdtemp(join(scratch, "small-"));
  const flags = ["--dataset", datasetId, "--document", documentId(0), "--format", "jsonl", "--out", dir, "--quiet"];
  try {
    return await withService({ dataset, latency: 0 }, async ({ origin }) => ({
      node: await medianWall(rounds, ["--eval", "0"]),
      version: await medianWall(rounds, ["dist/main.js", "--version"]),
      run: await medianWall(rounds, ["dist/main.js", "run", "--base-url", `${origin}/v1`, ...flags]),
    }));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function medianWall(rounds: number, args: readonly string[]): Promise<number> {
  const walls: number[] = [];
  for (let round = 0; round < rounds; round++) walls.push((await measure(args, { KNOWLEDGE_API_KEY: "bench" })).wall);
  return median(walls);
}
