import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { copyWithStatus } from "../../src/database/build-database.js";
import { StopError } from "../../src/errors.js";
import { expectCells } from "../dump/formats/cells.js";
import { plainFolder } from "../dump/formats/folder.js";
import { duckDbOptions } from "../dump/formats/formats.js";
import { shortNumberTables } from "../dump/formats/nasty-rows.js";
import { readTable } from "../dump/formats/read-back.js";
import { inFull } from "../rounds.js";
import { chunk, JobDatabase, read, reading, waitingFile } from "./job-database.js";
import { change, query } from "./query.js";

const newTarget = async () => join(await plainFolder(), "new.duckdb");
const capturedOf = (path: string) =>
  query("SELECT epoch_ms(captured_at)::VARCHAR, document_id FROM indexing_status ORDER BY rowid", path);

async function copy(
  previous: string | undefined,
  files: Parameters<typeof copyWithStatus>[2],
  target: string,
): Promise<void> {
  await copyWithStatus(previous, target, files, duckDbOptions(await plainFolder()));
}

describe("copyWithStatus", () => {
  it.runIf(inFull)("creates a database with nothing else in it if there was none", async () => {
    const target = await newTarget();
    await copy(undefined, [await waitingFile([reading("2025-03-06T13:20:00.5Z", "a")])], target);
    expect(await capturedOf(target)).toEqual([["1741267200500", "a"]]);
    expect(await query("SELECT count(*)::INTEGER FROM runs", target)).toEqual([[0]]);
  });

  it.runIf(inFull)("keeps everything in the database unchanged", async () => {
    const database = await JobDatabase.create();
    await database.run("r1", {
      chunks: [chunk("a", "a1")],
      documents: [read("a")],
      indexing_status: [reading("2025-03-06T13:20:00Z", "a")],
    });
    const before = await readFile(database.path);
    const target = await newTarget();
    await copy(
      database.path,
      [await waitingFile([reading("2025-03-06T13:20:00Z", "a"), reading("2025-03-06T13:20:00Z", "b")])],
      target,
    );
    expect(await capturedOf(target)).toEqual([
      ["1741267200000", "a"],
      ["1741267200000", "b"],
    ]);
    expect(await query("SELECT id, run_id FROM chunks", target)).toEqual([["a1", "r1"]]);
    expect(await query("SELECT run_id FROM runs", target)).toEqual([["r1"]]);
    expect(before.equals(await readFile(database.path))).toBe(true);
  });

  it.runIf(inFull)("adds the same file once, and the readings of one file in its order", async () => {
    const rows = Array.from({ length: 30 }, (_each, at) => reading(`2025-03-06T13:20:00.${100 + at}Z`, `d${30 - at}`));
    const files = [await waitingFile(rows), await waitingFile(rows.slice(5))];
    const [first, second] = [await newTarget(), await newTarget()];
    await copy(undefined, files, first);
    await copy(first, files, second);
    expect((await capturedOf(second)).map(([, document]) => document)).toEqual(
      rows.map(({ document_id }) => document_id),
    );
  });

  it.runIf(inFull)("keeps every value", async () => {
    const target = await newTarget();
    const rows = shortNumberTables.indexing_status;
    await copy(undefined, [await waitingFile(rows)], target);
    expectCells("indexing_status", await readTable(target, "indexing_status"), rows);
  });

  it.runIf(inFull)("creates the views, but keeps a user's table with the same name", async () => {
    const target = await newTarget();
    const older = await newTarget();
    await change("CREATE TABLE coverage AS SELECT 'mine' AS note", older);
    await copy(older, [await waitingFile([reading("2025-03-06T13:20:00Z", "a")])], target);
    expect(await query("FROM coverage", target)).toEqual([["mine"]]);
    expect(await query("SELECT document_id FROM status_timeline", target)).toEqual([["a"]]);
  });

  it.runIf(inFull)("makes a file that only its owner can read, and nothing beside it", async () => {
    const target = await newTarget();
    const previous = await newTarget();
    await copy(undefined, [], previous);
    await copy(previous, [await waitingFile([reading("2025-03-06T13:20:00Z", "a")])], target);
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(target, ".."))).toEqual(["new.duckdb"]);
  });

  it("refuses a file that is no database, by its name", async () => {
    const previous = await newTarget();
    await writeFile(previous, "notes");
    const failed = copy(previous, [], await newTarget());
    await expect(failed).rejects.toThrow(StopError);
    await expect(failed).rejects.toThrow(`${previous} cannot be read; move it away`);
  });
});
