import { join } from "node:path";
import { shardOf } from "../crawl/discovery.js";
import { documentListFromText } from "../crawl/document-list.js";
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

/** The consequence of an unsound shard, in errors. */
const consequence = "nothing was joined";

/** Opens runs of shards. Throws one error for all: UsageError for a run of no shard, UnsoundError for manifests that are not sound. */
export async function openShards(folders: readonly string[]): Promise<readonly ShardDump[]> {
  const shards: ShardDump[] = [];
  const unsound: UnsoundError[] = [];
  const whole: string[] = [];
  for (const folder of folders) {
    const dump = await openDump(folder, consequence).catch((error: unknown) => {
      if (error instanceof UnsoundError) unsound.push(error);
      else throw error;
    });
    if (!dump) continue;
    const { shard } = dump.manifest;
    if (!shard) whole.push(folder);
    else shards.push({ dump, shard, manifestHash: (await fingerprint(join(dump.folder, manifestName))).sha256 });
  }
  if (whole.length > 0) {
    const message = "it is no shard: it was made without --shard";
    throw new UsageError(
      "Only shards can be joined:",
      whole.map((path) => ({ path, message })),
    );
  }
  const [first] = unsound;
  if (first) throw unsound.length === 1 ? first : refusal(unsound.map(({ message }) => message));
  return shards.sort((one, other) => one.shard.index - other.shard.index);
}

/** The error of shards that cannot be joined, with every reason. */
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
 * Verifies the shards of a run as `kbdump verify` does, and that the documents of each are those of its list that fall to it. Gives the
 * lists that they worked from, each once. StopError with everything that is wrong.
 */
export async function proveShards(
  shards: readonly ShardDump[],
  { progress, signal }: ProveOptions,
): Promise<readonly SharedList[]> {
  progress.expected += shards.map(bytesOf).reduce((sum, bytes) => sum + bytes, 0);
  const lists = new ShardLists();
  const problems: string[] = [];
  for (const shard of shards) {
    const { dump } = shard;
    progress.step = `checking ${shardText(shard.shard)}`;
    try {
      const { findings } = await verifyRun(dump.folder, { signal, progress: bytesInto(progress) });
      if (findings.length > 0)
        throw dump.unsound(findings.map(({ file, message }) => `${file}: ${message}`).join("\n  "));
      await lists.check(shard);
    } catch (error) {
      if (!(error instanceof UnsoundError)) throw error;
      problems.push(error.message.replaceAll("\n", "\n  "));
    }
  }
  if (problems.length > 0) throw refusal(problems);
  return lists.shared;
}

/** The bytes that are read to verify a shard: files twice, for their hashes and for their rows. */
function bytesOf({ dump }: ShardDump): number {
  const { files, originals = [] } = dump.manifest;
  return [...files, ...files, ...originals].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Counts the bytes that verify reads, and keeps the step and the sum of all shards. */
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

/** The lists of the shards: those that are the same are read once. */
class ShardLists {
  readonly #known = new Map<string, KnownList>();

  get shared(): readonly SharedList[] {
    return [...this.#known.values()];
  }

  /** Proves that the documents of a shard are those of its list that fall to it. Rejects with UnsoundError where they are not. */
  async check({ dump, shard }: ShardDump): Promise<void> {
    const { index, count, list } = shard;
    const known = this.#known.get(list.sha256) ?? (await readList(dump, count));
    this.#known.set(list.sha256, known);
    known.shards.push(index);
    const expected = known.documents.get(index) ?? [];
    known.documents.delete(index); // keys of a million documents take much memory
    const keys = dump.manifest.documents.map(documentKey);
    const wrong = keys.findIndex((key, at) => key !== expected[at]);
    if (wrong < 0 && keys.length === expected.length) return;
    const [, id] = JSON.parse(expected[wrong < 0 ? keys.length : wrong] ?? keys[wrong] ?? "[]");
    throw dump.unsound(
      `its documents are not those of ${listName} that fall to ${shardText(shard)}, each once${id === undefined ? "" : `; the first that differs is ${id}`}`,
    );
  }
}

interface KnownList extends SharedList {
  readonly shards: number[];
  /** The keys of the documents of each shard. */
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
