import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type QuerySource, queryDatabase } from "../../../src/commands/sql/database.js";
import type { QueryColumn, QueryRow } from "../../../src/commands/sql/statement.js";
import { withDuckDb } from "../../../src/duckdb/open-duckdb.js";
import { InterruptedError, UsageError } from "../../../src/errors.js";
import { jsonText } from "../../../src/rows/exact-json.js";
import { plainFolder } from "../../dump/formats/folder.js";
import { inFull } from "../../rounds.js";
import { testFolder } from "../../run/job-for.js";
import { soundTables } from "../../verify/sound-tables.js";
import { writeDump } from "../../verify/write-dump.js";

const signal = new AbortController().signal;
const options = { memory: "200MB", signal, limit: undefined };

async function makeDatabase(folder: string): Promise<string> {
  const path = join(folder, "test.duckdb");
  await withDuckDb(path, { memory: "200MB", temporary: join(folder, "spill") }, async (connection) => {
    await connection.run("CREATE TABLE chunks AS SELECT i AS id, 'text ' || i AS content FROM range(3000) r(i)");
    await connection.run("CREATE VIEW counted AS SELECT count(*) AS n FROM chunks");
  });
  return path;
}

interface Answer {
  readonly columns: readonly QueryColumn[];
  readonly rows: readonly QueryRow[];
  readonly rowCount: number;
  readonly isCut: boolean;
}

/** Runs a query and collects all rows. */
function ask(source: QuerySource, sql: string, limit?: number, memory = "200MB"): Promise<Answer> {
  return queryDatabase(source, sql, { ...options, memory, limit }, async ({ columns, rows, rowCount, isCut }) => {
    const all: QueryRow[] = [];
    for await (const some of rows) all.push(...some);
    return { columns, rows: all, rowCount, isCut };
  });
}

let database = "";
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kbdump-sql-"));
  database = await makeDatabase(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));
const rowsOf = async (sql: string) => (await ask({ database }, sql)).rows;

test.runIf(inFull)(
  "a query returns its rows in order, up to the limit, and reports whether there are more",
  async () => {
    expect(await ask({ database }, "SELECT id, content FROM chunks ORDER BY id DESC; -- the last ones", 2)).toEqual({
      columns: [
        { name: "id", type: "BIGINT" },
        { name: "content", type: "VARCHAR" },
      ],
      rows: [
        [2999, "text 2999"],
        [2998, "text 2998"],
      ],
      rowCount: 2,
      isCut: true,
    });
    const all = await ask({ database }, "FROM chunks ORDER BY id");
    expect([all.rows.length, all.rows[2999], all.rowCount, all.isCut]).toEqual([
      3000,
      [2999, "text 2999"],
      3000,
      false,
    ]);
    expect(await rowsOf("FROM counted")).toEqual([[3000]]);
    expect(await rowsOf("VALUES (1), (2)")).toEqual([[1], [2]]);
    expect(await rowsOf("PIVOT (SELECT 'a' AS k, 2 AS v) ON k IN ('a') USING sum(v)")).toEqual([[2]]);
  },
);

test.each([
  ["DESCRIBE chunks", 2],
  ["SHOW TABLES", 2],
  ["SUMMARIZE chunks", 2],
  ["EXPLAIN SELECT 1", 1],
  ["PRAGMA database_list", 1],
])("%s is answered, too", async (sql, count) => {
  expect(await rowsOf(sql)).toHaveLength(count);
});

test.each([
  ["9007199254740993", "9007199254740993"],
  ["170141183460469231731687303715884105727::HUGEINT", "170141183460469231731687303715884105727"],
  ["12.50::DECIMAL(10, 2)", "12.50"],
  ["0.1::DOUBLE", "0.1"],
  ["'NaN'::DOUBLE", '"NaN"'],
  ["true", "true"],
  ["NULL", "null"],
  ["TIMESTAMP '2026-11-20 02:00:00.5'", '"2026-11-20T02:00:00.5"'],
  ["TIMESTAMPTZ '2026-11-20 02:00:00+01'", '"2026-11-20T01:00:00Z"'],
  ["TIMESTAMP_NS '2026-11-20 02:00:00.123456789'", '"2026-11-20T02:00:00.123456789"'],
  ["'infinity'::TIMESTAMP", '"infinity"'],
  ["DATE '2026-11-20'", '"2026-11-20"'],
  ["INTERVAL '26 hours'", '"26:00:00"'],
  ["[1, NULL, 9007199254740993]", "[1,null,9007199254740993]"],
  ["{'a': 1, 'at': TIMESTAMP '2026-11-20 02:00:00'}", '{"a":1,"at":"2026-11-20T02:00:00"}'],
  ["MAP {'k': [1.5], 'l': []}", '{"k":[1.5],"l":[]}'],
  ["array_value(1, 2)", "[1,2]"],
  ["union_value(n := 2)", "2"],
  [`'{"x": 1.0, "id": 9007199254740993}'::JSON`, '{"x":1,"id":9007199254740993}'],
  ["'4f6b1b8e-1d6c-4c39-9a3f-6c8a1f3e2d10'::UUID", '"4f6b1b8e-1d6c-4c39-9a3f-6c8a1f3e2d10"'],
])("%s is %s in JSON", async (sql, json) => {
  const [row = []] = await rowsOf(`SELECT ${sql}`);
  expect(jsonText(row[0])).toBe(json);
});

