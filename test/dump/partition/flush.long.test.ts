import { relative } from "node:path";
import { expect, test, vi } from "vitest";
import { ids, startDatasets, threeDatasets } from "./datasets.js";

/** The flushed paths, in order. */
const flushed = vi.hoisted((): string[] => []);
vi.mock("../../../src/files/flush.js", async (original) => {
  const { flush } = await original<typeof import("../../../src/files/flush.js")>();
  return {
    flush: async (path: string) => {
      flushed.push(path);
      await flush(path);
    },
  };
});

test("the folders of partitions are flushed, each after those in it, and all before the run is published", async () => {
  const { run, place } = await startDatasets(threeDatasets().store);
  await run("dataset", { output: { formats: ["parquet"] } });
  const stage = flushed.find((path) => path.endsWith("/stage")) ?? "";
  const inStage = flushed.filter((path) => path.startsWith(stage)).map((path) => relative(stage, path));
  const partitions = [`dataset_id=${ids.full}`, `dataset_id=${ids.empty}`, "dataset_id=a%20b%3Dü%25%27%5B%2A%5D"];
  const tables = ["chunks.parquet", "child_chunks.parquet"];
  const inner = tables.flatMap((table) => partitions.map((partition) => `${table}/${partition}`));
  expect(inStage.slice(-9, -3).sort()).toEqual(inner.sort());
  expect(inStage.slice(-3, -1).sort()).toEqual(tables.sort());
  expect(inStage.at(-1)).toBe("");
  for (const path of inner) expect(inStage.indexOf(`${path}/part-0.parquet`)).toBeLessThan(inStage.indexOf(path));
  expect(inner.every((path) => inStage.includes(`${path}/part-0.parquet`))).toBe(true);
  expect(flushed.indexOf(`${place("dataset")}/runs`)).toBeGreaterThan(flushed.indexOf(stage));
});
