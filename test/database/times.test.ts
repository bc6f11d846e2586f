import { DuckDBInstance } from "@duckdb/node-api";
import { beforeAll, expect, it } from "vitest";
import { openWriter } from "../../src/dump/formats/parquet/write.js";
import { expectCells } from "../dump/formats/cells.js";
import { plainFolder } from "../dump/formats/folder.js";
import { duckDbOptions } from "../dump/formats/formats.js";
import { readParquetFile } from "../dump/formats/read-back.js";
import { stageOf } from "../dump/formats/stage.js";
import { chunk, JobDatabase, read } from "./job-database.js";
import { query } from "./query.js";

const zone = "America/St_Johns"; // half an hour off, with summer time

/** Around both changes of the clock, where local times do not exist or exist twice. */
const times = [
  "2025-03-09T05:29:59Z",
  "2025-03-09T05:30:00Z",
  "2025-03-09T06:00:00.5Z",
  "2025-11-02T04:15:00Z",
  "0001-01-01T00:00:00Z",
];
const chunks = times.map((created_at, at) => chunk("a", `c${at}`, { created_at }));

beforeAll(() => {
  process.env.TZ = zone; // of this process alone: DuckDB takes it up when it is loaded
});

it("the session of DuckDB has another time zone than UTC here", async () => {
  expect(new Date(0).getHours()).toBe(20);
  expect(await query("SELECT current_setting('TimeZone')")).toEqual([[zone]]);
});

it("times in the database are UTC, whatever the zone of the one who wrote it and of the one who reads it", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", { chunks, documents: [read("a")] });
  await database.run("r2", {});
  const instance = await DuckDBInstance.create(database.path, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  for (const session of ["UTC", zone, "Asia/Kolkata"]) {
    await connection.run(`SET TimeZone = '${session}'`);
    const found = await connection.runAndReadAll(
      "SELECT epoch_ms(created_at)::VARCHAR, strftime(created_at, '%xT%X.%g') FROM chunks ORDER BY id",
    );
    expect(found.getRowsJson()).toEqual(
      times.map((time) => [String(Date.parse(time)), new Date(time).toISOString().slice(0, -1)]),
    );
    const runs = await connection.runAndReadAll("SELECT epoch_ms(started_at)::VARCHAR FROM runs");
    expect(runs.getRowsJson()).toEqual([["1741267200000"], ["1741267200000"]]);
  }
  connection.closeSync();
  instance.closeSync();
});

it("times in Parquet are UTC", async () => {
  const base = await plainFolder();
  const stage = await stageOf(base, { chunks });
  await openWriter({ duckDb: duckDbOptions(base) }).finish(stage);
  expectCells("chunks", await readParquetFile(stage.folder, "chunks"), chunks);
});
