// Measures the cost of the history in <job>.duckdb: `npm run build && node test/measure/history.mjs [chunks] [nights]`.
// Simulates nightly runs with chunks of 1.3 KB. Each night, 1 % of texts and 10 % of hit counts change; halfway, one document in a
// hundred is re-indexed. Prints the time of every update, the memory, and the size compared with a single run.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDatabase } from "../../dist/database/build-database.js";
import { selectRows } from "../../dist/dump/formats/jsonl.js";
import { columns } from "../../dist/rows/columns.js";

const [chunks = 100_000, nights = 30] = process.argv.slice(2).map(Number);
const perDocument = 500;
const dataset = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";

let seed = 42;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};
const below = (most) => Math.floor(random() * most);
const hex = (length) => Array.from({ length }, () => below(16).toString(16)).join("");
const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
const letters = "etaoinshrdlucmfwypvbgkjqxz";
const words = Array.from({ length: 20_000 }, () =>
  Array.from({ length: 2 + below(9) }, () => letters[Math.floor(random() ** 2 * 26)]).join(""),
);

function text(length) {
  let made = "";
  while (made.length < length) made += `${words[Math.floor(random() ** 3 * words.length)]} `;
  return made.trim();
}

function fresh(document_id, position) {
  const content = text(1300);
  const time = `2025-03-06T${String(below(24)).padStart(2, "0")}:${String(below(60)).padStart(2, "0")}:07Z`;
  return Object.assign(Object.fromEntries(columns.chunks.map(({ name }) => [name, null])), {
    ...{ dataset_id: dataset, document_id, id: uuid(), position, content, answer: "", word_count: content.length },
    ...{
      tokens: Math.round(content.length / 4),
      keywords: [words[below(500)], words[below(500)]],
      index_node_id: uuid(),
    },
    ...{ index_node_hash: hex(64), hit_count: below(40), enabled: true, status: "completed", created_by: dataset },
    ...{ created_at: time, updated_at: time, indexing_at: time, completed_at: time, attachments: [] },
    sign_content: process.env.SIGNED ? content : "",
  });
}

function night(rows, at) {
  for (let count = rows.length / 100; count > 0; count--) {
    const row = rows[below(rows.length)];
    row.content = text(1300);
    if (process.env.SIGNED) row.sign_content = row.content;
    row.updated_at = `2025-04-${String((at % 28) + 1).padStart(2, "0")}T02:00:00Z`;
  }
  for (let count = rows.length / 10; count > 0; count--) rows[below(rows.length)].hit_count += 1 + below(3);
  if (at !== Math.floor(nights / 2)) return;
  for (const row of rows.slice(0, rows.length / 100))
    Object.assign(row, { id: uuid(), index_node_id: uuid(), hit_count: 0 });
}

async function jsonl(path, rows) {
  const file = createWriteStream(path);
  for (const row of rows) if (!file.write(`${JSON.stringify(row)}\n`)) await once(file, "drain");
  file.end();
  await once(file, "close");
  return { paths: [path], longestLine: 100_000, longNumbers: false };
}

const folder = await mkdtemp(join(tmpdir(), "kbdump-measure-"));
try {
  const documents = Array.from({ length: Math.ceil(chunks / perDocument) }, uuid);
  const rows = Array.from({ length: chunks }, (_each, at) =>
    fresh(documents[Math.floor(at / perDocument)], (at % perDocument) + 1),
  );
  const path = join(folder, "job.duckdb");
  const documentRows = documents.map((document_id) => ({ dataset_id: dataset, document_id, status: "complete" }));
  const sizes = [];
  for (let at = 0; at <= nights; at++) {
    if (at > 0) night(rows, at);
    const files = {
      chunks: await jsonl(join(folder, "chunks.jsonl"), rows),
      documents: await jsonl(join(folder, "documents.jsonl"), documentRows),
    };
    const started_at = new Date(Date.UTC(2026, 0, 1 + at)).toISOString();
    const run = { run_id: started_at.replace(/[-:.]/g, ""), status: "complete", started_at, finished_at: started_at };
    const target = join(folder, "new.duckdb");
    const [begun, worked] = [performance.now(), process.cpuUsage()];
    const options = { memory: "800MB", temporary: join(folder, "spill"), waiting: [], target };
    const select = (kind) => files[kind] && selectRows(kind, files[kind], "JSON");
    const counts = { chunks, documents: documents.length };
    await buildDatabase(
      { run, select, rows: (kind) => counts[kind] ?? 0 },
      { ...options, previous: at > 0 ? path : undefined },
    );
    await rename(target, path);
    const seconds = (performance.now() - begun) / 1000;
    const { user, system } = process.cpuUsage(worked);
    const cpu = `${((user + system) / 1e6).toFixed(2)} s of a core`;
    sizes.push((await stat(path)).size);
    const ratio = (sizes.at(-1) / sizes[0]).toFixed(3);
    const memory = `${Math.round(process.resourceUsage().maxRSS / 1024)} MB at most`;
    process.stdout.write(
      `run ${at}: ${seconds.toFixed(2)} s, ${cpu}, ${(sizes.at(-1) / 1e6).toFixed(1)} MB, ${ratio} of one run, ${memory}\n`,
    );
  }
} finally {
  if (process.env.KEEP) process.stdout.write(`${folder}\n`);
  else await rm(folder, { recursive: true, force: true });
}
