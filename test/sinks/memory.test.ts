import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ByteFacts } from "../../src/sinks/byte-facts.js";
import { duckDbSink } from "../../src/sinks/duckdb.js";
import { encodeLines } from "../../src/sinks/encode-lines.js";
import { jsonlText } from "../../src/sinks/jsonl.js";
import { parquetSink } from "../../src/sinks/parquet.js";
import type { Stage } from "../../src/sinks/sink.js";
import { plainFolder } from "./folder.js";
import { databaseOf } from "./formats.js";
import { chunk, read } from "./job-database.js";
import { query, quoted } from "./query.js";
import { stageOf } from "./stage.js";

const memory = "200MB";
const count = 6000;

/** A stage of many chunks of 25 KB each: contents of whole documents, as full-document parents have. */
async function largeChunks(base: string): Promise<Stage> {
  const stage = await stageOf(base, { documents: [read("a")] });
  const text = "the quick brown fox jumps over the lazy dog ".repeat(280);
  const path = join(base, "scratch", "chunks.jsonl");
  const file = await open(path, "w");
  const counted = new ByteFacts();
  for (let at = 0; at < count; at++) {
    const row = chunk("a", `c${at}`, { position: at, content: `${at} ${text}`, sign_content: `${at} ${text}` });
    const bytes = encodeLines(jsonlText.texts("chunks", [row]));
    counted.add(bytes);
    await file.writeFile(bytes);
  }
  await file.close();
  const chunks = { path, ...counted.facts };
  return {
    ...stage,
    rows: (kind) => (kind === "chunks" ? count : stage.rows(kind)),
    jsonl: { ...stage.jsonl, chunks },
  };
}

const checked =
  "SELECT count(*)::INTEGER, count(DISTINCT content)::INTEGER, bool_and(starts_with(content, position::VARCHAR)), min(strlen(content))::INTEGER > 12000";

it("rows of many kilobytes need no more memory than there is", async () => {
  const base = await plainFolder();
  const stage = await largeChunks(base);
  expect(stage.jsonl.chunks.bytes).toBeGreaterThan(140_000_000);
  const options = { memory, temporary: join(base, "scratch", "spill") };

  await parquetSink(options).finish(stage);
  const parquet = `read_parquet(${quoted(join(stage.folder, "chunks.parquet"))})`;
  expect(await query(`${checked} FROM ${parquet}`)).toEqual([[count, count, true, true]]);

  await duckDbSink({ ...options, previous: undefined, target: databaseOf(base), waiting: [] }).finish(stage);
  expect(await query(`${checked} FROM chunks`, databaseOf(base))).toEqual([[count, count, true, true]]);
});
