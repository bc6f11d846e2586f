import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documentListFromText } from "../../../src/crawl/document-list-file.js";
import { shardOf } from "../../../src/crawl/shards.js";
import { StopError } from "../../../src/errors.js";
import type { Job } from "../../../src/job/job.js";
import { resolvedOptions } from "../../../src/job/manifest-options.js";
import { planJob } from "../../../src/plan/plan-job.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { planHash } from "../../../src/segments/resume.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { inFull } from "../../rounds.js";
import { allOf, expectWhole, startPlace } from "./sharding.js";

const listIn = ({ folder }: RunResult) => readFile(join(folder, "list.json"), "utf8");

test("shards that each ask the service have together the rows of a whole run, and the same list", async () => {
  const { job, run, shards } = await startPlace();
  const whole = await run();
  const output = { ...job.output, formats: ["csv", "parquet", "duckdb"] } as const;
  const segments: RunResult[] = [];
  for (const shard of allOf(5)) segments.push(await run({ shard, output }));
  await expectWhole(segments, whole);
  const texts = await Promise.all(segments.map(listIn));
  expect(new Set(texts).size).toBe(1);
  const { value } = { value: undefined, ...documentListFromText(texts[0] ?? "") };
  expect(value?.datasets.map(({ dataset_id, documents }) => [dataset_id, documents])).toEqual(
    whole.manifest.discovered?.datasets.map(({ dataset_id }) => [
      dataset_id,
      whole.manifest.documents.filter((row) => row.dataset_id === dataset_id).map((row) => row.document_id),
    ]),
  );
  const sha256 = createHash("sha256")
    .update(texts[0] ?? "")
    .digest("hex");
  const bytes = Buffer.byteLength(texts[0] ?? "");
  for (const [at, { manifest, folder, database }] of segments.entries()) {
    const place = { index: at + 1, count: 5 };
    expect(manifest.shard).toEqual({
      ...place,
      plan: planHash({ ...job, output }),
      list: { documents: 8, bytes, sha256 },
    });
    expect(folder).toBe(join(shards, `${at + 1}-of-5`, "runs", manifest.run_id));
    expect([manifest.status, database, manifest.discovered]).toEqual(["complete", undefined, undefined]);
    expect(manifest.options).toEqual(resolvedOptions({ ...job, output }));
    expect(manifest.warnings).toEqual([]);
    for (const { dataset_id, document_id } of manifest.documents)
      expect(shardOf(dataset_id, document_id, 5)).toBe(place.index);
    const names = manifest.files.map(({ path }) => path);
    expect((await readdir(folder)).sort()).toEqual([...names, "list.json", "manifest.json"].sort());
    expect(names.every((name) => name.endsWith(".jsonl"))).toBe(true);
  }
  expect(await verifyRun(join(shards, "1-of-5", "latest"))).toMatchObject({ status: "sound", findings: [] });
});

test.runIf(inFull)(
  "with one given list, shards and a whole run ask for no list before they read, and have the same rows",
  async () => {
    const { job, run, list, env, server } = await startPlace();
    const whole = await run();
    await planJob(job, { env, documentsOut: list });
    const results: RunResult[] = [];
    for (const shard of [undefined, ...allOf(2)]) {
      server.reset();
      results.push(await run({ shard, documentsFrom: list }));
      const kindsAsked = server.requests.map(({ path }) => /\/(documents|segments)$/.exec(path)?.[1]).filter(Boolean);
      expect([...new Set(kindsAsked)]).toEqual(["segments", "documents"]); // at the end, the run looks for changed documents
    }
    const [again, ...segments] = results;
    if (again) await expectWhole([again], whole);
    await expectWhole(segments, whole);
    expect(again?.manifest.discovered).toMatchObject({ new: [], vanished: [] });
  },
);

test.runIf(inFull)("verify finds a list that was changed, is a link, or is missing", async () => {
  const { run } = await startPlace(2);
  const { folder } = await run({ shard: { index: 1, count: 1 } });
  const path = join(folder, "list.json");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace("listed", "failed"));
  const findings = async () => (await verifyRun(folder)).findings.map(({ file, message }) => `${file}: ${message}`);
  expect(await findings()).toEqual([expect.stringMatching(/^list\.json: has the SHA-256 \w+ instead of \w+$/)]);
  await rename(path, `${folder}.json`);
  await symlink(`${folder}.json`, path);
  expect(await findings()).toEqual(["list.json: is a symlink, which is not followed"]);
  await rm(path);
  expect(await findings()).toEqual(["list.json: is not there"]);
});

test.runIf(inFull)("shards without any document are complete, with files without rows", async () => {
  const { job, run, list, env, server } = await startPlace(2);
  const segments = await Promise.all(allOf(12).map((shard) => run({ shard })));
  const empty = segments.filter(({ manifest }) => manifest.counts.documents === 0);
  expect(empty.length).toBeGreaterThanOrEqual(10);
  for (const { status, manifest } of empty)
    expect([status, manifest.counts.chunks, manifest.counts.document_info]).toEqual(["complete", 0, 0]);
  expect(await verifyRun(empty[0]?.folder ?? "")).toMatchObject({ status: "sound" });
  await planJob(job, { env, documentsOut: list });
  const asked = async (part: RunResult | undefined) => {
    server.reset();
    await run({ shard: part?.manifest.shard, documentsFrom: list });
    return server.requests.filter(({ path }) => path.endsWith("/documents")).map(({ path }) => path.split("/")[3]);
  };
  expect(await asked(empty[0])).toEqual([]); // the shard has no documents that could have changed
  const single = segments.find(({ manifest }) => manifest.counts.documents === 1);
  expect(await asked(single)).toEqual(single?.manifest.documents.map(({ dataset_id }) => dataset_id));
});

