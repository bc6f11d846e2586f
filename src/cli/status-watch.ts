import { exitCodes, type Problem, UsageError } from "../errors.js";
import { emptyWatchTally } from "../indexing/watch-options.js";
import type { Job } from "../job/job.js";
import { jsonLine, paintFor } from "../terminal/text.js";
import { renderWatchResult, timeoutText } from "../terminal/watch-result.js";
import { openWatchView } from "../terminal/watch-view.js";
import { durationFrom } from "./duration.js";
import type { World } from "./world.js";

/** What `kbdump status` is told, as far as watching is concerned. */
export interface WatchArguments {
  readonly watch: boolean;
  readonly interval?: unknown;
  readonly timeout?: unknown;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly logFormat: "text" | "json";
}

/** Milliseconds from poll to poll, and until the watch gives up; never, if undefined. */
export interface WatchTimes {
  readonly interval: number;
  readonly timeout: number | undefined;
}

const intervalBounds = { least: 100, most: 86_400_000, text: "from 0.1 s to 24 h" };
/** Timers of Node go no further than 24 days. */
const timeoutBounds = { least: 100, most: 1_728_000_000, text: "from 0.1 s to 480 h" };

/** Checks the times of a watch, which only go with --watch. UsageError with every problem. */
export function watchTimesFrom({ watch, interval, timeout }: WatchArguments): WatchTimes {
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
  if (problems.length > 0) throw new UsageError("Nothing was asked:", problems);
  return times;
}

/** Watches the batches of a job, prints how that ended, and gives the exit code. */
export async function watchBatches(job: Job, times: WatchTimes, argv: WatchArguments, world: World): Promise<number> {
  const { watchStatus } = await import("../indexing/watch-status.js"); // heavy; --help does without
  const { stdout, stderr, env, signal } = world;
  const tally = emptyWatchTally();
  const view = openWatchView(tally, { output: stderr, env, format: argv.logFormat, quiet: argv.quiet });
  const setting = { env, signal, log: view.log, tally, onPoll: view.polled, ...times };
  const result = await watchStatus(job, setting).finally(view.close);
  stdout.write(`${argv.json ? jsonLine(result) : renderWatchResult(result, Date.now(), paintFor(stdout, env))}\n`);
  if (result.status === "completed") return exitCodes.complete;
  if (result.status === "error") return exitCodes.partial;
  stderr.write(`kbdump: ${timeoutText(result, times.timeout ?? 0)}\n`);
  return exitCodes.failed;
}
