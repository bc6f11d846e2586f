import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { finished, startKbdump } from "../cli/run-kbdump.js";
import { peakMemory } from "../run/peak-memory.js";
import { chunk } from "../verify/sound-tables.js";
import { tablesOf, twoDumps } from "./diff/dumps.js";

const chunks = 300_000;
/** The maximum memory in MB. If Node kept all rows, it would take ten times as much. */
const bound = 700;

/**
 * Fills a dump with `chunks` copies of its one chunk, with 500 characters each; in the older run, every thousandth has a
 * manual edit.
 */
async function fill(folder: string, side: "old" | "new"): Promise<void> {
  const path = join(folder, "chunks.jsonl");
  const row = JSON.parse(await readFile(path, "utf8"));
  const hash = createHash("sha256");
  let bytes = 0;
  function* lines() {
    for (let position = 1; position <= chunks; position++) {
      const isEdited = side === "old" && position % 1000 === 7;
      const digest = createHash("sha512").update(`${position}`).digest("hex");
      const content = `${isEdited ? "edited " : ""}${digest.repeat(4).slice(0, 490)}`;
      const updated_by = isEdited ? "7855fc8c-de4c-4458-a426-d832a857ab4e" : null;
      const line = Buffer.from(`${JSON.stringify({ ...row, id: randomUUID(), position, content, updated_by })}\n`);
      hash.update(line);
      bytes += line.length;
      yield line;
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(path));
  const manifestPath = join(folder, "manifest.json");
  const manifest = JSON.parse(await readFile(manifestPath, "utf8"));
  manifest.counts.chunks = chunks;
  manifest.documents[0] = { ...manifest.documents[0], total: chunks, chunk_count: chunks };
  const facts = { path: "chunks.jsonl", rows: chunks, bytes, sha256: hash.digest("hex") };
  manifest.files = manifest.files.map((file: { path: string }) => (file.path === facts.path ? facts : file));
  await writeFile(manifestPath, JSON.stringify(manifest));
}

test.runIf(process.platform === "linux")(
  `diff and restore compare two runs of a document of ${chunks} chunks within ${bound} MB`,
  async () => {
    const [old, fresh] = await twoDumps(tablesOf([chunk("d", "a")]), tablesOf([chunk("d", "b")]));
    await fill(old, "old");
    await fill(fresh, "new");
    for (const { command, exit } of [
      { command: ["diff", old, fresh], exit: 4 },
      { command: ["restore", old, "--against", fresh], exit: 0 },
    ]) {
      const child = startKbdump([...command, "--json", "--quiet"]);
      const done = finished(child);
      const peak = await peakMemory(child.pid, done);
      const { code, stdout, stderr } = await done;
      expect({ command, code, stderr }).toEqual({ command, code: exit, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({ lost: 300, manual_edits: 300 });
      expect(peak).toBeGreaterThan(100);
      expect(peak).toBeLessThan(bound);
    }
  },
  400_000,
);
