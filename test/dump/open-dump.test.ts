import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FileFormat } from "../../src/dump/formats/formats.js";
import { openDump, UnsoundError } from "../../src/dump/open-dump.js";
import { StopError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { soundTables } from "../verify/sound-tables.js";
import { type WriteOptions, writeDump } from "../verify/write-dump.js";
import { plainFolder } from "./formats/folder.js";
import { duckDbOptions } from "./formats/formats.js";

async function open(options: WriteOptions) {
  const base = await plainFolder();
  return { base, dump: await openDump(await writeDump(base, soundTables, options), "nothing was done") };
}

/** The paths of the tables that readers choose for chunks and child chunks. */
async function chosen(formats: readonly FileFormat[], csvSafe = false, guarded = false) {
  const { dump } = await open({ formats, csvSafe });
  return dump.tablesOf(["chunks", "child_chunks"], { guarded })?.map(({ path }) => path);
}

test.runIf(inFull)("JSONL is read first, then Parquet, then any other format", async () => {
  expect(await chosen(["csv", "parquet", "jsonl"])).toEqual(["chunks.jsonl", "child_chunks.jsonl"]);
  expect(await chosen(["csv", "parquet"])).toEqual(["chunks.parquet", "child_chunks.parquet"]);
  expect(await chosen(["csv"])).toEqual(["chunks.csv", "child_chunks.csv"]);
});

test("CSV with csv_safe is read only by readers that handle its apostrophes", async () => {
  expect(await chosen(["csv"], true)).toBeUndefined();
  expect(await chosen(["csv"], true, true)).toEqual(["chunks.csv", "child_chunks.csv"]);
});

test.runIf(inFull).each(["jsonl", "csv", "parquet"] as const)(
  "the lines of %s are the rows that were written",
  async (format) => {
    const { base, dump } = await open({ formats: [format] });
    const [table] = dump.tablesOf(["chunks"]) ?? [];
    if (!table) throw new Error("no table of chunks");
    const rows: unknown[] = [];
    for await (const lines of dump.lines(await dump.check(table), duckDbOptions(base)))
      for (const line of lines) rows.push(JSON.parse(line));
    expect(rows).toEqual(soundTables.chunks);
  },
);

test.runIf(inFull)("a dump that changed since its run is refused, with the consequence", async () => {
  const { dump } = await open({});
  const [table] = dump.tablesOf(["chunks"]) ?? [];
  if (!table) throw new Error("no table of chunks");
  await writeFile(join(dump.folder, table.path), "x".repeat(table.bytes));
  const error = await dump.check(table).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StopError);
  expect(String(error)).toContain(
    "is not sound, so nothing was done:\n  chunks.jsonl: has another SHA-256 than the manifest says\nkbdump verify ",
  );
  await writeFile(join(dump.folder, "manifest.json"), "{}");
  await expect(openDump(dump.folder, "nothing was done")).rejects.toThrow(/manifest\.json: format: got nothing/);
});

test("a manifest with something wrong for every document is refused with a message that fits a screen", async () => {
  const { dump } = await open({});
  const documents = Array.from({ length: 50 }, (_, at) => ({ document_id: at }));
  await writeFile(join(dump.folder, "manifest.json"), JSON.stringify({ ...dump.manifest, documents }));
  const error = await openDump(dump.folder, "nothing was done").catch((reason: unknown) => reason);
  if (!(error instanceof UnsoundError)) throw new Error("it was opened");
  const lines = error.message.split("\n");
  expect(lines).toHaveLength(23);
  expect(lines[21]).toBe(`  and ${error.problems.length - 20} other problems`);
  expect(lines[22]).toMatch(/^kbdump verify \S+ shows everything that is wrong with it$/);
  expect(error.problems.length).toBeGreaterThan(50);
});

test("a symlink above several files is named once", async () => {
  const { dump } = await open({});
  await symlink("gone", join(dump.folder, "chunks.parquet"));
  const files = ["one", "two"].map((name) => ({ path: `chunks.parquet/${name}`, bytes: 1 }));
  await expect(dump.checkSizes(files)).rejects.toMatchObject({
    problems: ["chunks.parquet: is a symlink, which is not followed"],
  });
});
