import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildFromStaged } from "../../../src/database/build-database.js";
import { jsonlText } from "../../../src/dump/formats/jsonl.js";
import { openWriter } from "../../../src/dump/formats/parquet.js";
import { ByteFacts } from "../../../src/files/byte-facts.js";
import { encodeLines } from "../../../src/files/lines.js";
import { chunk, read } from "../../database/job-database.js";
import { query, quoted } from "../../database/query.js";
import { plainFolder } from "./folder.js";
import { databaseOf } from "./formats.js";
import { type Stage, stageOf } from "./stage.js";

const memory = "200MB";
const count = 6000;

/** A stage of many chunks of 25 KB each, like parent chunks that contain whole documents. */
async function largeChunks(
  base: string,
  run_id: string,
  ids = "c",
  text = "the quick brown fox jumps over the lazy dog",
): Promise<Stage> {
  const stage = await stageOf(base, { documents: [read("a")] }, { run: { run_id } });
  const long = `${text} `.repeat(280);
  const path = join(base, "scratch", "chunks.jsonl");
  const file = await open(path, "w");
  const counted = new ByteFacts();
  for (let at = 0; at < count; at++) {
    const row = chunk("a", `${ids}${at}`, { position: at, content: `${at} ${long}`, sign_content: `${at} ${long}` });
    const bytes = encodeLines(jsonlText.texts("chunks", [row]));
    counted.add(bytes);
    await file.writeFile(bytes);
  }
  await file.close();
  const written = counted.facts;
  return {
    ...stage,
    rows: (kind) => (kind === "chunks" ? count : stage.rows(kind)),
    tables: stage.tables.map((table) =>
      table.kind === "chunks" ? { ...table, rows: count, jsonl: { path, ...written, text: written } } : table,
    ),
  };
}

const checked =
  "SELECT count(*)::INTEGER, count(DISTINCT content)::INTEGER, bool_and(starts_with(content, position::VARCHAR)), min(strlen(content))::INTEGER > 12000";

it("rows of many kilobytes fit into memory, and so do their changes when all have new ids and texts", {
  timeout: 120_000,
}, async () => {
  const base = await plainFolder();
  const stage = await largeChunks(base, "r1");
  expect(stage.tables[0]?.jsonl.bytes).toBeGreaterThan(count * 23_000);
  const options = { memory, temporary: join(base, "scratch", "spill") };

  await openWriter({ duckDb: options }).finish(stage);
  const parquet = `read_parquet(${quoted(join(stage.folder, "chunks.parquet"))})`;
  expect(await query(`${checked} FROM ${parquet}`)).toEqual([[count, count, true, true]]);

  const [target, previous] = [databaseOf(base), join(base, "previous.duckdb")];
  await buildFromStaged(stage, { ...options, previous: undefined, target, waiting: [] });
  expect(await query(`${checked} FROM chunks`, target)).toEqual([[count, count, true, true]]);

  await rename(target, previous);
  const next = await largeChunks(base, "r2", "d", "the slow brown fox walks around the lazy dog");
  await buildFromStaged(next, { ...options, previous, target, waiting: [] });
  expect(await query(`${checked} FROM chunk_changes WHERE change = 'changed'`, target)).toEqual([
    [count, count, true, true],
  ]);
});
