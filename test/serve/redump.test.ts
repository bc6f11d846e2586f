import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { rowFromRecord } from "../../src/rows/row-from-record.js";
import { runJob } from "../../src/run/run-job.js";
import { uuid } from "../demo/small-knowledge.js";
import { plainFolder } from "../dump/formats/folder.js";
import { nastyTables } from "../dump/formats/nasty-rows.js";
import type { Tables } from "../dump/formats/stage.js";
import { inFull } from "../rounds.js";
import { jobFor, testFolder } from "../run/job-for.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { document } from "../verify/sound-tables.js";
import { writeDump } from "../verify/write-dump.js";
import { dumpAgain, expectSame, served } from "./redump.js";

const formats = ["jsonl", "csv", "parquet"] as const;

const [dataset, one, other, empty] = [uuid(1), uuid(2), uuid(3), uuid(4)];
const half = Math.floor(nastyTables.chunks.length / 2);

/** Two documents with all values that break readers or writers. The ids of their chunks and child chunks are not UUIDs. */
const tables: Tables = {
  chunks: nastyTables.chunks.map((row, at) => ({
    ...row,
    dataset_id: dataset,
    document_id: at < half ? one : other,
    id: at === 0 ? 'Ä/ö ? #%25 \u2028\u0000"\\.' : `c${at}`,
  })),
  child_chunks: nastyTables.child_chunks.map((row, at) => ({
    ...row,
    dataset_id: dataset,
    document_id: one,
    segment_id: at < 30 ? "c1" : "c2",
    id: `k${at}`,
  })),
  documents: [
    document(one, half, nastyTables.child_chunks.length),
    document(other, nastyTables.chunks.length - half, 0),
    document(empty, 0, 0, { doc_form: null }),
  ].map((row) => ({ ...row, dataset_id: dataset })),
  indexing_status: [],
  metadata_fields: nastyTables.metadata_fields.map((row, at) => ({ ...row, dataset_id: dataset, position: at + 1 })),
};

test.runIf(inFull)(
  "rows that hold everything that breaks a reader or a writer, served and dumped again, are the same in every format, byte for byte",
  async () => {
    const folder = await writeDump(await plainFolder(), tables, { formats });
    const again = await dumpAgain(await served(folder), folder, formats);
    expect(again.manifest).toMatchObject({ status: "complete", counts: { chunks: tables.chunks.length } });
    await expectSame(folder, again.folder, formats);
  },
);

test.runIf(inFull).each(["csv", "parquet"] as const)("the same from %s alone, which is said", async (format) => {
  const folder = await writeDump(await plainFolder(), tables, { formats: [format] });
  const dump = await served(folder);
  expect(dump.notices).toEqual([
    `chunks.${format} does not distinguish texts from other JSON in error and summary: they are returned as texts`,
  ]);
  await expectSame(folder, (await dumpAgain(dump, folder, [format])).folder, [format]);
});

test("from a format that is not lossless, or from none, nothing is served", async () => {
  const safe = await writeDump(await plainFolder(), tables, { formats: ["csv"], csvSafe: true });
  await expect(served(safe)).rejects.toThrow("the run wrote csv alone, with csv_safe, which is not lossless");
  const none = await writeDump(await plainFolder(), tables, { formats: [] });
  await expect(served(none)).rejects.toThrow("a dump is served from jsonl, parquet or csv, best from jsonl");
});

/** A record with fields of unexpected types, unknown fields, and contradictory fields. */
const record = {
  id: "c",
  zebra: null,
  position: "1",
  created_at: "2025-03-06",
  updated_at: 1741267200.123456,
  indexing_at: 253402300800,
  document_id: other,
  enabled: 1,
  keywords: ["a", null],
  child_chunks: "none",
  ant: -0.5,
  sign_content: { x: [1] },
  dataset_id: 3,
  "7": "a name that is a number comes first",
  extra: { extra: [] },
  "": "",
};

test.runIf(inFull)("the same with fields of an unexpected type, and with fields that contradict the row", async () => {
  const known = { dataset_id: dataset, document_id: one };
  const chunks = [rowFromRecord("chunks", record, known, { keepSignatures: false, drift: () => {} })];
  const documents = [{ ...document(one, 1, 0), dataset_id: dataset }];
  const folder = await writeDump(await plainFolder(), { ...tables, chunks, child_chunks: [], documents }, { formats });
  const dump = await served(folder);
  const answer = await fetch(`${dump.url}/datasets/${dataset}/documents/${one}/segments`, {
    headers: { authorization: `Bearer ${dump.key}` },
  });
  expect(await answer.json()).toMatchObject({ total: 1, data: [record] });
  await expectSame(folder, (await dumpAgain(dump, folder, formats)).folder, formats);
});

test.runIf(inFull)("data of a realistic service: floats, ties, gaps, nulls; an empty dataset; a filter", async () => {
  const store = new Store();
  for (const docForm of ["text_model", "hierarchical_model"])
    store.addDataset(makeDocument({ chunks: 101, childrenPerChunk: 2, docForm, seed: docForm.length }));
  store.addDataset();
  const server = await startRealisticServer(store, {});
  onTestFinished(() => server.close());
  const dumped = async (service: { url: string; key: string }, more: object = {}) => {
    const job = {
      service: { base_url: service.url, retries: 0 },
      datasets: "all",
      output: { formats: ["jsonl"] },
      ...more,
    };
    return runJob(await jobFor(await testFolder(), job), { env: { KNOWLEDGE_API_KEY: service.key } });
  };
  const first = await dumped(server);
  expect(await readFile(join(first.folder, "chunks.jsonl"), "utf8")).toMatch(
    /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/,
  );
  const dump = await served(first.folder);
  const again = await dumped(dump);
  expect(again.manifest.status).toBe("complete");
  expect(again.manifest.discovered?.datasets).toMatchObject(
    first.manifest.discovered?.datasets.map(({ since, ...listing }) => listing) ?? [],
  );
  await expectSame(first.folder, again.folder, ["jsonl"]);

  const datasets = first.manifest.documents.map(({ dataset_id: id, document_id }) => ({
    id,
    documents: [document_id],
    status: ["error", "re_segment"],
    keyword: "THE",
  }));
  const [filtered, filteredAgain] = [await dumped(server, { datasets }), await dumped(dump, { datasets })];
  expect(filtered.manifest.counts.chunks).toBeGreaterThan(0);
  expect(filtered.manifest.counts.chunks).toBeLessThan(first.manifest.counts.chunks);
  await expectSame(filtered.folder, filteredAgain.folder, ["jsonl"]);
});
