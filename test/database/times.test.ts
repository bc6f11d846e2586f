import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { beforeAll, expect, it } from "vitest";
import { openWriter } from "../../src/dump/formats/parquet.js";
import { expectCells } from "../dump/formats/cells.js";
import { plainFolder } from "../dump/formats/folder.js";
import { duckDbOptions } from "../dump/formats/formats.js";
import { readParquetFile } from "../dump/formats/read-back.js";
import { stageOf } from "../dump/formats/stage.js";
import { inFull } from "../rounds.js";
import { chunk, JobDatabase, read, reading } from "./job-database.js";
import { query, quoted } from "./query.js";

const zone = "America/St_Johns"; // a half-hour offset, with daylight saving time

/** Times around both clock changes, where local times are skipped or repeated. */
const times = [
  "2025-03-09T05:29:59Z",
  "2025-03-09T05:30:00Z",
  "2025-03-09T06:00:00.5Z",
  "2025-11-02T04:15:00Z",
  "0001-01-01T00:00:00Z",
];
const chunks = times.map((created_at, at) => chunk("a", `c${at}`, { created_at }));

beforeAll(() => {
  process.env.TZ = zone; // DuckDB reads it when it loads; this test file has its own process
});

it("the session of DuckDB has another time zone than UTC here", async () => {
  expect(new Date(0).getHours()).toBe(20);
  expect(await query("SELECT current_setting('TimeZone')")).toEqual([[zone]]);
});

/** The rows of a query in a session with another time zone. */
async function readIn(session: string, sql: string, file: string): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  try {
    await connection.run(`SET TimeZone = '${session}'`);
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const sessions = ["UTC", zone, "Asia/Tokyo"];

it.runIf(inFull).each(sessions)("a session in %s finds rows that are younger than two hours", async (session) => {
  const database = await JobDatabase.create();
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const young = [60, 119, 121].map((minutes, at) => chunk("a", `c${at}`, { created_at: minutesAgo(minutes) }));
  await database.run("r1", { chunks: young, documents: [read("a")] });
  const sql = "SELECT count(*)::INTEGER FROM chunks WHERE created_at > now() - INTERVAL 2 hours";
  expect(await readIn(session, sql, database.path)).toEqual([[2]]);
});

it.runIf(inFull)(
  "times in the database are the same moments in the time zones of every writer and reader",
  async () => {
    const database = await JobDatabase.create();
    await database.run("r1", { chunks, documents: [read("a")] });
    await database.run("r2", {});
    for (const session of sessions) {
      const sql =
        "SELECT epoch_ms(created_at)::VARCHAR, strftime(created_at AT TIME ZONE 'UTC', '%xT%X.%g') FROM chunks ORDER BY id";
      expect(await readIn(session, sql, database.path)).toEqual(
        times.map((time) => [String(Date.parse(time)), new Date(time).toISOString().slice(0, -1)]),
      );
      const runs = await readIn(session, "SELECT epoch_ms(started_at)::VARCHAR FROM runs", database.path);
      expect(runs).toEqual([["1741267200000"], ["1741267200000"]]);
    }
  },
);

it.runIf(inFull)("the views count the same time in every zone, also over a change of the clock", async () => {
  const database = await JobDatabase.create();
  const [start, end] = ["2025-03-08T12:00:00Z", "2025-03-09T12:00:00.25Z"];
  const status = { indexing_status: "indexing", processing_started_at: start, parsing_completed_at: end };
  await database.run("r1", { indexing_status: [reading(start, "a", status), reading(end, "a", status)] });
  const sql = "SELECT parsing::VARCHAR, unmoved::VARCHAR, date_part('day', age) > 100 FROM status_timeline";
  for (const session of sessions)
    expect(await readIn(session, sql, database.path)).toEqual([["1 day 00:00:00.25", "1 day 00:00:00.25", true]]);
});

it("times in Parquet are adjusted to UTC", async () => {
  const base = await plainFolder();
  const stage = await stageOf(base, { chunks });
  await openWriter({ duckDb: duckDbOptions(base) }).finish(stage);
  expectCells("chunks", await readParquetFile(stage.folder, "chunks"), chunks);
  const file = quoted(join(stage.folder, "chunks.parquet"));
  const [type] = await query(`SELECT logical_type FROM parquet_schema(${file}) WHERE name = 'created_at'`);
  expect(String(type)).toContain("isAdjustedToUTC=1");
});
