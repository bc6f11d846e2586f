import { join } from "node:path";
import { documentListFromText } from "../crawl/document-list.js";
import { shardOf } from "../crawl/shards.js";
import { listName, type ManifestShard, manifestName } from "../dump/manifest.js";
import { type Dump, openDump, UnsoundError } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";
import { readRegular } from "../files/files.js";
import { fingerprint } from "../files/join-segments.js";
import type { ReadProgress } from "../read-progress.js";
import { documentKey } from "../rows/row.js";
import { verifyRun } from "../verify/verify-run.js";
import { shardText } from "../words.js";
import { documentsIn, type SharedList } from "./merge-lists.js";

/** The run of a shard. */
export interface ShardDump {
  readonly dump: Dump;
  readonly shard: ManifestShard;
  /** In hex. */
  readonly manifestHash: string;
}

/** Opens runs of shards, in shard order. Throws UsageError if a run is not of a shard; StopError for damaged manifests. */
export async function openShards(folders: readonly string[]): Promise<readonly ShardDump[]> {
  const shards: ShardDump[] = [];
  const whole: string[] = [];
  await collectUnsound(folders, async (path) => {
    const dump = await openDump(path, "nothing was joined");
    const { shard } = dump.manifest;
    if (!shard) whole.push(path);
    else shards.push({ dump, shard, manifestHash: (await fingerprint(join(dump.folder, manifestName))).sha256 });
  });
  const message = "it is not a shard: it was made without --shard";
  const problems = whole.map((path) => ({ path, message }));
  if (problems.length > 0) throw new UsageError("Only shards can be joined:", problems);
  return shards.sort((one, other) => one.shard.index - other.shard.index);
}

/** Runs `work` on every item. Rejects at the end, with one StopError that names all damaged ones. */
async function collectUnsound<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const problems: string[] = [];
  for (const one of all)
    await work(one).catch((error: unknown) => {
      if (!(error instanceof UnsoundError)) throw error;
      problems.push(error.message.replaceAll("\n", "\n  "));
    });
  if (problems.length > 0) throw refusal(problems);
}

/** The error for shards that cannot be joined, with every reason. */
export function refusal(reasons: readonly string[]): StopError {
  return new StopError(
    `The shards cannot be joined, and nothing was published:\n${reasons.map((reason) => `  ${reason}`).join("\n")}`,
  );
}

interface ProveOptions {
  readonly progress: ReadProgress;
  readonly signal: AbortSignal;
}

/**
 * Verifies the shards of a run like `kbdump verify`, and checks that each has exactly its share of the listed documents. Returns
 * the lists that they used, each once. Throws StopError with every problem.
 */
export async function proveShards(
  shards: readonly ShardDump[],
  { progress, signal }: ProveOptions,
): Promise<readonly SharedList[]> {
  progress.expected += shards.map(bytesOf).reduce((sum, bytes) => sum + bytes, 0);
  const lists = new Map<string, KnownList>();
  await collectUnsound(shards, async ({ dump, shard }) => {
    progress.step = `checking ${shardText(shard)}`;
    const { findings } = await verifyRun(dump.folder, { signal, progress: bytesInto(progress) });
    const problems = findings.map(({ file, message }) => `${file}: ${message}`);
    if (problems.length > 0) throw dump.unsound(problems.join("\n  "));
    const list = lists.get(shard.list.sha256) ?? (await readList(dump, shard.count));
    lists.set(shard.list.sha256, list);
    requireOwnDocuments(dump, shard, list);
  });
  return [...lists.values()];
}

/** The bytes to read when verifying a shard: files are read twice, for hashes and for rows. */
function bytesOf({ dump }: ShardDump): number {
  const { files, originals = [] } = dump.manifest;
  return [...files, ...files, ...originals].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Adds the bytes that verify reads to the sum of all shards, and keeps the step. */
function bytesInto(whole: ReadProgress): ReadProgress {
  return {
    step: "",
    expected: 0,
    get done() {
      return whole.done;
    },
    set done(bytes) {
      whole.done = bytes;
    },
  };
}

/** A list, read once for all shards that share it. */
interface KnownList extends SharedList {
  readonly shards: number[];
  /** The document keys of each shard. */
  readonly documents: Map<number, string[]>;
}

async function readList(dump: Dump, count: number): Promise<KnownList> {
  const text = (await readRegular(join(dump.folder, listName))).toString("utf8");
  const { value, problems } = { value: undefined, ...documentListFromText(text) };
  const reasons = (problems ?? []).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  if (!value) throw dump.unsound(`${listName}: ${reasons.join("; ")}`);
  const documents = new Map<number, string[]>();
  for (const { key, datasetId, documentId } of documentsIn(value)) {
    const index = shardOf(datasetId, documentId, count);
    const own = documents.get(index);
    if (own) own.push(key);
    else documents.set(index, [key]);
  }
  return { list: value, shards: [], documents };
}

/** Checks that a shard has exactly its share of the listed documents. Throws UnsoundError if not. */
function requireOwnDocuments(dump: Dump, shard: ManifestShard, { shards, documents }: KnownList): void {
  const expected = documents.get(shard.index) ?? [];
  shards.push(shard.index);
  documents.delete(shard.index); // keys of a million documents take much memory
  const keys = dump.manifest.documents.map(documentKey);
  const longer = keys.length > expected.length ? keys : expected;
  const wrong = longer.findIndex((_, at) => keys[at] !== expected[at]);
  if (wrong < 0) return;
  const [, id] = JSON.parse(expected[wrong] ?? keys[wrong] ?? "[]");
  throw dump.unsound(
    `its documents are not those of ${listName} that fall to ${shardText(shard)}, each once; the first that differs is ${id}`,
  );
}
