import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { diffRuns } from "../../../src/compare/diff-runs.js";
import { loadDocumentRows } from "../../../src/compare/load-document-rows.js";
import { loadRuns } from "../../../src/database/prepare-database.js";
import { withDuckDb } from "../../../src/duckdb/open-duckdb.js";
import { openDump } from "../../../src/dump/open-dump.js";
import type { Compression } from "../../../src/files/compression.js";
import { renderReport } from "../../../src/report/render-report.js";
import { chunkReader } from "../../../src/restore/copy/read-dump.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { runHere } from "../../cli/run-here.js";
import { allOf } from "../../compare/proof/paired.js";
import { query } from "../../database/query.js";
import { read } from "../../serve/ask.js";
import { served } from "../../serve/redump.js";
import { nastyDump } from "../../verify/nasty-dump.js";
import { writeDump } from "../../verify/write-dump.js";
import { duckDbOptions } from "../formats/formats.js";

const compressions = ["gzip", "zstd"] as const;

const formats = ["jsonl", "csv"] as const;
type Format = (typeof formats)[number];

let base: string;
const dumps = new Map<string, string>();

/** All tests share one dump per format and compression, because they only read it. */
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "kbdump-compressed-"));
  for (const format of formats)
    for (const compress of ["none", ...compressions] as const) {
      const folder = join(base, format, compress);
      dumps.set(`${format} ${compress}`, await writeDump(folder, nastyDump, { formats: [format], compress }));
    }
});
afterAll(() => rm(base, { recursive: true, force: true }));

const folderOf = (format: Format, compress: Compression) => dumps.get(`${format} ${compress}`) ?? "";

const signal = new AbortController().signal;
const columns = "COLUMNS(*)::VARCHAR";

/** Every way to read a dump; each returns everything that it finds in chunks and child chunks. */
const ways: readonly (readonly [string, (folder: string) => Promise<unknown>])[] = [
  ["dump.lines", async (folder) => JSON.stringify(await linesOf(folder))],
  ["dump.select", selectedFrom],
  ["serve", servedFrom],
  ["sql", async (folder) => runHere(["sql", folder, "FROM chunks", "--format", "json"])],
  ["the database of a job", loadedFrom],
  ["report", reportedFrom],
  ["restore", restoredFrom],
];

/** Only the sections of the page: its list of files differs by design. */
async function reportedFrom(folder: string): Promise<string | undefined> {
  const { html } = await renderReport({ folder, verify: false });
  return /<section id="errors"[\s\S]*/.exec(html)?.[0].replace(/<summary>\d+ files, [\s\S]*?<\/table>/, "");
}

const cases = formats.flatMap((format) => compressions.map((compress) => ({ format, compress })));

test.each(cases)("$format with $compress has the rows of the plain dump, however it is read", async (which) => {
  const [plain, compressed] = [folderOf(which.format, "none"), folderOf(which.format, which.compress)];
  for (const [way, rowsOf] of ways) {
    const found = await rowsOf(compressed);
    expect(JSON.stringify(found).length, way).toBeGreaterThan(10_000);
    expect(found, way).toEqual(await rowsOf(plain));
  }
  expect(await diffRuns(plain, compressed)).toMatchObject({ status: "same" });
  expect((await verifyRun(compressed)).findings).toEqual([]);
});

test("the compressed files are smaller, and the manifest has the bytes of both", async () => {
  for (const { format, compress } of cases) {
    const [plain, compressed] = [folderOf(format, "none"), folderOf(format, compress)];
    const files = async (folder: string) => (await openDump(folder, "nothing was read")).manifest.files;
    const [before, after] = [await files(plain), await files(compressed)];
    expect(after.map(({ uncompressed }) => uncompressed)).toEqual(
      before.map(({ bytes, sha256 }) => ({ bytes, sha256 })),
    );
    expect(after[0]?.bytes).toBeLessThan((before[0]?.bytes ?? 0) / 2);
  }
});

async function tableIn(folder: string, kind: "chunks" | "child_chunks") {
  const dump = await openDump(folder, "nothing was read");
  const [table] = dump.tablesOf([kind]) ?? [];
  if (!table) throw new Error(`no table of ${kind}`);
  return { dump, table: await dump.check(table) };
}

async function linesOf(folder: string): Promise<readonly string[]> {
  const { dump, table } = await tableIn(folder, "chunks");
  const lines: string[] = [];
  for await (const some of dump.lines(table, duckDbOptions(base))) lines.push(...some);
  return lines;
}

async function selectedFrom(folder: string): Promise<unknown> {
  const { dump, table } = await tableIn(folder, "child_chunks");
  return query(`SELECT ${columns} FROM (${await dump.select(table, "JSON")})`);
}

async function servedFrom(folder: string): Promise<unknown> {
  const dump = await served(folder);
  return read(dump, "/datasets/d/documents/x/segments?limit=100");
}

async function loadedFrom(folder: string): Promise<unknown> {
  const scratch = await mkdtemp(join(base, "scratch-"));
  const run = await openDump(folder, "it was not loaded");
  const { database, failures } = await loadRuns([run], undefined, scratch, duckDbOptions(scratch));
  expect(failures).toEqual([]);
  return query(`SELECT ${columns} FROM chunks ORDER BY rowid`, database);
}

async function restoredFrom(folder: string): Promise<unknown> {
  const dump = await openDump(folder, "nothing was restored");
  const document = { dataset_id: "d", document_id: "x" };
  await mkdir(join(base, "spill"), { recursive: true });
  return withDuckDb(":memory:", { memory: "800MB", temporary: join(base, "spill") }, async (connection) => {
    await loadDocumentRows(connection, "old", dump, [document], { signal });
    return allOf((await chunkReader(connection, signal))(document));
  });
}
