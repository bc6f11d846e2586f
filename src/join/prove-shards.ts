import { createHash } from "node:crypto";
import { join } from "node:path";
import { shardOf } from "../crawl/discovery.js";
import { type DocumentList, documentListFromText } from "../crawl/document-list.js";
import { type DumpTable, listName, type ManifestFile } from "../dump/manifest.js";
import { type CheckedTable, UnsoundError } from "../dump/open-dump.js";
import { readRegular } from "../files/files.js";
import { fingerprint } from "../files/join-segments.js";
import { readTextPieces, splitLines } from "../files/lines.js";
import type { ReadProgress } from "../read-progress.js";
import { allKinds, type Kind } from "../rows/columns.js";
import { documentKey } from "../rows/row.js";
import { isMapping } from "../schema.js";
import { countOf, shardText } from "../words.js";
import { refusal, type ShardDump } from "./find-shards.js";
import type { SharedList } from "./merge-lists.js";

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

interface ProvedShards {
  readonly shards: readonly ProvedShard[];
  /** The lists that they worked from, each once. */
  readonly lists: readonly SharedList[];
}

interface ProveOptions {
  readonly progress: ReadProgress;
  readonly signal: AbortSignal;
}

/**
 * Reads every byte of the shards of a run, and proves that each is as its manifest says, and that its documents are those of its
 * list that fall to it. StopError with everything that is wrong.
 */
