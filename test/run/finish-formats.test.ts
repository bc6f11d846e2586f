import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import type { StagedRows, Writer } from "../../src/dump/formats/format.js";
import { emptyRunProgress } from "../../src/job/run-progress.js";

import { finishFormats, type Outputs } from "../../src/run/finish-formats.js";
import { someRun } from "../dump/formats/stage.js";

type Work = (rows: StagedRows) => Promise<void>;

/** Starts finishing the formats with fake work; records what ended, in order. */
function startFinishing({ csv, parquet, database }: Record<"csv" | "parquet" | "database", Work>, loaded = 2) {
  const ended: string[] = [];
  const steps: string[] = [];
  const ending = async (name: string, work: Work, rows: StagedRows) => {
    await work(rows).finally(() => ended.push(name));
  };
  const writer = (format: string, work: Work): Writer => ({
    format,
    finish: async (rows) => {
      await ending(format, work, rows);
      return [{ path: `chunks.${format}`, rows: 0, bytes: 0, sha256: "" }];
    },
  });
  const outputs: Outputs = {
    formats: [],
    writers: [writer("csv", csv), writer("parquet", parquet)],
    loaded,
    writeDatabase: async (rows) => {
      await ending("duckdb", database, rows);
      return undefined;
    },
    newDatabase: undefined,
  };
  const rows = { folder: "", compression: "none", tables: [], rows: () => 0, run: someRun } as const;
  const progress = emptyRunProgress();
  Object.defineProperty(progress, "step", { set: (step: string) => steps.push(step) });
  return { finished: finishFormats(rows, outputs, progress, new AbortController().signal), ended, steps };
}

const done: Work = async () => {};
const paths = ["chunks.csv", "chunks.parquet"];

it("makes all formats at the same time, and shares the memory of DuckDB among two of them", async () => {
  const shares: unknown[] = [];
  const share: Work = async ({ instances }) => void shares.push(instances);
  let ends = () => {};
  const waiting = new Promise<void>((resolve) => {
    ends = resolve;
  });
  const database: Work = async (rows) => {
    await share(rows);
    ends();
  };
  const { finished, ended, steps } = startFinishing({ csv: async () => waiting, parquet: share, database });
  expect((await finished).files.map(({ path }) => path)).toEqual(paths);
  expect(ended).toEqual(["parquet", "duckdb", "csv"]);
  expect(shares).toEqual([2, 2]);
  expect(steps).toEqual(["writing csv, parquet, duckdb"]);
});

const lack = new Error("Out of Memory Error: failed to allocate data of size 16.0 MiB");

it("makes one after the other, with all of the memory, if a share of it is too small", async () => {
  const large: Work = async ({ instances }) => {
    if (instances === 2) throw lack;
  };
  const { finished, steps } = startFinishing({ csv: done, parquet: large, database: done });
  expect((await finished).files.map(({ path }) => path)).toEqual(paths);
  expect(steps).toEqual(["writing csv, parquet, duckdb", "writing csv", "writing parquet", "writing duckdb"]);
});

it("does not try again if there is only a database, which had all of the memory", async () => {
  const failing: Work = async () => {
    throw lack;
  };
  const { finished, steps } = startFinishing({ csv: done, parquet: done, database: failing }, 1);
  await expect(finished).rejects.toThrow("Out of Memory");
  expect(steps).toHaveLength(1);
});

it("rejects with any other error, once nothing writes any more", async () => {
  const failing: Work = async () => {
    throw new Error("No space left on device");
  };
  const slow: Work = async () => {
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  };
  const { finished, ended, steps } = startFinishing({ csv: slow, parquet: failing, database: slow });
  await expect(finished).rejects.toThrow("No space left on device");
  expect(ended.toSorted()).toEqual(["csv", "duckdb", "parquet"]);
  expect(steps).toHaveLength(1);
});
