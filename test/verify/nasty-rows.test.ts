import { rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifyRun } from "../../src/verify/verify-run.js";
import { oddFolder, plainFolder } from "../dump/formats/folder.js";
import { forgeParquet } from "./forge.js";
import { nastyDump as tables } from "./nasty-dump.js";
import { chunk, document, soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const formats = ["jsonl", "csv", "parquet"] as const;

test("whatever a cell holds, no difference is seen where there is none", async () => {
  const run = await writeDump(await plainFolder(), tables, { formats });
  expect(await verifyRun(run)).toMatchObject({ findings: [], checked: { chunks: tables.chunks.length } });
});

test("the same with csv_safe, which is said", async () => {
  for (const some of [formats, ["csv", "parquet"], ["jsonl", "csv"]] as const) {
    const run = await writeDump(await plainFolder(), tables, { formats: some, csvSafe: true });
    const { findings, checked } = await verifyRun(run);
    expect(findings).toEqual([]);
    expect(checked.notes).toEqual([
      "the CSV is not lossless (csv_safe): an apostrophe before a formula was not looked at where it was compared",
    ]);
  }
});

test("with csv_safe, texts that the apostrophe makes longer than 64 bytes are still the same", async () => {
  const contents = ["=", "-", "＝"].flatMap((first) => [61, 62, 63, 64].map((length) => first + "x".repeat(length)));
  const chunks = [...contents.map((content, at) => chunk("long", `long${at}`, { content })), ...soundTables.chunks];
  const documents = [document("long", contents.length, 0), ...soundTables.documents];
  const folder = await writeDump(
    await plainFolder(),
    { ...soundTables, chunks, documents },
    { formats, csvSafe: true },
  );
  expect((await verifyRun(folder)).findings).toEqual([]);
});

test("with csv_safe, an apostrophe is looked at where there is no CSV, and everything else in the CSV, too", async () => {
  const run = await writeDump(await plainFolder(), tables, { formats, csvSafe: true });
  await forgeParquet(
    run,
    "chunks.parquet",
    "SELECT * REPLACE (CASE WHEN content = '=1+1' THEN '''=1+1' ELSE content END AS content) FROM old",
  );
  const { findings } = await verifyRun(run);
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatchObject({
    file: "chunks.parquet",
    message: expect.stringContaining("differs in content from"),
  });

  const long = "=".padEnd(100, "x");
  const chunks = [chunk("a", "a1", { content: long }), chunk("a", "a2"), chunk("b", "b1")];
  const other = await writeDump(
    await plainFolder(),
    { ...soundTables, chunks },
    { formats: ["csv", "parquet"], csvSafe: true },
  );
  expect((await verifyRun(other)).findings).toEqual([]);
  await forgeParquet(other, "chunks.parquet", "SELECT * REPLACE (content || 'x' AS content) FROM old");
  expect((await verifyRun(other)).finding_count).toBe(3);
});

test("rows of more than 16 MB", async () => {
  const [odd, plain] = ['"\n漢é,\\'.repeat(10_000), "x".repeat(9_000_000)]; // the odd ones alone take three times as long
  const content = `${odd}${plain}${odd}${plain}${odd}end`;
  const chunks = [chunk("a", "a1", { content }), chunk("a", "a2"), chunk("b", "b1", { extra: { content } })];
  const run = await writeDump(await plainFolder(), { ...soundTables, chunks }, { formats });
  expect((await verifyRun(run)).findings).toEqual([]);
  await forgeParquet(
    run,
    "chunks.parquet",
    "SELECT * REPLACE (content || ' ' AS content) FROM old WHERE nth = 1 UNION ALL FROM old WHERE nth > 1",
  );
  expect((await verifyRun(run)).findings).toEqual([
    { file: "chunks.parquet", message: "row 1, chunk a1 of document a, differs in content from row 1 of chunks.jsonl" },
  ]);
}, 180_000);

test("a folder whose name means something to DuckDB or to SQL", async () => {
  const base = await oddFolder();
  const run = await writeDump(base, tables, { formats });
  expect((await verifyRun(run)).findings).toEqual([]);
  const odder = join(base, "chunks.parquet [0-9]*?=1\nx");
  await rename(run, odder);
  expect((await verifyRun(odder)).findings).toEqual([]);
});
