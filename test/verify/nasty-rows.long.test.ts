import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyRun } from "../../src/verify/verify-run.js";
import { oddFolder, plainFolder } from "../dump/formats/folder.js";
import { forgeParquet } from "./forge.js";
import { nastyDump as tables } from "./nasty-dump.js";
import { chunk, document, soundTables } from "./sound-tables.js";
import { writeDump } from "./write-dump.js";

const formats = ["jsonl", "csv", "parquet"] as const;
let made: string;
let plain: string;
let safe: string;

/** All tests share one dump without csv_safe and one with it; they change only copies. */
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "kbdump-nasty-"));
  plain = await writeDump(join(made, "plain"), tables, { formats });
  safe = await writeDump(join(made, "safe"), tables, { formats, csvSafe: true });
});

afterAll(() => rm(made, { recursive: true, force: true }));

test("for any cell, no difference is reported if there is none", async () => {
  expect(await verifyRun(plain)).toMatchObject({ findings: [], checked: { chunks: tables.chunks.length } });
});

test("the same with csv_safe, which is said", async () => {
  const csvFirst = await writeDump(await plainFolder(), tables, { formats: ["csv", "parquet"], csvSafe: true });
  for (const run of [safe, csvFirst]) {
    const { findings, checked } = await verifyRun(run);
    expect(findings).toEqual([]);
    expect(checked.notes).toEqual([
      "the CSV was written with csv_safe: apostrophes before formulas were ignored in comparisons",
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

test("with csv_safe, an apostrophe counts if there is no CSV; everything else counts in the CSV too", async () => {
  const run = join(await plainFolder(), "run");
  await cp(safe, run, { recursive: true });
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

test("rows of more than 16 MB; one differs in a blank at its end", async () => {
  const [odd, plain] = ['"\n漢é,\\'.repeat(10_000), "x".repeat(9_000_000)]; // odd characters only would take three times as long
  const content = `${odd}${plain}${odd}${plain}${odd}end`;
  const shorter = `${odd}${"x".repeat(3_000_000)}${odd}`; // still longer than a read chunk
  const forged = chunk("b", "b1", { content: shorter, extra: { content: shorter } });
  const chunks = [chunk("a", "a1", { content }), chunk("a", "a2"), forged];
  const run = await writeDump(await plainFolder(), { ...soundTables, chunks }, { formats });
  await forgeParquet(
    run,
    "chunks.parquet",
    "FROM old WHERE nth < 3 UNION ALL SELECT * REPLACE (content || ' ' AS content) FROM old WHERE nth = 3",
  );
  expect((await verifyRun(run)).findings).toEqual([
    { file: "chunks.parquet", message: "row 3, chunk b1 of document b, differs in content from row 3 of chunks.jsonl" },
  ]);
}, 180_000);

test("a folder whose name means something to DuckDB or to SQL", async () => {
  const odd = join(await oddFolder(), "chunks.parquet [0-9]*?=1\nx");
  await cp(plain, odd, { recursive: true });
  expect((await verifyRun(odd)).findings).toEqual([]);
});
