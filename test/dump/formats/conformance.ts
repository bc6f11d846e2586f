import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { afterAll, expect, it } from "vitest";
import type { Format } from "../../../src/dump/formats/format.js";
import { type Compression, endingOf } from "../../../src/files/compression.js";
import { allKinds, columns, type Kind } from "../../../src/rows/columns.js";
import { ExactNumber, parseJson } from "../../../src/rows/exact-json.js";
import { isMapping } from "../../../src/schema.js";
import { expectCells } from "./cells.js";
import { duckDbOptions } from "./formats.js";
import { nastyTables, shortNumberTables } from "./nasty-rows.js";
import { readColumns } from "./read-back.js";
import { noRows, stageOf, type Tables } from "./stage.js";

/** The tests that every format must pass: its SQL and its reader return what its writer wrote. */
export function testFormat(name: string, format: () => Format | Promise<Format>, compress: Compression = "none"): void {
  const bases: string[] = [];
  afterAll(() => Promise.all(bases.map((base) => rm(base, { recursive: true, force: true }))));
  const write = async (tables: Tables) => {
    const base = await mkdtemp(join(tmpdir(), "kbdump-conformance-"));
    bases.push(base);
    const { openWriter } = await (await format()).load();
    const staged = await stageOf(base, tables, { publishJsonl: name === "jsonl", csv: name === "csv", compress });
    const files = await openWriter({ csvSafe: false, duckDb: duckDbOptions(base) }).finish(staged);
    return { base, folder: staged.folder, files };
  };
  const written = new Map<Tables, ReturnType<typeof write>>();
  /** The files of these tables. All tests of the format share them, because they only read them. */
  const filesOf = (tables: Tables) => {
    const files = written.get(tables) ?? write(tables);
    written.set(tables, files);
    return files;
  };
  const nameOf = (kind: Kind) => `${kind}.${name}${endingOf(compress)}`;
  const fileIn = (folder: string, kind: Kind) => ({ paths: [join(folder, nameOf(kind))], longestLine: 1_000_000 });
  const kindsOf = (tables: Tables) => allKinds.filter((kind) => tables[kind] !== undefined);
  const given = [
    ["rows of every value", nastyTables],
    ["the same without long numbers", shortNumberTables],
    ["tables without rows", noRows],
  ] as const;

  it.each(given)(`${name}: SQL returns %s`, async (_what, tables) => {
    const { folder } = await filesOf(tables);
    const { selectRows } = await (await format()).load();
    for (const kind of kindsOf(tables)) {
      const cells = await readColumns(kind, `(${selectRows(kind, fileIn(folder, kind), "VARCHAR")})`);
      expectCells(kind, cells, tables[kind] ?? []);
    }
  });

  it.each(given)(`${name}: the reader returns %s`, async (_what, tables) => {
    const { base, folder } = await filesOf(tables);
    const { readRows } = await (await format()).load();
    for (const kind of kindsOf(tables)) {
      const lines: string[] = [];
      for await (const some of readRows(kind, fileIn(folder, kind), duckDbOptions(base))) lines.push(...some);
      expectCells(
        kind,
        lines.map((line) => cellsOf(kind, line)),
        tables[kind] ?? [],
      );
    }
  });

  it(`${name}: tells the manifest what the files are, which only their owner can read`, async () => {
    const { folder, files } = await filesOf(nastyTables);
    expect(files.map(({ path }) => path)).toEqual(allKinds.map(nameOf));
    expect((await readdir(folder)).sort()).toEqual(files.map(({ path }) => path).sort());
    for (const { path, rows, uncompressed, ...facts } of files) {
      const bytes = await readFile(join(folder, path));
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      expect({ ...facts, path }).toEqual({ path, bytes: bytes.length, sha256 });
      expect(uncompressed).toEqual(compress === "none" ? undefined : plainText(bytes, compress));
      expect(`${path}: ${rows}`).toBe(`${path}: ${nastyTables[kindIn(path)]?.length}`);
      expect(((await stat(join(folder, path))).mode & 0o777).toString(8)).toBe("600");
    }
  });
}

/** Size and hash of a decompressed text; decompresses all of it with one call. */
function plainText(bytes: Buffer, compression: Exclude<Compression, "none">): unknown {
  const { gunzipSync, zstdDecompressSync = gunzipSync }: WholeFunctions = zlib;
  const text = compression === "gzip" ? gunzipSync(bytes) : zstdDecompressSync(bytes);
  return { bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") };
}

type WholeFunctions = Record<"gunzipSync", (bytes: Buffer) => Buffer> & {
  readonly zstdDecompressSync?: (bytes: Buffer) => Buffer;
};

const kindIn = (path: string): Kind => allKinds.find((kind) => path.startsWith(`${kind}.`)) ?? "chunks";

/** The cells of a line of JSON, in the form that expectCells takes. */
function cellsOf(kind: Kind, line: string): readonly unknown[] {
  const row = parseJson(line);
  if (!isMapping(row)) throw new Error(`${line} is no object`);
  expect(Object.keys(row)).toEqual(columns[kind].map(({ name }) => name));
  return columns[kind].map(({ name, type }) => {
    const value = row[name];
    if (value === null || typeof value === "string") return value;
    if (type === "integer") return value instanceof ExactNumber ? value.text : String(value);
    return { json: value };
  });
}
