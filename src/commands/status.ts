import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { checkJobIsNamed, durationOption } from "../cli/flag-values.js";
import { jobFrom, jobOptions, jobPositional } from "../cli/options.js";
import { printReason } from "../cli/output.js";
import { type Page, terminalText, wrapped } from "../cli/text.js";
import { exitCodes, StopError, UsageError } from "../errors.js";
import { type Job, namedDatasets } from "../job/job.js";
import { statusResult, type TakenStatus, watchResult } from "../status/status-result.js";

import { emptyWatchProgress } from "../status/watched-documents.js";
import { renderStatusTable, renderWatch, renderWatchResult, timeoutText, WatchNews } from "./status/text.js";

const epilog = `Examples:
  kbdump status nightly.yaml
  kbdump status --base-url https://kb.example.com/v1 --dataset UUID --batch ID
  kbdump status backup.yaml --batch 20261120093000654321 --watch --timeout 2h

With --watch, kbdump polls until every document is completed or in error, and keeps every reading that changed. It shows a bar per document on a terminal, and a line per change elsewhere. It warns of a document that has not moved for ten minutes. A failed poll does not end the watch; a wrong key or an unknown batch does.

Exit codes: 0 taken; with --watch: every document is completed · 1 failed, or not completed within --timeout · 2 wrong usage or job file · 3 some batches could not be read; with --watch: a document ended in error · 130, 143 interrupted; the readings so far are kept`;

/** Options of `kbdump status` with --watch. */
const watchOptions = {
  watch: { type: "boolean", default: false, describe: "poll until every document is completed or in error" },
  interval: {
    ...durationOption({ least: 100, most: 86_400_000, text: "from 0.1 s to 24 h" }),
    needs: "watch",
    describe: "time between two polls, such as 30s; default: 5s",
  },
  timeout: {
    ...durationOption({ least: 100, most: 1_728_000_000, text: "from 0.1 s to 480 h" }), // Node's timers allow 24 days
    needs: "watch",
    describe: "give up after this time, such as 90, 10m or 2h",
  },
} as const satisfies Options;

/** `kbdump status [job.yaml]`: records the indexing status once, or repeatedly until indexing ends. */
export const command = defineCommand({
  name: "status [job]",
  about: "record the indexing status of the job's batches, or watch them",
  positionals: jobPositional,
  options: { ...jobOptions, ...watchOptions },
  epilog,
  results: () => ({ status: statusResult, "status-watch": watchResult }),
  async run(args, environment) {
    checkJobIsNamed("status", args);
    const job = await jobFrom(args, environment);
    if (namedDatasets(job).every(({ batches }) => batches.length === 0)) {
      throw new UsageError(
        "the job names no batch: set datasets[0].batches, or give --batch; the service returns a batch when it creates or updates a document",
        [],
      );
    }
    if (args.watch) return watchBatches(job, args, environment);
    const { takeStatus } = await import("../status/capture-status.js"); // slow to load; --help does not need it
    const { env, signal, view } = environment;
    const status = await takeStatus(job, { env, signal, log: view.log });
    const { rows, failures } = status;
    const isNothing = rows.length === 0 && failures.length > 0;
    for (const failure of isNothing ? failures.slice(1) : failures) view.log("warn", failure);
    if (isNothing) throw new StopError(`no batch could be read: ${failures[0]}`);
    const result = { status: status.failures.length > 0 ? "partial" : "complete", ...status };
    await environment.print(result, (page) => render(status, page));
    return status.failures.length > 0 ? exitCodes.partial : exitCodes.complete;
  },
});

function render(status: TakenStatus, page: Page): string {
  const place = status.added ? "added to" : "the next run adds it to";
  const lines = wrapped(`${place} ${terminalText(status.database)}`, page);
  return [renderStatusTable(status.rows, Date.now(), page), "", ...lines].join("\n");
}

/** Watches the batches of a job, prints the outcome, and returns the exit code. */
async function watchBatches(job: Job, args: Arguments<typeof watchOptions>, environment: Environment): Promise<number> {
  const { watchStatus } = await import("../status/watch-status.js"); // slow to load; --help does not need it
  const { env, signal, view } = environment;
  const { interval = 5_000, timeout } = args;
  const progress = emptyWatchProgress();
  const news = new WatchNews();
  const unwatch = view.watch(renderWatch(progress));
  const result = await watchStatus(job, {
    env,
    signal,
    log: view.log,
    progress,
    onPoll: (changed) => view.report(news.from(changed)),
    interval,
    timeout,
  }).finally(unwatch);
  await environment.print(result, (page) => renderWatchResult(result, Date.now(), page));
  if (result.status === "completed") return exitCodes.complete;
  if (result.status === "error") return exitCodes.partial;
  printReason(timeoutText(result, timeout ?? 0), args, environment);
  return exitCodes.failed;
}
