import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunFacts, RunRow } from "../../../src/database/tables.js";
import { csvText } from "../../../src/dump/formats/csv.js";
import type { StagedRows, StagedTable } from "../../../src/dump/formats/format.js";
import { joinJsonl, jsonlText } from "../../../src/dump/formats/jsonl.js";
import { ByteFacts } from "../../../src/files/byte-facts.js";
import type { Compression } from "../../../src/files/compression.js";
import type { SegmentFile } from "../../../src/files/join-segments.js";
import { encodeLines } from "../../../src/files/lines.js";
import { allKinds, type Kind, type PerKind } from "../../../src/rows/columns.js";
import type { Row } from "../../../src/rows/row.js";

/** The rows of all tables, including the optional ones. */
export type Tables = PerKind<readonly Row[]>;

export const noRows: Tables = { chunks: [], child_chunks: [], documents: [], indexing_status: [], metadata_fields: [] };

export const someRun: RunRow = {
  run_id: "20250306T132000000Z",
  status: "complete",
  started_at: "2025-03-06T13:20:00.000Z",
  finished_at: "2025-03-06T13:20:01.250Z",
  base_url: "https://kb.example.com/v1",
  tool_version: "0.1.0",
  documents: 1,
  chunks: 2,
  child_chunks: 3,
  requests_sent: 4,
  requests_retried: 0,
  warnings: [],
};

export interface StageOptions {
  readonly run?: Partial<RunRow>;
  /** Whether to write CSV segments in addition to JSONL; `safe` for csv_safe. */
  readonly csv?: boolean | "safe";
  readonly rowsPerPart?: number;
  /** False: the JSONL is only an input for other formats and stays outside the run folder. */
  readonly publishJsonl?: boolean;
  readonly compress?: Compression;
}

/** The staged rows and facts that a run passes to the writers and the database. */
export type Stage = StagedRows & RunFacts;

/** Makes a stage below `base`, like a run does for its writers: segments of a few rows each, and the joined JSONL. */
export async function stageOf(base: string, tables: Partial<Tables>, options: StageOptions = {}): Promise<Stage> {
  const { run = {}, csv = false, rowsPerPart = 7, publishJsonl = false, compress = "none" } = options;
  const all: Tables = { ...noRows, ...tables };
  const folders = { segments: join(base, "segments"), stage: join(base, "stage"), scratch: join(base, "scratch") };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });

  const paths = new Map<string, SegmentFile[]>();
  for (const text of csv ? [jsonlText, csvText(csv === "safe")] : [jsonlText]) {
    for (const kind of allKinds) {
      const segments: SegmentFile[] = [];
      const given = all[kind] ?? [];
      const encode = () => encodedParts(given, rowsPerPart, (rows) => encodeLines(text.texts(kind, rows)));
      for (const [at, bytes] of remember(given, `${kind} ${text.format} ${csv} ${rowsPerPart}`, encode).entries()) {
        const path = join(folders.segments, `${at}.${kind}.${text.format}`);
        segments.push(await writtenPart(path, kind, text.format, bytes));
      }
      paths.set(`${kind}.${text.format}`, segments);
    }
  }
  const rows = (kind: Kind) => all[kind]?.length ?? 0;
  const joined: StagedTable[] = [];
  for (const kind of allKinds) {
    if (!all[kind]) continue;
    const segments = (format: string) => paths.get(`${kind}.${format}`) ?? [];
    const table = { kind, dataset: undefined, rows: rows(kind), segments };
    const jsonl = await joinJsonl(publishJsonl ? folders.stage : folders.scratch, table, {
      compression: publishJsonl ? compress : "none",
    });
    joined.push({ ...table, jsonl });
  }
  return { folder: folders.stage, compression: compress, tables: joined, rows, run: { ...someRun, ...run } };
}

const encoded = new WeakMap<readonly Row[], Map<string, readonly Uint8Array[]>>();

/** Caches encoded segments, because most format tests write the same rows. */
function remember(rows: readonly Row[], name: string, encode: () => readonly Uint8Array[]): readonly Uint8Array[] {
  const known = encoded.get(rows) ?? new Map<string, readonly Uint8Array[]>();
  const segments = known.get(name) ?? encode();
  encoded.set(rows, known.set(name, segments));
  return segments;
}

function encodedParts(
  rows: readonly Row[],
  rowsPerPart: number,
  encode: (rows: readonly Row[]) => Uint8Array,
): readonly Uint8Array[] {
  const count = Math.ceil(rows.length / rowsPerPart);
  return Array.from({ length: count }, (_, at) => encode(rows.slice(at * rowsPerPart, (at + 1) * rowsPerPart)));
}

/** Writes a segment like the crawl does. */
export async function writtenPart(path: string, kind: Kind, format: string, bytes: Uint8Array): Promise<SegmentFile> {
  await writeFile(path, bytes);
  const counted = new ByteFacts();
  counted.add(bytes);
  return { kind, format, path, ...counted.facts };
}