export async function proveShards(shards: readonly ShardDump[], options: ProveOptions): Promise<ProvedShards> {
  const { progress } = options;
  for (const { dump } of shards)
    for (const { bytes } of [...dump.manifest.files, ...(dump.manifest.originals ?? [])]) progress.expected += bytes;
  const lists = new ShardLists();
  const proved: ProvedShard[] = [];
  const problems: string[] = [];
  for (const shard of shards) {
    progress.step = `checking ${shardText(shard.shard)}`;
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
  { progress, signal }: ProveOptions,
): Promise<Pick<ProvedShard, "files" | "tables">> {
  const { dump } = shard;
  const onBytes = (bytes: number) => {
    signal.throwIfAborted();
    progress.done += bytes;
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

async function checkOriginals({ dump }: ShardDump, { progress, signal }: ProveOptions): Promise<void> {
  const saved = (dump.manifest.originals ?? []).flatMap(({ path, bytes, sha256 }) =>
    path === null ? [] : [{ path, bytes, sha256 }],
  );
  await dump.checkSizes(saved satisfies readonly Pick<ManifestFile, "path" | "bytes">[]);
  for (const { path, bytes, sha256 } of saved) {
    signal.throwIfAborted();
    const found = await fingerprint(join(dump.folder, path));
    if (found.sha256 !== sha256) throw dump.unsound(`${path}: has another SHA-256 than the manifest says`);
    progress.done += bytes;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** The rows that a shard is to have of a kind. */
interface Share {
  readonly has: (row: Fields) => boolean;
  /** No two rows have the same; undefined where rows have no id of their own. */
  readonly keyOf: ((row: Fields) => string) | undefined;
  /** The keys of rows that must be there. */
  readonly required: readonly string[];
}

/**
 * Proves that a table, other than chunks and child chunks, has the rows of this shard's documents or datasets alone, each once, and one
 * of each document that was listed. Rejects with UnsoundError where it has not.
 */
async function checkTable(
  shard: ShardDump,
  list: DocumentList,
  { kind, path, rows }: DumpTable,
  { paths }: CheckedTable,
  signal: AbortSignal,
): Promise<void> {
  const refuse = (reason: string) => shard.dump.unsound(`${path}: ${reason}`);
  const { has, keyOf, required } = shareOf(kind, shard, list);
  const seen = new Set<string>();
  let read = 0;
  for (const file of paths)
    for await (const lines of splitLines(readTextPieces(file))) {
      signal.throwIfAborted();
      for (const line of lines) {
        const row = fieldsOf(line);
        read++;
        if (!row || !has(row)) throw refuse(`row ${read} is not one of this shard`);
        const key = keyOf?.(row);
        if (key !== undefined && seen.has(key)) throw refuse(`row ${read} is there twice`);
        if (key !== undefined) seen.add(key);
      }
    }
  const missing = required.find((key) => !seen.has(key));
  if (missing !== undefined) throw refuse(`has no row of document ${JSON.parse(missing)[1]}`);
  if (read !== rows) throw refuse(`has ${countOf(read, "row")}, and the manifest says ${rows}`);
}

function shareOf(kind: Kind, { dump, shard }: ShardDump, list: DocumentList): Share {
  const { documents } = dump.manifest;
  const listed = new Set(list.datasets.filter(({ state }) => state !== "named").map(({ dataset_id: id }) => id));
  const ofDocuments = (keys: readonly string[], required: readonly string[]): Share => {
    const own = new Set(keys);
    return { has: (row) => own.has(documentKey(row)), keyOf: documentKey, required };
  };
  const ofDatasets = (keyOf: Share["keyOf"]): Share => {
    const { index, count } = shard;
    const own = new Set(list.datasets.map(({ dataset_id: id }) => id).filter((id) => shardOf(id, "", count) === index));
    return { has: ({ dataset_id: id }) => typeof id === "string" && own.has(id), keyOf, required: [] };
  };
  switch (kind) {
    case "document_info": {
      const keys = documents.filter(({ dataset_id: id }) => listed.has(id)).map(documentKey);
      return ofDocuments(keys, keys);
    }
    case "datasets":
      return ofDatasets(({ dataset_id: id }) => String(id));
    case "metadata_fields":
      return ofDatasets(({ dataset_id: id, position }) => JSON.stringify([id, position]));
    case "indexing_status":
      return ofDatasets(undefined);
    default: {
      const keys = documents.map(documentKey);
      return ofDocuments(keys, kind === "documents" ? keys : []);
    }
  }
}

/** The row in a line; undefined where it holds none. */
function fieldsOf(line: Buffer): Fields | undefined {
  try {
    const row: unknown = JSON.parse(line.toString("utf8"));
    return isMapping(row) ? row : undefined;
  } catch {
    return undefined;
  }
}

/** The rows of one document in a JSONL file: a range of its text. */
export interface RowRange {
  readonly key: string;
  readonly start: number;
  readonly bytes: number;
  readonly lines: number;
  /** Bytes, without the line feed. */
  readonly longestLine: number;
}

/** A run writes the columns in their order, and these are the first two of chunks and child chunks. */
const ids = /^\{"dataset_id":("(?:[^"\\]|\\.)*"),"document_id":("(?:[^"\\]|\\.)*"),/;

/** More than two ids take. */
const longestIds = 65_536;

/**
 * Finds the rows of each document in a JSONL file of chunks or child chunks, in the order of the file. A document whose rows do not
 * stand together has several ranges. Rejects with the error that `refuse` makes of a row that no run writes.
 */
export async function* scanRows(
  path: string,
  { refuse, signal }: { readonly refuse: (reason: string) => Error; readonly signal: AbortSignal },
): AsyncGenerator<RowRange> {
  let begin: Buffer | undefined;
  let range = { key: "", start: 0, bytes: 0, lines: 0, longestLine: 0 };
  let row = 0;
  for await (const lines of splitLines(readTextPieces(path))) {
    signal.throwIfAborted();
    for (const line of lines) {
      row++;
      if (!begin?.equals(line.subarray(0, begin.length))) {
        const start = range.start + range.bytes;
        if (range.lines > 0) yield range;
        const found = ids.exec(line.toString("latin1", 0, longestIds));
        if (!found) throw refuse(`row ${row} does not begin with its dataset and document`);
        begin = Buffer.from(found[0], "latin1");
        range = { key: keyIn(begin), start, bytes: 0, lines: 0, longestLine: 0 };
      }
      range.bytes += line.length + 1;
      range.lines++;
      range.longestLine = Math.max(range.longestLine, line.length);
    }
  }
  if (range.lines > 0) yield range;
}

/** The key of the document that the beginning of a row names. */
function keyIn(begin: Buffer): string {
  const { dataset_id, document_id } = JSON.parse(`${begin.toString("utf8", 0, begin.length - 1)}}`);
  return documentKey({ dataset_id, document_id });
}

/** The lists of the shards: those that are the same are read once. */
class ShardLists {
  readonly #known = new Map<string, KnownList>();

  get shared(): readonly SharedList[] {
    return [...this.#known.values()];
  }

  /** Proves that the documents of a shard are those of its list that fall to it; gives the list. Rejects with UnsoundError where they are not. */
  async check(shard: ShardDump): Promise<DocumentList> {
    const { dump } = shard;
    const { list, documents: expected } = await this.#read(shard);
    const keys = dump.manifest.documents.map(documentKey);
    const wrong = keys.findIndex((key, at) => key !== expected[at]);
    const isSame = wrong < 0 && keys.length === expected.length && new Set(keys).size === keys.length;
    if (isSame) return list;
    const [, id] = JSON.parse(expected[wrong < 0 ? keys.length : wrong] ?? keys[wrong] ?? "[]");
    throw dump.unsound(
      `its documents are not those of ${listName} that fall to ${shardText(shard.shard)}, each once${id === undefined ? "" : `; the first that differs is ${id}`}`,
    );
  }

  /** The list of a shard, and its documents that fall to the shard. Rejects with UnsoundError where the file is not that of the manifest. */
  async #read({
    dump,
    shard,
  }: ShardDump): Promise<Pick<KnownList, "list"> & { readonly documents: readonly string[] }> {
    const { index, count, list } = shard;
    await dump.checkSizes([{ path: listName, bytes: list.bytes }]);
    const bytes = await readRegular(join(dump.folder, listName));
    if (createHash("sha256").update(bytes).digest("hex") !== list.sha256)
      throw dump.unsound(`${listName}: has another SHA-256 than the manifest says`);
    const known = this.#known.get(list.sha256) ?? knownList(bytes.toString("utf8"), count);
    if ("problems" in known) throw dump.unsound(`${listName}: ${known.problems}`);
    known.shards.push(index);
    this.#known.set(list.sha256, known);
    const documents = known.documents.get(index) ?? [];
    known.documents.delete(index); // keys of a million documents take much memory
    return { list: known.list, documents };
  }
}

interface KnownList extends SharedList {
  readonly shards: number[];
  /** The keys of the documents of each shard. */
  readonly documents: Map<number, readonly string[]>;
}

function knownList(text: string, count: number): KnownList | { readonly problems: string } {
  const { value, problems } = { value: undefined, ...documentListFromText(text) };
  if (!value)
    return {
      problems: problems?.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ") ?? "",
    };
  return { list: value, shards: [], documents: documentsByShard(value, count) };
}

function documentsByShard({ datasets }: DocumentList, count: number): Map<number, readonly string[]> {
  const documents = new Map<number, string[]>();
  for (const { dataset_id, documents: ids } of datasets)
    for (const document_id of ids) {
      const index = shardOf(dataset_id, document_id, count);
      const own = documents.get(index) ?? [];
      own.push(documentKey({ dataset_id, document_id }));
      documents.set(index, own);
    }
  return documents;
}
