import { join } from "node:path";
import { fingerprint } from "../dump/files/join-parts.js";
import { manifestName } from "../dump/manifest/manifest.js";
import type { ManifestShard } from "../dump/manifest/shard.js";
import { type Dump, openDump, UnsoundError } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";

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
