import { describe, expect, test } from "vitest";
import { verifyRun } from "../../src/verify/verify-run.js";
import { plainFolder } from "../dump/formats/folder.js";
import type { Tables } from "../dump/formats/stage.js";
import { inFull } from "../rounds.js";
import { editManifest } from "./forge.js";
import { child, chunk, details, document, info, settings, soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const findingsOf = async (run: string) =>
  (await verifyRun(run)).findings.map(({ file, message }) => `${file}: ${message}`);

const formats = ["jsonl", "csv", "parquet"] as const;

describe.each(formats)("a dump in %s only", (format) => {
  test.runIf(inFull)("is sound, and nothing is missing from the check", async () => {
    const run = await writeDump(await plainFolder(), soundTables, { formats: [format] });
    expect(await verifyRun(run)).toMatchObject({
      status: "sound",
      checked: {
        files: 5,
        chunks: 3,
        child_chunks: 2,
        notes: [],
      },
    });
  });
});

test.runIf(inFull)("listed documents are sound in every format, and a missing one is found", async () => {
  const run = await writeDump(
    await plainFolder(),
    { ...soundTables, document_info: [info("a"), info("b")] },
    { formats },
  );
  expect(await verifyRun(run)).toMatchObject({ findings: [], checked: { files: 18 } });
  await editManifest(run, (manifest) => {
    const counts = Object(manifest.counts);
    delete counts.document_info;
  });
  expect(await findingsOf(run)).toContainEqual(
    "manifest.json: files: document_info.csv is listed, although its format was not asked for",
  );
});

/** Dumps whose files match each other and the manifest, but are still wrong. */
const wrong: readonly [what: string, tables: Partial<Tables>, finding: string][] = [
  [
    "a chunk stands there twice",
    { chunks: [chunk("a", "a1"), chunk("a", "a1"), chunk("b", "b1")] },
    "chunks: chunk a1 of document a occurs 2 times, in row 1 and in row 2",
  ],
  [
    "a child chunk stands there twice",
    { child_chunks: [child("a", "a1", "k1"), child("a", "a1", "k1", { content: "other" })] },
    "child_chunks: child chunk k1 of chunk a1 of document a occurs 2 times, in row 1 and in row 2",
  ],
  [
    "a child chunk has no parent",
    { child_chunks: [child("a", "a1", "k1"), child("a", "gone", "k2")] },
    "child_chunks: child chunk k2 of chunk gone of document a in row 2 has no parent in chunks",
  ],
  [
    "a child chunk has its parent in another document",
    { child_chunks: [child("a", "a1", "k1"), child("a", "b1", "k2")] },
    "child_chunks: child chunk k2 of chunk b1 of document a in row 2 has no parent in chunks",
  ],
  [
    "a document is listed twice",
    { document_info: [info("a"), info("b"), info("a", { name: "again" })] },
    "document_info: document a of dataset d occurs 2 times, in row 1 and in row 3",
  ],
  [
    "a document is listed that was not read",
    { document_info: [info("a"), info("b"), info("c")] },
    "document_info: document c of dataset d in row 3 is not in documents",
  ],
  [
    "a document was read that is not listed",
    { document_info: [info("a")] },
    "document_info: document b of dataset d is missing, although its dataset was listed",
  ],
  [
    "the settings of a dataset are there twice",
    { datasets: [settings("d"), settings("e"), settings("d", { name: "again" })], document_details: [] },
    "datasets: dataset d occurs 2 times, in row 1 and in row 3",
  ],
  [
    "the details of a document are there twice",
    { datasets: [], document_details: [details("a"), details("a", { name: "again" })] },
    "document_details: document a of dataset d occurs 2 times, in row 1 and in row 2",
  ],
  [
    "there are details of a document that was not read",
    { datasets: [], document_details: [details("c")] },
    "document_details: document c of dataset d in row 1 is not in documents",
  ],
  [
    "a document has fewer chunks than it says, and another more",
    { documents: [document("a", 1, 2), document("b", 2, 0)] },
    "chunks: document a has 2 rows, its chunk_count is 1",
  ],
  [
    "a document has fewer child chunks than it says, and another more",
    { documents: [document("a", 2, 1), document("b", 1, 1)] },
    "child_chunks: document a has 2 rows, its child_chunk_count is 1",
  ],
  [
    "a chunk is of a document that is none of the run",
    {
      chunks: [chunk("a", "a1"), chunk("a", "a2"), chunk("b", "b1"), chunk("c", "c1")],
      documents: [document("a", 2, 2), document("b", 2, 0)],
    },
    'chunks: has 1 row of document ["d","c"], which is not part of this run',
  ],
  [
    "a complete document has another total",
    { documents: [document("a", 2, 2, { total: 3 }), document("b", 1, 0)] },
    "manifest.json: document a is complete with 2 chunks, but its total is 3",
  ],
  [
    "a complete document has no total",
    { documents: [document("a", 2, 2, { total: null }), document("b", 1, 0)] },
    "manifest.json: document a is complete with 2 chunks, but its total is null",
  ],
  [
    "a failed document has rows",
    { documents: [document("a", 2, 2), document("b", 1, 0, { status: "failed", error: "gone" })] },
    "manifest.json: document b failed, but has 1 chunk and 0 child chunks",
  ],
  [
    "a document stands there twice",
    { documents: [document("a", 2, 2), document("b", 1, 0), document("b", 0, 0)] },
    "manifest.json: document b of dataset d occurs 2 times, in row 2 and in row 3",
  ],
  [
    "a chunk has no id",
    { chunks: [chunk("a", "a1"), chunk("a", "a2", { id: null }), chunk("b", "b1")] },
    "chunks: row 2 has no id",
  ],
];

test.runIf(inFull).each(wrong.map((each, at) => [...each, formats[at % 3] ?? "jsonl"] as const))(
  "%s",
  async (_what, tables, finding, format) => {
    const run = await writeDump(await plainFolder(), { ...soundTables, ...tables }, { formats: [format] });
    const named = finding
      .replace(/^(chunks|child_chunks|document_info|datasets|document_details):/, `$1.${format}:`)
      .replace(/in (chunks|documents)$/, `in $1.${format}`);
    expect(await findingsOf(run)).toContain(named);
  },
);

test("rows with equal ids in different documents are not confused", async () => {
  const chunks = [chunk("a", "a1"), chunk("a", "b1"), chunk("b", "a1"), chunk("b", "b1")];
  const child_chunks = [child("a", "a1", "k"), child("a", "b1", "k"), child("b", "a1", "k")];
  const documents = [document("a", 2, 2), document("b", 2, 1)];
  const run = await writeDump(await plainFolder(), { ...soundTables, chunks, child_chunks, documents });
  expect(await findingsOf(run)).toEqual([]);
});

test("an unstable document may have another total, a failed one none", async () => {
  const documents = [
    document("a", 2, 2, { status: "unstable", total: 5, error: "it moved" }),
    document("b", 1, 0),
    document("c", 0, 0, { status: "failed", total: null, error: "404" }),
  ];
  const run = await writeDump(await plainFolder(), { ...soundTables, documents }, { formats: ["csv", "parquet"] });
  expect(await findingsOf(run)).toEqual([]);
});

test("of many findings of a kind the first 20 are reported, and how many more there are", async () => {
  const child_chunks = Array.from({ length: 100 }, (_, at) => child("a", "gone", `k${at}`));
  const documents = [document("a", 2, 100), document("b", 1, 0)];
  const run = await writeDump(await plainFolder(), { ...soundTables, child_chunks, documents });
  const { findings, finding_count } = await verifyRun(run);
  expect(finding_count).toBe(100);
  expect(findings).toHaveLength(21);
  expect(findings.at(-1)).toEqual({ file: "child_chunks.jsonl", message: "and 80 more (without parent)" });
});

describe("the documents of the manifest and of the files", () => {
  test.runIf(inFull).each(formats)("are others: %s", async (format) => {
    const run = await writeDump(await plainFolder(), soundTables, { formats: [format] });
    await editManifest(run, (manifest) => {
      manifest.documents = [document("a", 2, 2, { doc_form: "qa_model" }), document("b", 1, 0)];
    });
    expect(await findingsOf(run)).toEqual([
      `documents.${format}: row 1, document a of dataset d, differs in doc_form from row 1 of manifest.json`,
    ]);
  });

  test.runIf(inFull)("are in another order, or are fewer", async () => {
    const run = await writeDump(await plainFolder(), soundTables);
    await editManifest(run, (manifest) => {
      manifest.documents = [document("b", 1, 0), document("a", 2, 2)];
    });
    expect((await findingsOf(run))[0]).toMatch(
      /^documents.jsonl: 2 rows are in another order than in manifest.json: row 1, document a/,
    );
    await editManifest(run, (manifest) => {
      manifest.documents = [document("a", 2, 2)];
    });
    expect(await findingsOf(run)).toEqual([
      "manifest.json: counts.documents is 2, its documents have 1",
      "manifest.json: counts.chunks is 3, its documents have 2",
      "documents.jsonl: row 2, document b of dataset d, is not in manifest.json",
      'chunks.jsonl: has 1 row of document ["d","b"], which is not part of this run',
    ]);
  });
});

test.runIf(inFull)("the manifest has wrong counts, and says complete for a document that is not", async () => {
  const run = await writeDump(await plainFolder(), soundTables);
  await editManifest(run, (manifest) => {
    manifest.counts = { documents: 2, chunks: 4, child_chunks: 2, indexing_status: 2, metadata_fields: 1 };
  });
  expect(await findingsOf(run)).toEqual([
    "manifest.json: files: chunks.jsonl has 3 rows, counts.chunks is 4",
    "manifest.json: files: indexing_status.jsonl has 1 row, counts.indexing_status is 2",
    "manifest.json: counts.chunks is 4, its documents have 3",
  ]);
  const partial = [document("a", 2, 2, { status: "unstable", error: "it moved" }), document("b", 1, 0)];
  const other = await writeDump(await plainFolder(), { ...soundTables, documents: partial });
  await editManifest(other, (manifest) => {
    manifest.status = "complete";
  });
  expect(await findingsOf(other)).toEqual(["manifest.json: status is complete, but document a is unstable"]);
});

test.runIf(inFull).each(formats)("the manifest says other rows of %s than there are", async (format) => {
  const run = await writeDump(await plainFolder(), soundTables, { formats: [format] });
  await editManifest(run, (manifest) => {
    const status = manifest.files.find(({ path }) => path === `indexing_status.${format}`);
    if (status) status.rows = 2;
    manifest.counts = { ...(manifest.counts as object), indexing_status: 2 };
  });
  expect(await findingsOf(run)).toEqual([`indexing_status.${format}: has 1 row, the manifest says 2`]);
});
