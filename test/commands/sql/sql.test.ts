import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withDuckDb } from "../../../src/duckdb/open-duckdb.js";
import { runHere } from "../../cli/run-here.js";
import { finished, runKbdump, startKbdump } from "../../cli/run-kbdump.js";
import { query } from "../../database/query.js";
import { openKbdump } from "../../pseudo-terminal.js";
import { inFull } from "../../rounds.js";

const program = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

let dir = "";
let database = "";
beforeAll(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "kbdump-sql-")), "output");
  await mkdir(join(dir, "test", "runs"), { recursive: true });
  await mkdir(join(dir, "bare", "runs"), { recursive: true });
  database = join(dir, "test", "test.duckdb");
  await withDuckDb(database, { memory: "50MB", temporary: join(dir, "spill") }, async (connection) => {
    await connection.run("CREATE TABLE chunks AS SELECT i AS id, 'text ' || i AS content FROM range(1500) r(i)");
  });
});

afterAll(() => rm(dirname(dir), { recursive: true, force: true }));

test("a job's name, its folder and the file itself: the same table", async () => {
  const sql = "SELECT id, content FROM chunks WHERE id > 1497 ORDER BY id";
  const table = "  id  content\n1498  text 1498\n1499  text 1499\n\n2 rows\n";
  for (const source of ["test", join(dir, "test"), database])
    expect(await runHere(["sql", source, sql, "--out", dir])).toEqual({ code: 0, stdout: table, stderr: "" });
});

test("a table has the first 1,000 rows, or as many as --limit says, and reports that there are more", async () => {
  const cut = await runHere(["sql", database, "FROM chunks"]);
  expect(cut.stdout.trimEnd().split("\n").slice(-2)).toEqual(["", "1,000 rows; there are more, see --limit"]);
  const whole = await runHere(["sql", database, "FROM chunks", "--limit", "2000"]);
  expect(whole.stdout.trimEnd().split("\n").at(-1)).toBe("1,500 rows");
});

test.runIf(inFull)("--format json is an array, csv has a header, and both have all rows", async () => {
  const json = await runHere([
    "sql",
    database,
    "SELECT id, id * 0.5 AS half, NULL AS none FROM chunks",
    "--format",
    "json",
  ]);
  expect(json.stdout).toMatch(/^\[\n{"id":0,"half":0.0,"none":null},\n{"id":1,"half":0.5,"none":null},\n/);
  expect(JSON.parse(json.stdout)).toHaveLength(1500);
  const csv = await runHere([
    "sql",
    database,
    `SELECT NULL AS a, '' AS b, 'x"y,' AS c, [1] AS d, 12.50 AS e`,
    "--format=csv",
  ]);
  expect(csv.stdout).toBe('a,b,c,d,e\n,"","x""y,",[1],12.50\n');
  const empty = await runHere(["sql", database, "FROM chunks LIMIT 0", "--format", "json"]);
  expect(JSON.parse(empty.stdout)).toEqual([]);
});

test.runIf(inFull)("--format parquet writes the bytes of a file, with the types of the database", async () => {
  const file = join(dir, "result.parquet");
  const sql = "SELECT id, TIMESTAMPTZ '2025-03-06 13:20:00Z' AS moment, ['a'] AS words FROM chunks ORDER BY id";
  const written = await finished(
    spawn(
      "sh",
      [
        "-c",
        '"$@" > "$FILE"',
        "sh",
        process.execPath,
        program,
        "sql",
        database,
        sql,
        "--format",
        "parquet",
        "--limit",
        "1200",
      ],
      {
        env: { PATH: process.env.PATH, FILE: file },
      },
    ),
  );
  expect(written).toMatchObject({ code: 0, stdout: "", stderr: "" });
  const found = await query(
    `SELECT count(*)::INTEGER, max(id)::INTEGER, typeof(any_value(moment)), typeof(any_value(words)) FROM '${file}'`,
  );
  expect(found).toEqual([[1200, 1199, "TIMESTAMP WITH TIME ZONE", "VARCHAR[]"]]);
  const described = await runHere(["sql", database, "DESCRIBE chunks", "--format", "parquet"]);
  expect(described).toMatchObject({ code: 2, stderr: expect.stringContaining("parquet needs a query") });
  const terminal = openKbdump(["sql", database, "FROM chunks", "--format", "parquet"], { cwd: dir, columns: 80 });
  await terminal.shows("write it to a file");
  expect(await terminal.ended).toBe(2);
});

test("--json is one object with the columns", async () => {
  const { stdout } = await runHere(["sql", database, "SELECT id FROM chunks ORDER BY id", "--json", "--limit", "2"]);
  expect(JSON.parse(stdout)).toEqual({
    status: "ok",
    source: database,
    columns: [{ name: "id", type: "BIGINT" }],
    row_count: 2,
    truncated: true,
    rows: [{ id: 0 }, { id: 1 }],
  });
});

test("the statement may come from stdin", async () => {
  for (const args of [["-"], []]) {
    const stdin = Readable.from(["SELECT count(*)\n", Buffer.from("FROM chunks")]);
    expect((await runHere(["sql", database, ...args], {}, stdin)).stdout).toBe("count_star()\n        1500\n\n1 row\n");
  }
  expect((await runHere(["sql", database, "-- all\nSELECT count(*) AS n FROM chunks"])).stdout).toBe(
    "   n\n1500\n\n1 row\n",
  );
  const { code, stderr } = await runHere(["sql", database]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('<statement>: expected in quotes, such as "SELECT')]);
});

test("2, with the reason and the place", async () => {
  const file = join(dir, "text.txt");
  await writeFile(file, "no database");
  for (const [args, message] of [
    [[database, "SELECT nothing FROM chunks"], "kbdump: Binder Error: Referenced column"],
    [
      ["bare", "SELECT 1"],
      `kbdump: The job has no database:\n  bare: there is no ${join(dir, "bare", "bare.duckdb")}. Put duckdb into`,
    ],
    [["absent", "SELECT 1"], "kbdump: No such run or job:\n  absent: "],
    [[file, "SELECT 1"], `kbdump: No such run or job:\n  ${file}: it is a file, but neither a job file nor a database`],
    [[database, "SELECT 1", "--limit", "0", "--memory", "lots"], "--limit: got 0, expected a whole number from 1"],
    [[database, "SELECT 1", "--json", "--format", "csv"], "--json: it contradicts --format csv"],
  ] as const) {
    const { code, stdout, stderr } = await runHere(["sql", ...args, "--out", dir]);
    if (!args.some((arg) => arg === "--json")) expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});

test.runIf(inFull)("a database that another program has open for writing: 1, and what to do", async () => {
  await withDuckDb(database, { memory: "50MB", temporary: join(dir, "spill") }, async () => {
    const { code, stderr } = await runKbdump(["sql", database, "SELECT 1"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^kbdump: .* is open for writing in another program; close it/),
    ]);
  });
});

test.runIf(inFull)("Ctrl-C ends the statement with 130", async () => {
  const temporary = join(dir, "tmp");
  await mkdir(temporary);
  const endless = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE (a.range * b.range) % 7 = 3";
  const child = startKbdump(["sql", database, endless], { TMPDIR: temporary });
  const end = finished(child);
  await expect.poll(() => readdir(temporary), { timeout: 30_000 }).toHaveLength(1); // this folder shows that the command is opening the database
  child.kill("SIGINT");
  expect(await end).toEqual({ code: 130, stdout: "", stderr: "kbdump: interrupted by SIGINT\n" });
  expect(await readdir(temporary)).toEqual([]);
});
