import { join } from "node:path";
import { documentListFromText } from "../crawl/document-list-file.js";
import { shardOf } from "../crawl/shards.js";
import { type ChildLists, listName, type Manifest, type ManifestShard, manifestName } from "../dump/manifest.js";
import { Dump, openDump, UnsoundError } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";
import { readRegular } from "../files/files.js";
import { fingerprint, type SegmentFile } from "../files/join-segments.js";
import type { ReadProgress } from "../read-progress.js";
import { documentKey } from "../rows/row.js";
import { noDrift } from "../rows/row-from-record.js";
import { valueIf } from "../schema.js";
import { type DumpedDocument, proofSchema } from "../segments/document-result.js";
import { bytesToVerify, type VerifyOptions, verifyRun } from "../verify/verify-run.js";
import { shardText } from "../words.js";
import type { SharedList } from "./merge-lists.js";

/** The run of a shard. */
export interface ShardDump {
  /** The dump. Its manifest has no documents, to save memory; `documents` has them. */
  readonly dump: Dump;
  readonly documents: readonly ShardDocument[];
  readonly shard: ManifestShard;
  /** The SHA-256 of its manifest.json, in hex. */
  readonly manifestHash: string;
}

/** A document of a shard. `openShards` leaves `files` empty; the join adds them later. */
export interface ShardDocument extends DumpedDocument {
  files: readonly SegmentFile[];
}

/** Opens runs of shards, in shard order. Throws UsageError if a run is not of a shard; StopError for damaged manifests. */
export async function openShards(folders: readonly string[]): Promise<readonly ShardDump[]> {
  const shards: ShardDump[] = [];
  const whole: string[] = [];
  await collectUnsound(folders, async (path) => {
    const consequence = "nothing was joined";
    const { folder, manifest } = await openDump(path, consequence);
    const { shard } = manifest;
    if (!shard) {
      whole.push(path);
      return;
    }
    const manifestHash = (await fingerprint(join(folder, manifestName))).sha256;
    const dump = new Dump(folder, { ...manifest, documents: [], child_lists: [], proofs: [] }, consequence);
    shards.push({ dump, documents: documentsOf(manifest), shard, manifestHash });
  });
  const message = "it is not a shard: it was made without --shard";
  const problems = whole.map((path) => ({ path, message }));
  if (problems.length > 0) throw new UsageError("Only shards can be joined:", problems);
  return shards.sort((one, other) => one.shard.index - other.shard.index);
}

const noFiles: readonly SegmentFile[] = [];

/** The documents of a shard as a run would have them if it had read them itself, except that `files` is still empty. */
function documentsOf({ documents, child_lists, proofs }: Manifest): readonly ShardDocument[] {
  const lists = new Map<string, ChildLists>(child_lists.map((list) => [documentKey(list), list]));
  const proofOf = new Map(proofs.map((each) => [documentKey(each), each.proof]));
  return documents.map((row) => {
    const key = documentKey(row);
    return {
      row,
      drift: noDrift,
      childLists: lists.get(key) ?? null,
      proof: valueIf(proofSchema, proofOf.get(key)) ?? "none",
      edited: false, // the shard already requested the details
      files: noFiles,
      isOld: true,
    };
  });
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

/**
 * Verifies the shards of a run like `kbdump verify`, and checks that each has exactly its share of the listed documents. Returns
 * the lists that they used, each once. Throws StopError with every problem.
 */
export async function proveShards(
  shards: readonly ShardDump[],
  { progress, signal }: Required<Pick<VerifyOptions, "progress" | "signal">>,
): Promise<readonly SharedList[]> {
  for (const { dump } of shards) progress.expected += bytesToVerify(dump.manifest);
  const lists = new Map<string, KnownList>();
  await collectUnsound(shards, async (each) => {
    const { dump, shard } = each;
    progress.step = `checking ${shardText(shard)}`;
    const { findings } = await verifyRun(dump.folder, { signal, progress: bytesInto(progress) });
    const problems = findings.map(({ file, message }) => `${file}: ${message}`);
    if (problems.length > 0) throw dump.unsound(problems.join("\n  "));
    const list = lists.get(shard.list.sha256) ?? (await readList(dump, shard.count));
    lists.set(shard.list.sha256, list);
    requireOwnDocuments(each, list);
  });
  return [...lists.values()];
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
  readonly keys: Map<number, string[]>;
}

async function readList(dump: Dump, count: number): Promise<KnownList> {
  const text = (await readRegular(join(dump.folder, listName))).toString("utf8");
  const { value, problems } = { value: undefined, ...documentListFromText(text) };
  const reasons = (problems ?? []).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  if (!value) throw dump.unsound(`${listName}: ${reasons.join("; ")}`);
  const keys = new Map<number, string[]>();
  for (const { dataset_id, documents } of value.datasets)
    for (const document_id of documents) {
      const index = shardOf(dataset_id, document_id, count);
      const own = keys.get(index) ?? [];
      keys.set(index, own);
      own.push(documentKey({ dataset_id, document_id }));
    }
  return { list: value, shards: [], keys };
}

/** Checks that a shard has exactly its share of the listed documents. Throws UnsoundError if not. */
function requireOwnDocuments({ dump, documents, shard }: ShardDump, { shards, keys: ofShards }: KnownList): void {
  const expected = ofShards.get(shard.index) ?? [];
  shards.push(shard.index);
  ofShards.delete(shard.index); // no longer needed, and large for a million documents
  const keys = documents.map(({ row }) => documentKey(row));
  const longer = keys.length > expected.length ? keys : expected;
  const wrong = longer.findIndex((_, at) => keys[at] !== expected[at]);
  if (wrong < 0) return;
  const [, id] = JSON.parse(expected[wrong] ?? keys[wrong] ?? "[]");
  throw dump.unsound(
    `its documents are not those of ${listName} that fall to ${shardText(shard)}, each once; the first that differs is ${id}`,
  );
}
