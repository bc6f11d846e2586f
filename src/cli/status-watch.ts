import { exitCodes, type Problem } from "../errors.js";
import type { Job } from "../job/job.js";
import type { WatchResult } from "../results/status.js";
import { emptyWatchTally } from "../status/watched-documents.js";
import { jsonLine, pageFor } from "../terminal/text.js";
import { renderWatch, WatchNews } from "../terminal/watch-progress.js";
import { renderWatchResult, timeoutText } from "../terminal/watch-result.js";
import type { ArgumentsOf, Options } from "./command.js";
import { durationFrom } from "./duration.js";
import { wrongLine } from "./line/wrong-line.js";
import { type commonOptions, viewFrom } from "./options.js";
import { tellReason } from "./tell-error.js";
import type { World } from "./world.js";

/** Options of `kbdump status` for a watch. */
export const watchOptions = {
  watch: { type: "boolean", default: false, describe: "poll until every document is completed or in error" },
  interval: { type: "string", describe: "with --watch: time between two polls, such as 30s; default: 5s" },
  timeout: { type: "string", describe: "with --watch: give up after this time, such as 90, 10m or 2h" },
} as const satisfies Options;

type CommonArguments = ArgumentsOf<typeof commonOptions>;

/** Milliseconds from poll to poll, and until the watch gives up; never, if undefined. */
export interface WatchTimes {
  readonly interval: number;
  readonly timeout: number | undefined;
}

const intervalBounds = { least: 100, most: 86_400_000, text: "from 0.1 s to 24 h" };
/** Timers of Node go no further than 24 days. */
const timeoutBounds = { least: 100, most: 1_728_000_000, text: "from 0.1 s to 480 h" };

/** Checks the times of a watch, which only go with --watch. UsageError with every problem. */
export function watchTimesFrom({ watch, interval, timeout }: ArgumentsOf<typeof watchOptions>): WatchTimes {
  const problems: Problem[] = [];
  const milliseconds = (flag: string, value: unknown, bounds: typeof intervalBounds): number | undefined => {
    if (value === undefined) return undefined;
    const duration = watch ? durationFrom(flag, value, bounds) : { path: flag, message: "only together with --watch" };
    if (typeof duration === "number") return duration;
    problems.push(duration);
    return undefined;
  };
  const times = {
    interval: milliseconds("--interval", interval, intervalBounds) ?? 5_000,
    timeout: milliseconds("--timeout", timeout, timeoutBounds),
  };
  if (problems.length > 0) throw wrongLine(problems);
  return times;
}

/** Watches the batches of a job, prints how that ended, and gives the exit code. */
export async function watchBatches(job: Job, times: WatchTimes, args: CommonArguments, world: World): Promise<number> {
  const { watchStatus } = await import("../status/watch-status.js"); // heavy; --help does without
  const { stdout, env, signal } = world;
  const view = viewFrom(args, world);
  const tally = emptyWatchTally();
  const news = new WatchNews();
  const unwatch = view.watch(renderWatch(tally));
  const result = await watchStatus(job, {
    env,
    signal,
    log: view.log,
    tally,
    onPoll: (changed) => view.tell(news.from(changed)),
    ...times,
  }).finally(unwatch);
  stdout.write(
    `${args.json ? jsonLine(result satisfies WatchResult) : renderWatchResult(result, Date.now(), pageFor(stdout, env))}\n`,
  );
  if (result.status === "completed") return exitCodes.complete;
  if (result.status === "error") return exitCodes.partial;
  tellReason(timeoutText(result, times.timeout ?? 0), args, world);
  return exitCodes.failed;
}
