import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allKinds, type Kind } from "../../../src/rows/columns.js";
import { expectCells } from "./cells.js";
import { oddFolder, plainFolder } from "./folder.js";
import { databaseOf, type Subject, subjects } from "./formats.js";
import { nastyTables, shortNumberTables } from "./nasty-rows.js";
import { countRows } from "./read-back.js";
import { noRows, type StageOptions, stageOf, type Tables } from "./stage.js";

/** Writes the rows with the writer; returns the run folder and the files for the manifest. */
async function write(subject: Subject, tables: Tables, base: string, options: StageOptions = {}) {
  const [publishJsonl, csv] = [subject.format === "jsonl", subject.format === "csv"];
  const stage = await stageOf(base, tables, { publishJsonl, csv, ...options });
  return { folder: stage.folder, files: await subject.write(stage, base) };
}

async function expectSame(subject: Subject, tables: Tables, base: string): Promise<void> {
  await write(subject, tables, base);
  for (const kind of allKinds) {
    const rows = tables[kind];
    if (rows) expectCells(kind, await subject.read(base, kind), rows);
  }
}

describe.each(subjects)("the $format writer", (subject) => {
  it("returns every value with its type, in order", async () => {
    await expectSame(subject, nastyTables, await plainFolder());
  });

  it("returns the same without long numbers, which DuckDB reads in a different way", async () => {
    await expectSame(subject, shortNumberTables, await plainFolder());
  });

  it("writes tables without rows, with their columns", async () => {
    await expectSame(subject, noRows, await plainFolder());
  });

  it("accepts a row that is longer than a read buffer", async () => {
    // Longer than DuckDB's buffer for formats that DuckDB loads; for the others, longer than a read chunk and than DuckDB's limit
    // for a CSV line.
    const loaded = subject.format === "parquet" || subject.format === "duckdb";
    const content = `"\n漢${"x".repeat(loaded ? 33_600_000 : 3_000_000)}é\r\n`;
    // Long numbers need other SQL, which both formats share.
    const [first = {}, second = {}] = (subject.format === "parquet" ? shortNumberTables : nastyTables).chunks;
    await expectSame(subject, { ...noRows, chunks: [first, { ...second, content }, first] }, await plainFolder());
  });

  it("works in a folder whose name means something to DuckDB", async () => {
    const few = { chunks: nastyTables.chunks.slice(0, 3), indexing_status: nastyTables.indexing_status.slice(0, 3) };
    await expectSame(subject, { ...noRows, ...few }, await oddFolder());
  });

  it("works in a folder whose relative path looks like the home folder", async () => {
    const before = process.cwd();
    process.chdir(await oddFolder());
    try {
      await expectSame(subject, { ...noRows, metadata_fields: nastyTables.metadata_fields }, "~/dumps");
    } finally {
      process.chdir(before);
    }
  });

  it("returns the files for the manifest, and leaves nothing else", async () => {
    const base = await oddFolder();
    const { folder, files } = await write(subject, { ...nastyTables, child_chunks: [] }, base);
    expect(files.map(({ path }) => path)).toEqual(subject.files);
    expect((await readdir(folder)).sort()).toEqual([...subject.files].sort());
    for (const { path, ...facts } of files) {
      const bytes = await readFile(join(folder, path));
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      expect(facts, path).toEqual({ rows: await countRows(folder, path), bytes: bytes.length, sha256 });
    }
    const left = (await readdir(join(base, "scratch"))).filter((name) => !name.endsWith(".jsonl"));
    expect(left).toEqual(subject.format === "duckdb" ? ["new.duckdb"] : []);
  });

  it("makes files that only their owner can read", async () => {
    const base = await plainFolder();
    const { folder, files } = await write(subject, noRows, base);
    const paths = subject.format === "duckdb" ? [databaseOf(base)] : files.map(({ path }) => join(folder, path));
    expect(paths).not.toHaveLength(0);
    for (const path of paths) expect(((await stat(path)).mode & 0o777).toString(8), path).toBe("600");
  });
});

describe.each(subjects.filter(({ format }) => format === "parquet" || format === "duckdb"))(
  "the $format writer",
  (subject) => {
    it("refuses when rows are missing", async () => {
      const base = await plainFolder();
      const stage = await stageOf(base, nastyTables);
      const oneMore = (kind: Kind, count: number) => count + (kind === "child_chunks" ? 1 : 0);
      const rows = (kind: Kind) => oneMore(kind, stage.rows(kind));
      const tables = stage.tables.map((table) => ({ ...table, rows: oneMore(table.kind, table.rows) }));
      const count = nastyTables.child_chunks.length;
      const finished = subject.write({ ...stage, rows, tables }, base);
      await expect(finished).rejects.toThrow(new RegExp(`child_chunks.* has ${count} rows for ${count + 1}`));
    });
  },
);

describe.each(subjects.filter(({ format }) => format !== "duckdb"))("the $format writer", (subject) => {
  it("makes the same files of the same rows, whatever their parts", async () => {
    const one = await write(subject, nastyTables, await plainFolder(), { rowsPerPart: 7 });
    const other = await write(subject, nastyTables, await plainFolder(), { rowsPerPart: 1000 });
    expect(other.files).toEqual(one.files);
  });
});
