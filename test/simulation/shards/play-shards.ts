import { StopError, UsageError } from "../../../src/errors.js";
import { environmentOf } from "../environment.js";
import { place } from "../files.js";
import type { Coverage } from "../judge/coverage.js";
import type { Played } from "../play.js";
import { Processes } from "../processes.js";
import { inFolder } from "../simulate.js";
import type { ShardedScenario } from "./draw-shards.js";
import { joinReadings } from "./join-readings.js";
import { joinedOutcome } from "./joined-outcome.js";
import { judgeJoined } from "./judge-joined.js";
import { type ReadShard, readShards } from "./read-shards.js";

/** Reads a scenario in shards, joins them, and judges the joined dump. */
export function playShards(sharded: ShardedScenario, coverage: Coverage): Promise<Played> {
  const { scenario } = sharded;
  return inFolder(async (folder) => {
    const environment = await environmentOf(scenario, folder, undefined);
    const processes = new Processes(environment);
    const shards = await readShards(environment, processes, sharded);
    place.disk = undefined;
    const played = (wrong: readonly string[]): Played => ({ scenario, wrong, trace: environment.trace });
    const refused = whyRefused(shards);
    const result = await joinReadings(environment, shards).catch((error: unknown) => {
      if (refused && (error instanceof StopError || error instanceof UsageError)) return undefined;
      throw error;
    });
    if (refused) coverage.met(`not joined: ${refused}`);
    if (!result) return played(environment.violations);
    const [first] = shards.flatMap(({ through }) => through ?? []);
    if (refused || !first) return played([`it was joined, although ${refused}`]);
    const outcome = joinedOutcome(result, first, { environment, processes });
    return played(judgeJoined({ result, shards, outcome }, coverage));
  });
}

/** Why the join must refuse these shards; undefined if it must succeed. */
function whyRefused(shards: readonly ReadShard[]): string | undefined {
  if (shards.some(({ through }) => !through)) return "a shard gave up";
  const rows = shards.flatMap(({ through }) => through?.reading.documents.map(({ row }) => row) ?? []);
  return rows.length > 0 && rows.every(({ status }) => status === "failed") ? "no document could be read" : undefined;
}
