import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import type { Behaviour } from "../../servers/behaviour.js";
import { makeDocument, Store } from "../../servers/store.js";
import { addDataset, fileFormats, ids, startDatasets, threeDatasets } from "./datasets.js";

const refused = { kind: "status", status: 401, body: "json" } as const;
const isRow = ({ path }: { readonly path: string }) => /^(child_)?chunks\./.test(path);

/** Path and hash of each file of chunks and child chunks. */
function bytesOf({ manifest }: RunResult): readonly string[] {
  return manifest.files.filter(isRow).map(({ path, sha256 }) => `${sha256} ${path}`);
}

test("two runs and an interrupted, resumed one have the same bytes; the second shares them with the first", async () => {
  const behaviour: Behaviour = {};
  const { run, place } = await startDatasets(threeDatasets().store, behaviour);
  const first = await run("dataset");
  let answered = 0;
  behaviour.faults = () => (++answered > 12 ? refused : undefined);
  await expect(run("dataset")).rejects.toThrow(StopError);
  delete behaviour.faults;
  const continued = await run("dataset");
  expect(bytesOf(continued)).toEqual(bytesOf(first));
  expect(bytesOf(first)).toHaveLength(18);
  for (const { path } of continued.manifest.files.filter(isRow)) {
    const [one, other] = await Promise.all([first, continued].map(({ folder }) => stat(join(folder, path))));
    expect(other?.ino, path).toBe(one?.ino);
    expect((other?.mode ?? 0) & 0o777).toBe(0o600);
  }
  expect((await stat(join(continued.folder, "chunks.csv", `dataset_id=${ids.full}`))).mode & 0o777).toBe(0o700);
  await rm(first.folder, { recursive: true });
  expect(await verifyRun(continued.folder)).toMatchObject({ status: "sound" });
  expect(await readdir(join(place("dataset"), ".work"))).toEqual(["indexing_status"]);
});

test("a dataset without chunks and one whose document failed have files without rows; --retry-failed fills them", async () => {
  const { store } = threeDatasets();
  const failing = makeDocument({ chunks: 4, seed: 6 });
  const id = "2d7f9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f";
  addDataset(store, id, failing);
  addDataset(store, "3e7f9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f");
  const behaviour: Behaviour = { documentError: new Map([[failing.id, { status: 404, body: "gone" }]]) };
  const { run } = await startDatasets(store, behaviour);
  const partial = await run("dataset");
  expect(partial.manifest).toMatchObject({ format: 3, status: "partial" });
  const rowsOf = ({ manifest }: RunResult) =>
    manifest.files
      .filter(({ path }) => path.startsWith("chunks.jsonl"))
      .map(({ path, rows }) => [path.split("/")[1], rows]);
  const others = [
    [`dataset_id=${ids.full}`, 19],
    [`dataset_id=${ids.empty}`, 0],
    ["dataset_id=a%20b%3Dü%25%27%5B%2A%5D", 3],
  ];
  expect(rowsOf(partial)).toEqual([...others, [`dataset_id=${id}`, 0]]); // the file of the dataset whose document failed has no rows
  expect((await verifyRun(partial.folder)).findings).toEqual([]);
  delete behaviour.documentError;
  const complete = await run("dataset", {}, { retryFailed: true });
  expect(rowsOf(complete)).toEqual([...others, [`dataset_id=${id}`, 4]]);
  expect(complete.manifest.status).toBe("complete");
  expect((await verifyRun(complete.folder)).findings).toEqual([]);
});

test("a run without documents writes whole files, and one without jsonl leaves none", async () => {
  const store = new Store();
  const dataset = addDataset(store, ids.empty);
  const { run } = await startDatasets(store);
  const none = await run("dataset");
  expect(none.manifest.files.filter(isRow).map(({ path }) => path)).toEqual(
    fileFormats.flatMap((format) => [`chunks.${format}`, `child_chunks.${format}`]),
  );
  expect((await verifyRun(none.folder)).findings).toEqual([]);
  const document = makeDocument({ chunks: 2, seed: 1 });
  dataset.documents.set(document.id, document);
  const { folder } = await run("dataset", { output: { formats: ["parquet"] } });
  const names = await readdir(folder);
  expect(names.filter((name) => /jsonl|csv/.test(name))).toEqual([]);
  expect(await readFile(join(folder, "chunks.parquet", `dataset_id=${ids.empty}`, "part-0.parquet"))).toBeDefined();
});

test("the id of a dataset is too long for the name of a folder: the run ends before it reads a chunk", async () => {
  const { store } = threeDatasets();
  const longest = "x".repeat(255 - "dataset_id=".length);
  addDataset(store, longest, makeDocument({ chunks: 1, seed: 6 }));
  addDataset(store, `${longest}, without documents`);
  const { run, server } = await startDatasets(store);
  expect((await run("dataset")).manifest.status).toBe("complete");
  server.reset();
  addDataset(store, `${longest}x`, makeDocument({ chunks: 1, seed: 7 }));
  const ended = run("dataset");
  await expect(ended).rejects.toThrow(StopError);
  await expect(ended).rejects.toThrow(
    /^output.partition names a folder after each dataset, and a dataset has an id too long for that: x+…\. Leave output.partition out/,
  );
  expect(server.requests.filter(({ path }) => path.endsWith("/segments"))).toEqual([]);
  expect((await run("none", { output: { formats: ["jsonl"] } })).manifest.status).toBe("complete");
});
