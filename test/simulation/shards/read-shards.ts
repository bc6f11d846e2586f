import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { discoverDocuments } from "../../../src/crawl/discover-documents.js";
import type { Discovery } from "../../../src/crawl/discovery.js";
import type { Shard } from "../../../src/job/job.js";
import { emptyRunProgress } from "../../../src/job/run-progress.js";
import type { Environment } from "../environment.js";
import type { Through } from "../outcome.js";
import type { Processes } from "../processes.js";
import { clientOf, jobOf, type ProcessEnvironment, readAll } from "../read-all.js";
import type { ShardedScenario } from "./draw-shards.js";

/** The result of reading a shard. `through` is undefined if its processes gave up. */
export interface ReadShard {
  readonly shard: Shard;
  readonly through: Through | undefined;
}

/** Reads all shards of a scenario, in its order. */
export async function readShards(
  environment: Environment,
  processes: Processes,
  { count, order, isListGiven }: ShardedScenario,
): Promise<readonly ReadShard[]> {
  const given = isListGiven ? await processes.run(listDocuments) : undefined;
  const shards = Array.from({ length: count }, (_, at) => ({ index: at + 1, count }));
  const read = (shard: Shard) => {
    const folder = join(environment.folder, `shard-${shard.index}`);
    const segments = join(folder, "segments");
    mkdirSync(segments, { recursive: true });
    return async (process: ProcessEnvironment) => {
      const through = await readAll({ ...process, folder, segments, share: { shard, given } });
      processes.flush(segments); // as if the shard were published
      return through;
    };
  };
  if (order === "at once") {
    const results = new Map<Shard, Through>();
    const readers = shards.map((shard) => [shard, read(shard)] as const);
    await processes.run((process) =>
      Promise.all(
        readers.map(async ([shard, reader]) => {
          if (!results.has(shard)) results.set(shard, await reader(process));
        }),
      ),
    );
    return shards.map((shard) => ({ shard, through: results.get(shard) }));
  }
  const results: ReadShard[] = [];
  for (const shard of shards) {
    results.push({ shard, through: await processes.run(read(shard)) });
    processes.pause();
  }
  return results;
}

/** The list of documents, as in `kbdump plan --documents-out`; undefined if it is incomplete and would not be written. */
async function listDocuments(environment: ProcessEnvironment): Promise<Discovery | undefined> {
  const client = clientOf(environment, emptyRunProgress());
  try {
    const discovery = await discoverDocuments(
      client,
      jobOf(environment.scenario, environment.service.knowledge.dataset.id),
    );
    return (discovery.found?.failures.length ?? 0) > 0 ? undefined : discovery;
  } finally {
    await client.close();
  }
}
