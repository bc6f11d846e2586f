import { isDeepStrictEqual } from "node:util";
import type { Manifest, ManifestShard } from "../dump/manifest.js";
import type { Shard } from "../job/job.js";
import { isMapping } from "../schema.js";
import { shellText } from "../shell-text.js";
import { tool } from "../tool.js";
import { listText, shardText } from "../words.js";
import { shardsText } from "./merge-lists.js";

/** The facts about a shard's run from its manifest. */
export interface ShardFacts extends Pick<Manifest, "job" | "run_id" | "tool" | "service" | "options"> {
  /** The run folder, for messages. */
  readonly folder: string;
  readonly shard: Pick<ManifestShard, "index" | "count" | "plan">;
}

/** The command that makes a shard. */
export type RunCommand = (shard: Shard) => string;

/** Returns a function for the command that makes a shard of a job. Without a given job file, its name is a guess. */
export function runCommand(job: string, { jobFile, out, program = "kbdump" }: CommandParts): RunCommand {
  const file = shellText(jobFile ?? `${job}.yaml`);
  const more = out === undefined || jobFile !== undefined ? "" : ` --out ${shellText(out)}`;
  return ({ index, count }) => `${program} run ${file} --shard ${index}/${count}${more}`;
}

interface CommandParts {
  readonly jobFile: string | undefined;
  /** The output folder, if it is not the default. */
  readonly out: string | undefined;
  /** The words that start the program; default: `kbdump`. */
  readonly program?: string | undefined;
}

/**
 * Why these runs of shards cannot be joined, one sentence each: made by another version of kbdump than this one; another job, plan,
 * service or option than the newest run; a shard missing or there twice. Empty if they fit together.
 */
export function problemsOfSet(shards: readonly ShardFacts[], command: RunCommand): readonly string[] {
  const newest = newestOf(shards);
  if (!newest) return ["there is none"];
  const { count } = newest.shard;
  const all = Array.from({ length: count }, (_, at) => ({ index: at + 1, count }));
  return [
    ...shards.flatMap((shard) => {
      const difference = differenceOf(shard, newest);
      if (difference === undefined) return [];
      const isOfSet = shard.job === newest.job && shard.shard.count === count;
      return [`${shard.folder}: ${difference}${isOfSet ? `; make it again: ${command(shard.shard)}` : ""}`];
    }),
    ...all.flatMap((shard) => {
      const found = shards.filter((other) => other.shard.index === shard.index && other.shard.count === count);
      if (found.length === 0) return [`${shardText(shard)} is missing; make it: ${command(shard)}`];
      const folders = found.map(({ folder }) => folder);
      return folders.length > 1 ? [`${shardText(shard)} is there twice: ${folders.join(" and ")}`] : [];
    }),
  ];
}

/** Why a shard does not belong to the run of the newest shard, or is from another version; undefined if it belongs. */
function differenceOf(shard: ShardFacts, newest: ShardFacts): string | undefined {
  const { version } = shard.tool;
  if (version !== tool.version) return `kbdump ${version} made it, and this is version ${tool.version}`;
  const [these, those] = [factsOf(shard), factsOf(newest)];
  const names = [...new Set([...these.keys(), ...those.keys()])];
  const differing = names.filter((name) => !isDeepStrictEqual(these.get(name), those.get(name)));
  return differing.length > 0
    ? `it differs from ${newest.folder}, the newest, in its ${listText(differing)}`
    : undefined;
}

/** Options that may differ between the shards, because they belong to the machine and do not change the rows. */
const ownOptions = ["service", "resume_within", "output.keep", "output.memory", "output.metrics_file"];

/** Everything that must be equal in all shards, by its name in messages. The embedded service has another port at every start. */
function factsOf({ job, shard, service, options }: ShardFacts): Map<string, unknown> {
  const { output, ...others } = options;
  const ofOutput = Object.entries(output).map(([name, value]) => [`output.${name}`, value] as const);
  const isDemo = isMapping(options.service) && options.service.demo === true;
  return new Map<string, unknown>([
    ["job", job],
    ["number of shards", shard.count],
    ["service", isDemo ? "demo" : service.base_url],
    ["plan", shard.plan],
    ...[...Object.entries(others), ...ofOutput].filter(([name]) => !ownOptions.includes(name)),
  ]);
}

/** The run that began last. */
export function newestOf<Run extends Pick<Manifest, "run_id">>(runs: readonly Run[]): Run | undefined {
  return runs.toSorted((one, other) => (one.run_id < other.run_id ? 1 : -1))[0];
}

/** The times of the run of a shard. */
export interface ShardTimes extends Pick<Manifest, "started_at" | "finished_at"> {
  readonly shard: Pick<ManifestShard, "index">;
}

/** Milliseconds without an active shard, after which the shards count as made at different times. */
const longestPause = 30 * 60_000;

/**
 * A sentence for each long pause between the shards' runs. Shards before the pause may be left over from an earlier night: a failed
 * shard publishes nothing, so its newest run is an older one.
 */
export function pauseSentences(shards: readonly ShardTimes[]): readonly string[] {
  const runs = shards.toSorted((one, other) => Date.parse(one.started_at) - Date.parse(other.started_at));
  return runs.flatMap(({ started_at: start }, at) => {
    const before = runs.slice(0, at);
    const end = Math.max(...before.map(({ finished_at }) => Date.parse(finished_at)));
    if (at === 0 || Date.parse(start) - end <= longestPause) return [];
    const earlier = shardsText(before.map(({ shard }) => shard.index));
    return [
      `${earlier} ended by ${timeText(end)}, and the others began at ${timeText(Date.parse(start))} or later: make the earlier ones again if they are left over from another night`,
    ];
  });
}

function timeText(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