test.runIf(inFull)(
  "a shard without any readable document is published as partial: others may have read theirs",
  async () => {
    const { run, store, behaviour } = await startPlace(2);
    const ids = [...store.datasets.values()].flatMap(({ documents }) => [...documents.keys()]);
    const body = { code: "x", message: "no", status: 400 };
    behaviour.documentError = new Map(ids.map((id) => [id, { status: 400, body }]));
    await expect(run()).rejects.toThrow(StopError);
    const segments: RunResult[] = [];
    for (const shard of allOf(2)) segments.push(await run({ shard }));
    expect(segments.flatMap(({ manifest }) => manifest.documents.map(({ status }) => status))).toEqual([
      "failed",
      "failed",
    ]);
    expect(segments.map(({ status }) => status)).toContain("partial");

    behaviour.documentError = new Map();
    for (const { manifest } of segments) {
      if (!manifest.shard || manifest.status === "complete") continue;
      const { index, count } = manifest.shard;
      expect(await run({ shard: { index, count } }, { retryFailed: true })).toMatchObject({ status: "complete" });
    }
  },
);

test.runIf(inFull)("a shard keeps no rows of documents of others while it works", async () => {
  const { run, store, behaviour, shards } = await startPlace();
  const ids = [...store.datasets.values()].flatMap(({ documents }) => [...documents.keys()]);
  const body = { code: "x", message: "no", status: 400 };
  behaviour.documentError = new Map(ids.map((id) => [id, { status: 400, body }]));
  const { manifest } = await run({ shard: { index: 1, count: 2 } });
  const work = join(shards, "1-of-2", ".work");
  const [kept = ""] = (await readdir(work, { recursive: true })).filter((path) => path.endsWith("/discovery.json"));
  const { datasets, found } = JSON.parse(await readFile(join(work, kept), "utf8"));
  const own = manifest.documents.map(({ document_id }) => document_id);
  expect(found.rows.map((row: { document_id: string }) => row.document_id)).toEqual(own);
  expect(own.length).toBeLessThan(ids.length);
  expect(datasets.flatMap((dataset: { documents: string[] }) => dataset.documents).sort()).toEqual(ids.sort());
});

test.runIf(inFull)(
  "work that broke off is continued by the same shard with the same list, and by no other",
  async () => {
    const { job, run, list, env, server, behaviour, shards } = await startPlace(8);
    await planJob(job, { env, documentsOut: list });
    const shard = { index: 1, count: 2 };
    const messages: string[] = [];
    const log = (_level: string, message: string) => void messages.push(message);
    const breakOff = async (changes: Partial<Job>) => {
      let chunkPages = 0;
      behaviour.faults = ({ path }) =>
        path.endsWith("/segments") && ++chunkPages > 3 ? { kind: "status", status: 401, body: "json" } : undefined;
      await expect(run(changes)).rejects.toThrow(StopError);
      delete behaviour.faults;
      server.reset();
      messages.length = 0;
    };
    const pages = () => server.requests.filter(({ path }) => path.endsWith("/segments")).length;
    server.reset();
    await run({ shard, documentsFrom: list });
    const needed = pages();

    await breakOff({ shard, documentsFrom: list });
    await run({ shard, documentsFrom: list }, { log });
    expect(messages.join()).toContain("continuing the run that began at");
    expect(pages()).toBeLessThan(needed);

    await breakOff({ shard, documentsFrom: list });
    await planJob(job, { env, documentsOut: list, now: () => new Date("2026-11-20T02:00:00Z") });
    server.reset();
    await run({ shard, documentsFrom: list }, { log });
    expect(messages.join()).toContain("is not continued: the job has changed since");
    expect(pages()).toBe(needed);

    await breakOff({ shard });
    await run({ shard: { index: 1, count: 3 } }, { log });
    expect(messages.join()).not.toMatch(/continu/);
    await run({ shard }, { log });
    expect(messages.join()).toContain("continuing the run that began at");
    expect((await readdir(shards)).sort()).toEqual(["1-of-2", "1-of-3"]);
  },
);

test("a planted link in the place of a shard is not followed", async () => {
  const { run, folder, shards } = await startPlace(2);
  await mkdir(join(folder, "out", "test"), { recursive: true });
  await mkdir(join(folder, "elsewhere"));
  await symlink(join(folder, "elsewhere"), shards);
  await expect(run({ shard: { index: 1, count: 2 } })).rejects.toThrow(
    /shards is a symbolic link, which is not followed/,
  );
  expect(await readdir(join(folder, "elsewhere"))).toEqual([]);
});
