// Measures `kbdump report` on a large dump: `npm run measure:report [chunks] [chunks per document]`.
// Creates a JSONL dump with chunks of 500 characters. Prints seconds, processor seconds and memory, with and without verification.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { columns, kinds } from "../../dist/rows/columns.js";

const [chunks = 1_000_000, perDocument = 1_000] = process.argv.slice(2).map(Number);
const dataset_id = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";
const uuid = (kind, at) => `${String(kind).padStart(8, "0")}-5d3e-4c6f-8a9b-${String(at).padStart(12, "0")}`;
const text = "A sentence of some length, with words in it. ".repeat(11);
const emptyRow = (kind) => Object.fromEntries(columns[kind].map(({ name }) => [name, null]));
const time = (at) => new Date(Date.UTC(2025, 0, 1) + at * 10_000).toISOString().replace(".000Z", "Z");

function* chunkRows() {
  for (let at = 0; at < chunks; at++) {
    const content = `${at % 50 === 0 ? "" : at} ${text}`;
    const ids = { dataset_id, document_id: uuid(2, Math.floor(at / perDocument)), id: uuid(3, at) };
    const texts = { content, word_count: content.length, tokens: 120, keywords: ["one", "two"], attachments: [] };
    const state = { position: (at % perDocument) + 1, hit_count: at % 7, enabled: at % 90 > 0, status: "completed" };
    yield {
      ...emptyRow("chunks"),
      ...ids,
      ...texts,
      ...state,
      created_at: time(at),
      updated_at: time(at + (at % 1000)),
    };
  }
}

const documents = Array.from({ length: Math.ceil(chunks / perDocument) }, (_, at) => {
  const total = Math.min(perDocument, chunks - at * perDocument);
  const ids = { dataset_id, document_id: uuid(2, at), doc_form: "text_model", status: "complete" };
  return { ...emptyRow("documents"), ...ids, total, chunk_count: total, child_chunk_count: 0, sweeps: 2 };
});

async function writeRows(folder, kind, rows) {
  const [path, hash] = [`${kind}.jsonl`, createHash("sha256")];
  const file = createWriteStream(join(folder, path));
  let [count, bytes] = [0, 0];
  for (const row of rows) {
    const line = Buffer.from(`${JSON.stringify(row)}\n`);
    hash.update(line);
    count++;
    bytes += line.length;
    if (!file.write(line)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
  return { path, rows: count, bytes, sha256: hash.digest("hex") };
}

async function writeDump(folder) {
  const all = { chunks: chunkRows(), documents };
  const files = [];
  for (const kind of kinds) files.push(await writeRows(folder, kind, all[kind] ?? []));
  const manifest = {
    format: 3,
    tool: { name: "kbdump", version: "1.0.0" },
    ...{ job: "large", run_id: "20260306T132000000Z", status: "complete" },
    ...{ started_at: "2026-03-06T13:20:00.000Z", finished_at: "2026-03-06T14:20:00.000Z", drift: {}, warnings: [] },
    service: { base_url: "https://kb.example.com/v1" },
    options: { output: { formats: ["jsonl"], csv_safe: false, compress: "none", partition: "none" } },
    counts: Object.fromEntries(kinds.map((kind, at) => [kind, files[at].rows])),
    requests: { sent: 1, retried: 0, throttled: 0, bytes: 1 },
    ...{ retries: {}, child_lists: [], proofs: [], documents, files },
  };
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
}

/** Creates a report in a separate process, and prints its time and memory. */
function measure(folder, name, ...flags) {
  const script = `process.argv = ["node", "kbdump", "report", ${JSON.stringify(folder)}, "--file", ${JSON.stringify(`${folder}.html`)}, "-q", ...${JSON.stringify(flags)}];
    process.on("exit", () => {
      const { user, system } = process.cpuUsage();
      const numbers = [performance.now() / 1e3, (user + system) / 1e6].map((seconds) => seconds.toFixed(1) + " s");
      process.stderr.write(numbers.join(", of a core ") + ", " + Math.round(process.resourceUsage().maxRSS / 1024) + " MB\\n");
    });
    await import(${JSON.stringify(new URL("../../dist/main.js", import.meta.url).href)});`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  process.stdout.write(`${name}: ${stderr}`);
}

const folder = await mkdtemp(join(tmpdir(), "kbdump-measure-"));
try {
  await writeDump(folder);
  measure(folder, "with verification");
  measure(folder, "without", "--no-verify");
} finally {
  await rm(folder, { recursive: true, force: true });
  await rm(`${folder}.html`, { force: true });
}
