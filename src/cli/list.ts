import { exitCodes, UsageError } from "../errors.js";
import { isBucketUrl } from "../job/s3-url.js";
import type { RunList } from "../list/list-runs.js";
import { listJson, renderJobs, renderRuns, staleTexts } from "../terminal/list-table.js";
import { jsonLine, paintFor } from "../terminal/text.js";
import { type ArgumentsOf, defineCommand, type Options, type Positionals } from "./command.js";
import { durationFrom } from "./duration.js";
import { wrongLine } from "./line/wrong-line.js";
import { commonOptions, dirOption, environmentOption, placesFrom } from "./options.js";
import { printResult } from "./print-result.js";
import { tellReason } from "./tell-error.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump list
  kbdump list nightly.yaml
  kbdump list nightly --max-age 26h --quiet

With a job file, the column keep names the rules of output.keep that hold a run; - stands for a run that the next one removes.

Exit codes: 0 listed · 1 with --max-age: a job without a complete run that is young enough · 2 wrong usage, or no such job`;

const positionals = {
  job: {
    type: "string",
    names: "job file",
    describe: "job file, name or folder of a job; without it, the newest run of every job",
  },
} as const satisfies Positionals;

const options = {
  ...commonOptions,
  ...dirOption,
  ...environmentOption,
  "max-age": { type: "string", describe: "exit with 1 if the newest complete run is older, such as 26h or 2d" },
} as const satisfies Options;

type ListArguments = ArgumentsOf<typeof positionals & typeof options>;

const defaultDir = "output";
const ageBounds = { least: 1_000, most: 315_360_000_000, text: "from 1 s to 3650 d" };

/** `kbdump list [job]`: the runs of a job, or the newest run of every job. */
export const listCommand = defineCommand({
  name: "list [job]",
  about: "list the runs of a job, or the newest run of every job",
  positionals,
  options,
  epilog,
  async run(args, world) {
    const maxAge = maxAgeFrom(args.maxAge);
    const now = new Date();
    const lists =
      args.job === undefined ? await listJobs(args, now, world) : [await listJob(args.job, args, now, world)];
    await printResult(world, resultText(lists, args, { now: now.getTime(), maxAge }, world));
    const stale = staleTexts(lists, now.getTime(), maxAge);
    for (const sentence of stale) tellReason(`${sentence}; --max-age is ${args.maxAge}`, args, world);
    return stale.length > 0 ? exitCodes.failed : exitCodes.complete;
  },
});

function maxAgeFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const age = durationFrom("--max-age", text, ageBounds);
  if (typeof age !== "number") throw wrongLine([age]);
  return age;
}

async function listJob(job: string, args: ListArguments, now: Date, world: World): Promise<RunList> {
  const { findNamed } = await import("../store/find-named.js");
  const { listRuns } = await import("../list/list-runs.js");
  const found = await findNamed(job, placesFrom(args, world));
  if (found.kind === "job" && found.run === undefined) return listRuns(found.place, now, found.copy);
  const message = "expected a job: its name, its folder or its job file";
  throw new UsageError("Nothing was listed:", [{ path: job, message }]);
}

async function listJobs(args: ListArguments, now: Date, world: World): Promise<readonly RunList[]> {
  const { dir = defaultDir } = args;
  if (isBucketUrl(dir)) return listBucket(dir, args, now, world);
  const { jobsIn } = await import("../store/find-named.js");
  const { listRuns } = await import("../list/list-runs.js");
  const names = await jobsIn(dir);
  if (!names) {
    const message = "there is no such folder; name a job file, or the output folder with --dir";
    throw new UsageError("Nothing was listed:", [{ path: dir, message }]);
  }
  const lists: RunList[] = [];
  for (const name of names)
    lists.push(await listRuns({ name, output: { dir, bucket: undefined, keep: undefined } }, now));
  return lists;
}

async function listBucket(dir: string, args: ListArguments, now: Date, world: World): Promise<readonly RunList[]> {
  const { namesInBucket } = await import("../store/find-named.js");
  const names = await namesInBucket(dir, placesFrom(args, world));
  const lists: RunList[] = [];
  for (const name of names) lists.push(await listJob(name, args, now, world));
  return lists;
}

function resultText(
  lists: readonly RunList[],
  { job, dir = defaultDir, json }: ListArguments,
  { now, maxAge }: { readonly now: number; readonly maxAge: number | undefined },
  { stdout, env }: World,
): string {
  const [only] = job === undefined ? [] : lists;
  if (json) return jsonLine(listJson(lists, now, maxAge));
  const view = { paint: paintFor(stdout, env), columns: stdout.columns ?? 100, now };
  return only ? renderRuns(only, view) : renderJobs(lists, dir, view);
}
