import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { wantedFiles } from "../../src/originals/file-routes.js";
import { testFolder } from "../run/job-for.js";

test("documents that share a file each have the attachments of their own chunks", async () => {
  const path = join(await testFolder(), "shared.chunks.jsonl");
  const rows = ["a", "b"].map((id) => `${JSON.stringify({ id, attachments: [{ id: `file of ${id}` }] })}\n`);
  await writeFile(path, rows.join(""));
  const documents = ["1", "2"].map((id) => ({
    ref: { datasetId: "d", documentId: id, status: [], keyword: undefined },
    name: id,
  }));
  const parts = rows.map((row, at) => {
    const facts = { lines: 1, longestLine: row.length - 1, longNumbers: false };
    const [start, bytes] = [at * row.length, row.length];
    return [{ kind: "chunks" as const, format: "jsonl", path, start, bytes, ...facts }];
  });
  const wanted = await wantedFiles(documents, [], parts);
  expect(wanted.map(({ ref, attachment }) => [ref.documentId, attachment])).toEqual([
    ["1", { id: "file of a", chunkId: "a" }],
    ["2", { id: "file of b", chunkId: "b" }],
  ]);
});
