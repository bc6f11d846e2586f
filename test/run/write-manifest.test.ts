import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { manifestPieces, writeManifest } from "../../src/run/write-manifest.js";
import { manifestOf } from "../dump/manifest-of.js";
import { testFolder } from "./job-for.js";

test("the pieces are together the indented JSON text of the whole, whatever its members are", () => {
  const member = fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.constant(undefined));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), member), (value) => {
      expect([...manifestPieces(value)].join("")).toBe(`${JSON.stringify(value, undefined, 2)}\n`);
    }),
  );
});

test("a manifest of many documents is written in order, for its owner only, and without half a surrogate pair", async () => {
  const path = join(await testFolder(), "manifest.json");
  const facts = { dataset_id: "a", doc_form: null, total: 0, chunk_count: 0, child_chunk_count: 0, sweeps: 1 };
  const row = (at: number) => ({ ...facts, document_id: `${at}`, status: "failed" as const, error: "\ud800" });
  const documents = Array.from({ length: 5_000 }, (_, at) => row(at));
  const manifest = manifestOf({ documents });
  await writeManifest(path, manifest);
  const whole = documents.map((row) => ({ ...row, error: "\ufffd" }));
  expect(await readFile(path, "utf8")).toBe(`${JSON.stringify({ ...manifest, documents: whole }, undefined, 2)}\n`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});
