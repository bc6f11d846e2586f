import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emptyReadProgress } from "../../src/read-progress.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { abortAt, ownTemporaryFolder } from "./interrupting.js";
import { chunk, document, soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const manyChunks = {
  ...soundTables,
  chunks: Array.from({ length: 5000 }, (_, at) => chunk("a", `a${at}`)),
  child_chunks: [],
  documents: [document("a", 5000, 0)],
};

let run: string;

/** All tests share one dump, because they only read it. */
beforeAll(async () => {
  run = await writeDump(await mkdtemp(join(tmpdir(), "kbdump-verify-")), manyChunks, {
    formats: ["jsonl", "csv", "parquet"],
  });
});

afterAll(() => rm(join(run, ".."), { recursive: true, force: true }));

test("the progress reports finished steps and the current position", async () => {
  const progress = emptyReadProgress();
  const steps = new Set<string>();
  const watched = new Proxy(progress, {
    set: (target, name, value) => {
      if (name === "step") steps.add(String(value));
      return Reflect.set(target, name, value);
    },
  });
  await verifyRun(run, { progress: watched });
  for (const step of [
    "hashing chunks.jsonl",
    "reading chunks.csv",
    "reading chunks.parquet",
    "comparing the formats",
    "checking ids and counts",
  ]) {
    expect(steps).toContain(step);
  }
  expect(progress.expected).toBeGreaterThan(1_000_000);
  expect(progress.done / progress.expected).toBeCloseTo(1, 2);
});

test.each([
  "hashing chunks.csv",
  "reading chunks.jsonl",
  "reading chunks.csv",
  "reading chunks.parquet",
  "comparing the formats",
])("a signal while %s ends it with its reason, and nothing is left behind", async (step) => {
  const temporary = await ownTemporaryFolder();
  await expect(verifyRun(run, abortAt(step))).rejects.toThrow("enough");
  expect(await readdir(temporary)).toEqual([]);
});

test("too little memory is said, and is no finding", async () => {
  const temporary = await ownTemporaryFolder();
  await expect(verifyRun(run, { memory: "2MB" })).rejects.toThrow(/memory/i);
  expect(await readdir(temporary)).toEqual([]);
});
