// Measures how fast the facts of a report are had from a large dump: `npm run measure:report [chunks] [format]`.
// Makes a dump of chunks of 500 characters, in documents of 1,000, in JSONL or Parquet. Prints the seconds and the memory of every step.
// KEEP=folder keeps the dump there, or takes the one that is there; NO_VERIFY=1 leaves verify out.
import { once } from "node:events";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withSpill } from "../../dist/duckdb/open-duckdb.js";
import { openWriter } from "../../dist/dump/formats/parquet.js";
import { openDump } from "../../dist/dump/open-dump.js";
import { ByteFacts } from "../../dist/files/byte-facts.js";
import { emptyReadTally } from "../../dist/read-tally.js";
import { gatherChanges } from "../../dist/report/facts/changes.js";
import { factSourceOf } from "../../dist/report/facts/fact-source.js";
import { gatherFlaws } from "../../dist/report/facts/flaws.js";
import { gatherFreshness } from "../../dist/report/facts/freshness.js";
import { gatherHits, gatherLengths } from "../../dist/report/facts/hits.js";
import { gatherIndexing } from "../../dist/report/facts/indexing.js";
import { loadTables } from "../../dist/report/facts/load-tables.js";
import { gatherVerdict } from "../../dist/report/facts/verdict.js";
import { columns, kinds } from "../../dist/rows/columns.js";
import { verifyRun } from "../../dist/verify/verify-run.js";

const [count = "1000000", format = "jsonl"] = process.argv.slice(2);
const [chunks, perDocument] = [Number(count), 1000];
const dataset = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";
const uuid = (kind, at) => `${String(kind).padStart(8, "0")}-5d3e-4c6f-8a9b-${String(at).padStart(12, "0")}`;
const text = `${"A sentence of some length, with words in it. ".repeat(11)}`;
const emptyRow = (kind) => Object.fromEntries(columns[kind].map(({ name }) => [name, null]));
const time = (at) => new Date(Date.UTC(2025, 0, 1) + at * 10_000).toISOString().replace(".000Z", "Z");

function chunkAt(at) {
  const content = `${at % 50 === 0 ? "" : at} ${text}`;
  return {
    ...{ ...emptyRow("chunks"), dataset_id: dataset, document_id: uuid(2, Math.floor(at / perDocument)) },
    ...{
      id: uuid(3, at),
      position: (at % perDocument) + 1,
      content,
      answer: null,
      word_count: content.length,
      tokens: 120,
    },
    ...{
      keywords: ["one", "two"],
      index_node_id: uuid(4, at),
      hit_count: at % 7,
      enabled: at % 90 > 0,
      status: "completed",
    },
    ...{
      created_by: dataset,
      created_at: time(at),
      updated_at: time(at + (at % 1000)),
      attachments: [],
      sign_content: "",
    },
  };
}

/** Writes rows as a run does; gives the file as the manifest and the other formats want it. */
async function writeRows(folder, kind, rows) {
  const path = join(folder, `${kind}.jsonl`);
  const [file, facts] = [createWriteStream(path), new ByteFacts()];
  for (const row of rows) {
    const line = Buffer.from(`${JSON.stringify(row)}\n`);
    facts.add(line);
    if (!file.write(line)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
  return { path, rows: facts.facts.lines, ...facts.facts };
}

async function writeDump(folder) {
  await mkdir(folder, { recursive: true });
  const documents = Array.from({ length: Math.ceil(chunks / perDocument) }, (_, at) => ({
    ...{
      ...emptyRow("documents"),
      dataset_id: dataset,
      document_id: uuid(2, at),
      doc_form: "text_model",
      status: "complete",
    },
    ...{ chunk_count: Math.min(perDocument, chunks - at * perDocument), child_chunk_count: 0, sweeps: 2 },
    total: Math.min(perDocument, chunks - at * perDocument),
  }));
  const all = { chunks: chunkRows(), child_chunks: [], documents, indexing_status: [], metadata_fields: [] };
  const jsonl = {};
  for (const kind of kinds) jsonl[kind] = await writeRows(folder, kind, all[kind]);
  const options = { csvSafe: false, duckDb: { memory: "800MB", temporary: join(folder, "spill") } };
  const files =
    format === "parquet"
      ? await openWriter(options).finish({ folder, jsonl, rows: (kind) => jsonl[kind].rows, parts: () => [] })
      : kinds.map((kind) => ({ path: `${kind}.jsonl`, ...pick(jsonl[kind]) }));
  if (format === "parquet") for (const kind of kinds) await rm(jsonl[kind].path);
  const manifest = {
    ...{
      format: 3,
      tool: { name: "kbdump", version: "0.2.0" },
      job: "large",
      run_id: "20260306T132000000Z",
      status: "complete",
    },
    ...{ started_at: "2026-03-06T13:20:00.000Z", finished_at: "2026-03-06T14:20:00.000Z", drift: {}, warnings: [] },
    ...{
      service: { base_url: "https://kb.example.com/v1" },
      options: { output: { formats: [format], csv_safe: false } },
    },
    counts: Object.fromEntries(kinds.map((kind) => [kind, jsonl[kind].rows])),
    ...{ requests: { sent: 1, retried: 0, throttled: 0, bytes: 1 }, documents, files },
  };
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
}

const pick = ({ rows, bytes, sha256 }) => ({ rows, bytes, sha256 });

function* chunkRows() {
  for (let at = 0; at < chunks; at++) yield chunkAt(at);
}

const states = [gatherVerdict, gatherFreshness, gatherLengths, gatherIndexing];
const gathers = [...states, gatherChanges, gatherHits, gatherFlaws];

async function measure(step, work) {
  const [begun, worked] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const seconds = ((performance.now() - begun) / 1000).toFixed(2);
  const { user, system } = process.cpuUsage(worked);
  const memory = `${Math.round(process.resourceUsage().maxRSS / 1024)} MB at most`;
  process.stdout.write(`${step}: ${seconds} s, ${((user + system) / 1e6).toFixed(2)} s of a core, ${memory}\n`);
  return result;
}

const folder = process.env.KEEP ?? (await mkdtemp(join(tmpdir(), "kbdump-measure-")));
const signal = new AbortController().signal;
try {
  if (!existsSync(join(folder, "manifest.json"))) await writeDump(folder);
  const dump = await openDump(folder, "nothing was measured");
  const [file] = dump.filesOf(["chunks"]);
  await measure("every byte", async () => {
    for await (const _ of createReadStream(join(folder, file.path)));
  });
  await measure("dump.check", () => dump.check(file));
  await withSpill(":memory:", { memory: "800MB", signal }, async (connection) => {
    const options = { database: undefined, content: true, signal, tally: emptyReadTally() };
    const loaded = await measure("load the tables", () => loadTables(connection, dump, options));
    const source = factSourceOf(dump, loaded, options);
    for (const gather of gathers) await measure(gather.name, () => gather(connection, source, dump.manifest));
  });
  if (!process.env.NO_VERIFY) await measure("verifyRun", () => verifyRun(folder, { duckdb: false, memory: "800MB" }));
} finally {
  if (process.env.KEEP === undefined) await rm(folder, { recursive: true, force: true });
}
