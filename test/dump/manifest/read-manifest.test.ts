import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readManifest, readRunFacts } from "../../../src/dump/read-manifest.js";
import { testFolder } from "../../run/job-for.js";
import { manifestOf } from "../manifest-of.js";

const write = async (manifest: unknown) => {
  const folder = await testFolder();
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  return folder;
};
const problemsOf = async (manifest: unknown) => (await readManifest(await write(manifest)))?.problems;

test("members that earlier versions did not write, or wrote as null, have a default", async () => {
  const { retries, child_lists, proofs, ...earlier } = manifestOf({});
  expect(await problemsOf(earlier)).toEqual([]);
  expect(await problemsOf({ ...earlier, retries: null, child_lists: null, proofs: null })).toEqual([]);
  const counts = { asked: 0, embedded: 0, skipped: 0, empty: 0, reason: null, auto_misses: null };
  const lists = [{ dataset_id: "d", document_id: "a", ...counts }];
  const read = await readManifest(await write({ ...earlier, child_lists: lists }));
  expect(read?.manifest?.child_lists).toEqual([
    { ...lists[0], embedding: null, reason: "", auto_asks: null, auto_misses: 0 },
  ]);
});

test("originals of earlier versions are those of documents", async () => {
  const facts = {
    name: "A.pdf",
    mime_type: null,
    bytes: 1,
    expected_bytes: 1,
    sha256: "0".repeat(64),
    verdict: "complete",
  };
  const original = { dataset_id: "d", document_id: "a", path: "originals/a/A.pdf", ...facts, reason: null };
  const read = await readManifest(await write({ ...manifestOf({}), originals: [original] }));
  expect(read?.manifest?.originals).toEqual([{ ...original, attachment_id: null, chunk_id: null, file_id: null }]);
});

test("a manifest of a later form still says which run it is of", async () => {
  const later = { path: "chunks.csv.gz", rows: 1, bytes: 7, sha256: "x" };
  const manifest = { ...manifestOf({ run_id: "20261120T020000123Z" }), format: 2, files: [later], discovered: 1 };
  const folder = await write(manifest);
  expect((await readManifest(folder))?.manifest).toBeUndefined();
  expect(await readRunFacts(folder)).toMatchObject({ run_id: "20261120T020000123Z", format: 2, files: [{ bytes: 7 }] });
});

test.each([
  ["no JSON", async (path: string) => writeFile(path, "{")],
  ["a folder", async (path: string) => mkdir(path)],
  ["a link in a circle", async (path: string) => symlink(path, path)],
  ["a link to another", async (path: string) => symlink("/etc/hostname", path)],
  [
    "a socket",
    async (path: string) => {
      const server = createServer().listen(path);
      onTestFinished(() => void server.close());
      await new Promise((listening) => server.once("listening", listening));
    },
  ],
])("a manifest that is %s stops nobody who looks at other runs", async (_what, make) => {
  const folder = await testFolder();
  await make(join(folder, "manifest.json"));
  expect(await readRunFacts(folder)).toBeUndefined();
  expect((await readManifest(folder))?.problems).toHaveLength(1);
});

test("a folder that cannot be looked into stops nobody who looks at other runs", async () => {
  expect(await readRunFacts(join(await testFolder(), "\0"))).toBeUndefined();
});
