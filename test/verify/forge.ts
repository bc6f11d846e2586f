import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { sqlText } from "../../src/duckdb/sql.js";
import { read } from "../database/query.js";
import { readCsv } from "../dump/formats/rfc4180.js";

type Manifest = Record<string, unknown> & { files: { path: string; rows: number; bytes: number; sha256: string }[] };

/** Changes the manifest, like a forger. */
export async function editManifest(run: string, edit: (manifest: Manifest) => void): Promise<void> {
  const path = join(run, "manifest.json");
  const manifest: Manifest = JSON.parse(await readFile(path, "utf8"));
  edit(manifest);
  await writeFile(path, JSON.stringify(manifest));
}

/** Updates the manifest to match the bytes of a file, so that only its content shows the change. */
export async function mend(run: string, path: string, rows?: number): Promise<void> {
  const bytes = await readFile(join(run, path));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await editManifest(run, ({ files }) => {
    const file = files.find((each) => each.path === path);
    if (!file) throw new Error(`${path} is not in the manifest`);
    Object.assign(file, { bytes: bytes.length, sha256, rows: rows ?? file.rows });
  });
}

/** Changes the lines of a JSONL file and updates the manifest. */
export async function forgeLines(run: string, path: string, edit: (lines: string[]) => string[]): Promise<void> {
  const lines = edit((await readFile(join(run, path), "utf8")).split("\n").slice(0, -1));
  await writeFile(join(run, path), lines.map((line) => `${line}\n`).join(""));
  await mend(run, path, lines.length);
}

type Cells = (string | null)[];

/** Changes the rows of a CSV file, without its header, and updates the manifest. */
export async function forgeCsv(
  run: string,
  path: string,
  edit: (rows: Cells[], header: Cells) => Cells[],
): Promise<void> {
  const [header = [], ...old] = readCsv(await readFile(join(run, path), "utf8"));
  const rows = edit(
    old.map((row) => [...row]),
    [...header],
  );
  const cell = (text: string | null) => (text === null ? "" : `"${text.replaceAll('"', '""')}"`);
  const lines = [header.join(","), ...rows.map((row) => row.map(cell).join(","))];
  await writeFile(join(run, path), lines.map((line) => `${line}\n`).join(""));
  await mend(run, path, rows.length);
}

/** Replaces a Parquet file by the result of a query over the old one, `old`, and updates the manifest. */
export async function forgeParquet(run: string, path: string, select: string): Promise<void> {
  const [target, aside] = [join(run, path), join(run, `${path}.aside`)];
  const rows = await read(undefined, async (connection) => {
    await connection.run(`CREATE VIEW old AS SELECT *, row_number() OVER () AS nth FROM ${sqlText(target)}`);
    const copied = await connection.run(
      `COPY (SELECT * EXCLUDE (nth) FROM (${select})) TO ${sqlText(aside)} (FORMAT parquet)`,
    );
    return copied.rowsChanged;
  });
  await rename(aside, target);
  await mend(run, path, rows);
}

/** Runs statements on a database; returns the rows of the last one. */
export async function change(
  database: string,
  ...statements: readonly string[]
): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create(database);
  const connection = await instance.connect();
  try {
    let rows: readonly (readonly unknown[])[] = [];
    for (const sql of statements) rows = (await connection.runAndReadAll(sql)).getRowsJson();
    return rows;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Flips one bit in the middle of a file. */
export async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(path, bytes);
}
