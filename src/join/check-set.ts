import { isDeepStrictEqual } from "node:util";
import type { Manifest } from "../dump/manifest/manifest.js";
import type { Shard } from "../job/job.js";
import { isMapping } from "../schema.js";
import { shellText } from "../shell-text.js";
import { tool } from "../tool.js";
import { shardText } from "../words.js";

/** The run of a shard, as its manifest tells of it. */
export interface ShardFacts extends Pick<Manifest, "job" | "run_id" | "tool" | "service" | "options"> {
  /** The run folder, for messages. */
  readonly folder: string;
  readonly shard: Pick<NonNullable<Manifest["shard"]>, "index" | "count" | "plan">;
}

/** The command that makes a shard. */
export type RunCommand = (shard: Shard) => string;

/** The command that makes a shard of a job. The name of the job file is a guess where nobody named it. */
export function runCommand(job: string, { jobFile, out, program = "kbdump" }: CommandParts): RunCommand {
  const file = shellText(jobFile ?? `${job}.yaml`);
  const more = out === undefined || jobFile !== undefined ? "" : ` --out ${shellText(out)}`;
  return ({ index, count }) => `${program} run ${file} --shard ${index}/${count}${more}`;
}

export interface CommandParts {
  readonly jobFile: string | undefined;
  /** The output folder, where it is not the usual one. */
  readonly out: string | undefined;
  /** The words that start the program; default: `kbdump`. */
  readonly program?: string | undefined;
}

/**
 * Everything that keeps runs of shards from being one run, a sentence each: another job, version, plan or service than the newest
 * of them, shards that are missing or there twice. Empty where there is nothing.
 */
export function problemsOfSet(shards: readonly ShardFacts[], command: RunCommand): readonly string[] {
  const [newest] = shards.toSorted((one, other) => (one.run_id < other.run_id ? 1 : -1));
  if (!newest) return ["there is none"];
  return [
    ...shards.flatMap((shard) => differencesFrom(newest, shard, command)),
    ...missingOrTwice(newest.shard.count, shards, command),
  ];
}

function differencesFrom(newest: ShardFacts, facts: ShardFacts, command: RunCommand): readonly string[] {
  const { folder, shard } = facts;
  const than = `than ${newest.folder}, the newest`;
  if (facts.job !== newest.job) return [`${folder}: it is of job ${facts.job}, not of ${newest.job}`];
  if (shard.count !== newest.shard.count)
    return [`${folder}: it is ${shardText(shard)}, but ${newest.folder}, the newest, is ${shardText(newest.shard)}`];
  const again = `; make it again: ${command(shard)}`;
  if (facts.tool.version !== tool.version)
    return [`${folder}: kbdump ${facts.tool.version} made it, and this is version ${tool.version}${again}`];
  if (serviceOf(facts) !== serviceOf(newest))
    return [`${folder}: it is of another service ${than}: ${serviceOf(facts)}${again}`];
  if (shard.plan !== newest.shard.plan)
    return [`${folder}: it is of another plan ${than}, because the job was changed between them${again}`];
  const others = otherOptions(facts.options, newest.options);
  return others.length > 0 ? [`${folder}: it has other options ${than} (${others.join(", ")})${again}`] : [];
}

/** The embedded service has another port at every start. */
function serviceOf({ options, service }: ShardFacts): string {
  return isMapping(options.service) && options.service.demo === true ? "demo" : service.base_url;
}

/** Options that machines may set for themselves. */
const ownOptions = ["service", "resume_within", "output.keep", "output.memory", "output.metrics_file"];

/** The names of the options that differ. */
function otherOptions(one: Manifest["options"], other: Manifest["options"]): readonly string[] {
  const [these, those] = [flatOptions(one), flatOptions(other)];
  const names = new Set([...these.keys(), ...those.keys()]);
  return [...names].filter(
    (name) => !ownOptions.includes(name) && !isDeepStrictEqual(these.get(name), those.get(name)),
  );
}

function flatOptions({ output, ...others }: Manifest["options"]): ReadonlyMap<string, unknown> {
  const ofOutput = Object.entries(output).map(([name, value]) => [`output.${name}`, value] as const);
  return new Map<string, unknown>([...Object.entries(others), ...ofOutput]);
}

function missingOrTwice(count: number, shards: readonly ShardFacts[], command: RunCommand): readonly string[] {
  const folders = new Map<number, string[]>();
  for (const { shard, folder } of shards)
    if (shard.count === count) folders.set(shard.index, [...(folders.get(shard.index) ?? []), folder]);
  const all = Array.from({ length: count }, (_, at) => ({ index: at + 1, count }));
  return all.flatMap((shard) => {
    const [first, ...others] = folders.get(shard.index) ?? [];
    if (first === undefined) return [`${shardText(shard)} is missing; make it: ${command(shard)}`];
    return others.length > 0 ? [`${shardText(shard)} is there twice: ${[first, ...others].join(" and ")}`] : [];
  });
}