describe("only reading", () => {
  const out = join(tmpdir(), "kbdump-sql-must-not-be-there");

  test.each([
    `COPY chunks TO '${out}'`,
    `EXPLAIN ANALYZE COPY chunks TO '${out}'`,
    `EXPORT DATABASE '${out}'`,
    `ATTACH '${out}' AS other`,
    `SET log_query_path = '${out}'`,
    `PRAGMA profiling_output = '${out}'`,
    `CALL enable_logging(storage = 'file', storage_path = '${out}')`,
    `FROM enable_logging(storage := 'file', storage_path := '${out}')`,
    "CREATE PERSISTENT SECRET s (TYPE http)",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT * FROM read_text('package.json')",
    "FROM 'package.json'",
    "FROM glob('*')",
    "INSERT INTO chunks VALUES (1, 'a')",
    "DELETE FROM chunks",
    "CREATE TABLE other AS FROM chunks",
    "CREATE TEMP TABLE other AS FROM chunks",
    "SET lock_configuration = false",
    "SET memory_limit = '1TB'",
    "RESET enable_external_access",
    "CHECKPOINT",
    "DETACH test",
    "SELECT 1; SELECT 2",
    "PIVOT chunks ON content USING count(*)",
    "SELECT ?",
    "",
    "-- nothing",
  ])("refused: %s", async (sql) => {
    await expect(ask({ database }, sql)).rejects.toThrow(UsageError);
    expect(existsSync(out)).toBe(false);
  });

  test("the reason names the allowed statements", async () => {
    await expect(ask({ database }, `COPY chunks TO '${out}'`)).rejects.toThrow(
      /^Permission Error: .*\nkbdump sql only reads: /,
    );
    await expect(ask({ database }, "DELETE FROM chunks")).rejects.toThrow(
      "is refused: kbdump sql only reads: no files,",
    );
    await expect(ask({ database }, "SELECT 1; SELECT 2")).rejects.toThrow("expected one statement, got 2");
  });
});

test.each([
  ["SELECT nothing FROM chunks", /^Binder Error: .*\n.*\nLINE 1: SELECT nothing FROM chunks\n +\^$/],
  ["SELEC 1", /^Parser Error: syntax error at or near "SELEC"\nLINE 1: SELEC 1\n +\^$/],
  ["SELECT content::INT FROM chunks", /^Conversion Error: Could not convert string 'text \d+' to INT32/],
  ["SELECT CASE WHEN i = 500000 THEN error('boom') END FROM range(1000000) r(i)", /^Invalid Input Error: boom$/],
])("%s: DuckDB's reason, without a word of ours in it", async (sql, message) => {
  const error = await ask({ database }, sql).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(String(error).replace("UsageError: ", "")).toMatch(message);
  expect(String(error)).not.toContain("kbdump_");
});

test.runIf(inFull)("a result larger than the memory spills to disk and leaves no file behind", async () => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith("kbdump-duckdb-"));
  let count = 0;
  const sql = "SELECT i, repeat('x', 1000) || i AS t FROM range(130000) r(i)";
  await queryDatabase({ database }, sql, { ...options, memory: "100MB" }, async ({ rows }) => {
    for await (const some of rows) count += some.length;
  });
  expect(count).toBe(130_000);
  expect(readdirSync(folder).filter((name) => name.includes("duckdb"))).toEqual(["test.duckdb"]);
  const after = readdirSync(tmpdir()).filter((name) => name.startsWith("kbdump-duckdb-"));
  expect(after.filter((name) => !before.includes(name)).length).toBeLessThanOrEqual(1); // a test that runs at the same time may add a file
});

test("an abort ends the statement", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new InterruptedError("SIGINT")), 100);
  const sql = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE (a.range * b.range) % 7 = 3";
  const asked = queryDatabase({ database }, sql, { ...options, signal: controller.signal }, async () => {});
  await expect(asked).rejects.toThrow("interrupted by SIGINT");
});

test.runIf(inFull)("a database that is replaced during a query is read to its end", async () => {
  const place = await testFolder();
  const [path, next] = [await makeDatabase(place), join(place, "next.duckdb")];
  await withDuckDb(next, { memory: "200MB", temporary: join(place, "spill") }, async (connection) => {
    await connection.run("CREATE TABLE chunks AS SELECT 1 AS id");
  });
  const count = await queryDatabase({ database: path }, "FROM chunks", options, async ({ rows }) => {
    await rename(next, path);
    let count = 0;
    for await (const some of rows) count += some.length;
    return count;
  });
  expect(count).toBe(3000);
  expect((await ask({ database: path }, "FROM chunks")).rows).toEqual([[1]]);
});

test("names a file that cannot be opened", async () => {
  const place = await testFolder();
  const [gone, text] = [join(place, "gone.duckdb"), join(place, "text.duckdb")];
  await writeFile(text, "no database, but long enough to have a header of its own".repeat(100));
  await expect(ask({ database: gone }, "SELECT 1")).rejects.toThrow(`${gone}: there is no such file`);
  await expect(ask({ database: text }, "SELECT 1")).rejects.toThrow(`${text}: it is not a DuckDB database`);
});

test.runIf(inFull)("of a run folder, the files that the statement names are asked", async () => {
  const run = await writeDump(await plainFolder(), soundTables);
  const { rows } = await ask({ folder: run }, "SELECT count(*) FROM chunks JOIN documents USING (document_id)");
  expect(rows).toEqual([[soundTables.chunks.length]]);
  await expect(ask({ folder: run }, "SELECT * FROM edits")).rejects.toThrow("Table with name edits does not exist");
  await writeFile(join(run, "chunks.jsonl"), "{}");
  await expect(ask({ folder: run }, "FROM chunks")).rejects.toThrow("is not sound, so nothing was asked");
  expect((await ask({ folder: run }, "SELECT count(*) > 0 FROM documents")).rows).toEqual([[true]]);
});
