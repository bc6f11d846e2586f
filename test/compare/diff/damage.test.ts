import { appendFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diffRuns } from "../../../src/compare/diff-runs.js";
import { lackOf } from "../../../src/duckdb/open-duckdb.js";
import { StopError, UsageError } from "../../../src/errors.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { inFull } from "../../rounds.js";
import { editManifest, forgeLines } from "../../verify/forge.js";
import { abortAt, ownTemporaryFolder } from "../../verify/interrupting.js";
import { soundTables } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";

const sound = async () => writeDump(await plainFolder(), soundTables);
const errorOf = (run: string) => diffRuns(run, run).catch((error: unknown) => error);

test("a folder that is not a dump is a usage error", async () => {
  const folder = await plainFolder();
  expect(await errorOf(join(folder, "gone"))).toBeInstanceOf(UsageError);
  expect(String(await errorOf(folder))).toContain("no manifest.json in it");
});

describe("files that do not match their run are refused, and verify is suggested", () => {
  const spoiled: readonly [string, (run: string, chunks: string) => Promise<unknown>][] = [
    ["chunks.jsonl: has another SHA-256 than the manifest says", (_run, chunks) => swapByte(chunks)],
    ["chunks.jsonl: has 3 bytes instead of", (_run, chunks) => writeFile(chunks, "abc")],
    ["chunks.jsonl: is not a regular file", (_run, chunks) => rm(chunks).then(() => mkdir(chunks))],
    ["chunks.jsonl: is not there", (_run, chunks) => rm(chunks)],
    ["chunks.jsonl: is a symlink", (run, chunks) => rename(chunks, `${run}.x`).then(() => symlink(`${run}.x`, chunks))],
    [
      "manifest.json: files: documents.jsonl has 2 rows, counts.documents is 7",
      (run) => editManifest(run, (all) => Object.assign(Object(all.counts), { documents: 7 })),
    ],
    [
      "manifest.json: is nested more than 1000 deep",
      (run) => writeFile(join(run, "manifest.json"), "[".repeat(2_000_000) + "]".repeat(2_000_000)),
    ],
    ["manifest.json: is not valid JSON", (run) => appendFile(join(run, "manifest.json"), "}")],
    ["chunks.jsonl: cannot be read: ", (run) => forgeLines(run, "chunks.jsonl", (lines) => lines.map(() => "no JSON"))],
    [
      "chunks.jsonl: has 1 row of document a, but the manifest says 2",
      (run) => forgeLines(run, "chunks.jsonl", ([, second = "", third = ""]) => [second, third, third]),
    ],
    [
      "chunks.jsonl: has 1 row of document z, but the manifest says 0",
      async (run) => {
        await forgeLines(run, "chunks.jsonl", (lines) => [
          (lines[2] ?? "").replace('"b"', '"z"'),
          ...lines.slice(0, 2),
        ]);
        await editManifest(run, (manifest) => {
          const [first = {}, second = {}] = Array.isArray(manifest.documents) ? manifest.documents : [];
          manifest.documents = [first, { ...second, total: 0, chunk_count: 0, document_id: "b" }];
          Object.assign(Object(manifest.counts), { chunks: 2 });
          manifest.files = manifest.files.map((file) => (file.path === "chunks.jsonl" ? { ...file, rows: 2 } : file));
        });
      },
    ],
  ];
  test.each(spoiled)("%s", async (message, spoil) => {
    const run = await sound();
    await spoil(run, join(run, "chunks.jsonl"));
    const error = await errorOf(run);
    expect(error).toBeInstanceOf(StopError);
    expect(String(error)).toContain("is not sound, so nothing was compared:\n  ");
    expect(String(error)).toContain(message);
    expect(String(error)).toContain(`kbdump verify ${run} shows everything that is wrong with it`);
  });
});

/** Changes one byte of a file and keeps its size. */
async function swapByte(path: string): Promise<void> {
  await writeFile(path, (await readFile(path, "utf8")).replace("text of", "TEXT of"));
}

test("a folder without rows is refused, and the error names what its run wrote", async () => {
  const run = await writeDump(await plainFolder(), soundTables, { formats: [] });
  const output = { formats: ["duckdb"], csv_safe: false, compress: "none", partition: "none" };
  await editManifest(run, ({ options }) => Object.assign(Object(options), { output }));
  expect(String(await errorOf(run))).toContain("its run wrote duckdb; diff needs jsonl, parquet or csv");
});

test
  .runIf(inFull)
  .each([
    "hashing chunks.jsonl of the old run",
    "hashing child_chunks.jsonl of the new run",
    "reading chunks.jsonl of the old run",
    "matching",
    "writing the result",
  ])("a signal while %s ends it with its reason, and nothing is left behind", async (step) => {
  const run = await sound();
  const temporary = await ownTemporaryFolder();
  await expect(diffRuns(run, run, { ...abortAt(step), onChange: () => {} })).rejects.toThrow("enough");
  expect(await readdir(temporary)).toEqual([]);
});

test("DuckDB's error for a full disk is not reported as a lack of memory", () => {
  const offload = new Error(
    "Out of Memory Error: failed to offload data block\nThis limit was set by the 'max_temp_directory_size'",
  );
  for (const error of [offload, new Error("IO Error: Could not write file: No space left on device")])
    expect(lackOf(error, "800MB")?.message).toMatch(/^the disk of .* is full: .*TMPDIR/);
  expect(lackOf(new Error("Binder Error"), "800MB")).toBeUndefined();
});

test("too little memory is reported, and no file is left", async () => {
  const run = await sound();
  const temporary = await ownTemporaryFolder();
  await expect(diffRuns(run, run, { memory: "1MB" })).rejects.toThrow("try again with --memory=2GB or more");
  expect(await readdir(temporary)).toEqual([]);
});
