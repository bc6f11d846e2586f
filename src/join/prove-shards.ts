import { join } from "node:path";
import { fingerprint } from "../dump/files/join-parts.js";
import type { ManifestFile } from "../dump/manifest/manifest.js";
import type { DumpTable } from "../dump/manifest/tables.js";
import { type CheckedTable, UnsoundError } from "../dump/open-dump.js";
import type { ReadTally } from "../read-tally.js";
import { allKinds, type Kind } from "../rows/columns.js";
import { documentKey } from "../rows/document-row.js";
import type { DocumentList } from "../run/discover/document-list.js";
import { shardText } from "../words.js";
import { checkTable } from "./check-table.js";
import type { SharedList } from "./merge-lists.js";
import { type RowRange, scanRows } from "./scan-rows.js";
import { refusal, type ShardDump } from "./shard-dump.js";
import { ShardLists } from "./shard-lists.js";

/** The rows of a document in a file: a range of its text. */
export interface DocumentRange extends Omit<RowRange, "key"> {
  /** The place of the document in the manifest. */
  readonly document: number;
}

/** A file of the run of a shard, and the rows of its documents in it. */
export interface ScannedFile {
  readonly kind: Kind;
  /** Absolute. */
  readonly path: string;
  /** In the order of the file. */
  readonly ranges: readonly DocumentRange[];
  /** Whether there may be numbers of more digits than a double holds. */
  readonly longNumbers: boolean;
}

/** The run of a shard whose every byte is as its manifest says. */
export interface ProvedShard extends ShardDump {
  /** The rows of documents. */
  readonly files: readonly ScannedFile[];
  /** The rows that belong to no single document, and those of the documents themselves. */
  readonly tables: ReadonlyMap<Kind, CheckedTable>;
}

export interface ProvedShards {
  readonly shards: readonly ProvedShard[];
  /** The lists that they worked from, each once. */
  readonly lists: readonly SharedList[];
}

export interface ProveOptions {
  readonly tally: ReadTally;
  readonly signal: AbortSignal;
}

/**
 * Reads every byte of the shards of a run, and proves that each is as its manifest says, and that its documents are those of its
 * list that fall to it. StopError with everything that is wrong.
 */
export async function proveShards(shards: readonly ShardDump[], options: ProveOptions): Promise<ProvedShards> {
  const { tally } = options;
  for (const { dump } of shards)
    for (const { bytes } of [...dump.manifest.files, ...(dump.manifest.originals ?? [])]) tally.expected += bytes;
  const lists = new ShardLists();
  const proved: ProvedShard[] = [];
  const problems: string[] = [];
  for (const shard of shards) {
    tally.step = `checking ${shardText(shard.shard)}`;
    try {
      const list = await lists.check(shard);
      proved.push({ ...shard, ...(await checkFiles(shard, list, options)) });
      await checkOriginals(shard, options);
    } catch (error) {
      if (!(error instanceof UnsoundError)) throw error;
      problems.push(error.message.replaceAll("\n", "\n  "));
    }
  }
  if (problems.length > 0) throw refusal(problems);
  return { shards: proved, lists: lists.shared };
}

/** Kinds whose rows belong to one document each. */
const ofDocuments: readonly Kind[] = ["chunks", "child_chunks"];

async function checkFiles(
  shard: ShardDump,
  list: DocumentList,
  { tally, signal }: ProveOptions,
): Promise<Pick<ProvedShard, "files" | "tables">> {
  const { dump } = shard;
  const onBytes = (bytes: number) => {
    signal.throwIfAborted();
    tally.done += bytes;
  };
  const tables = new Map<Kind, CheckedTable>();
  const files: ScannedFile[] = [];
  for (const kind of allKinds) {
    const [table] = dump.tablesOf([kind]) ?? [];
    if (!table) continue;
    const checked = await dump.check(table, onBytes);
    if (ofDocuments.includes(kind)) {
      files.push(...(await scanTable(shard, table, checked, signal)));
      continue;
    }
    await checkTable(shard, list, table, checked, signal);
    tables.set(kind, checked);
  }
  return { files, tables };
}

/** The rows of a document that are still to be found. */
interface Expected {
  readonly document: number;
  rows: number;
}

/** Finds the rows of every document, and proves that they are as many as the manifest says. */
async function scanTable(
  { dump }: ShardDump,
  { kind, files }: DumpTable,
  { paths, longNumbers = true }: CheckedTable,
  signal: AbortSignal,
): Promise<readonly ScannedFile[]> {
  const column = kind === "chunks" ? "chunk_count" : "child_chunk_count";
  const left = new Map<string, Expected>();
  for (const [document, row] of dump.manifest.documents.entries())
    left.set(documentKey(row), { document, rows: row[column] });
  const scanned: ScannedFile[] = [];
  for (const [at, path] of paths.entries()) {
    const file = files[at];
    const ranges: DocumentRange[] = [];
    let end = 0;
    const refuse = (reason: string) => dump.unsound(`${file?.path}: ${reason}`);
    for await (const { key, ...range } of scanRows(path, { refuse, signal })) {
      const wanted = left.get(key);
      if (wanted?.rows !== range.lines)
        throw refuse(`has ${range.lines} rows of document ${idIn(key)} together, ${wanted?.rows ?? 0} are expected`);
      wanted.rows = 0; // more rows elsewhere are too many
      ranges.push({ document: wanted.document, ...range });
      end = range.start + range.bytes;
    }
    if (file && end !== (file.uncompressed ?? file).bytes) throw refuse("does not end with a line feed");
    scanned.push({ kind, path, ranges, longNumbers });
  }
  for (const [key, { rows }] of left)
    if (rows > 0) throw dump.unsound(`${kind}: has no rows of document ${idIn(key)}, ${rows} are expected`);
  return scanned;
}

function idIn(key: string): string {
  return String(JSON.parse(key)[1]);
}

async function checkOriginals({ dump }: ShardDump, { tally, signal }: ProveOptions): Promise<void> {
  const saved = (dump.manifest.originals ?? []).flatMap(({ path, bytes, sha256 }) =>
    path === null ? [] : [{ path, bytes, sha256 }],
  );
  await dump.checkSizes(saved satisfies readonly Pick<ManifestFile, "path" | "bytes">[]);
  for (const { path, bytes, sha256 } of saved) {
    signal.throwIfAborted();
    const found = await fingerprint(join(dump.folder, path));
    if (found.sha256 !== sha256) throw dump.unsound(`${path}: has another SHA-256 than the manifest says`);
    tally.done += bytes;
  }
}
