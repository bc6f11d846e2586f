import { exitCodes, StopError, UsageError } from "../errors.js";
import { namedDatasets } from "../job/job.js";
import type { TakenStatus } from "../status/capture-status.js";
import { wrapToWidth } from "../terminal/display-width.js";
import { renderStatusTable, statusJson } from "../terminal/status-table.js";
import { jsonLine, pageFor, terminalText } from "../terminal/text.js";
import { defineCommand } from "./command.js";
import { checkJobIsNamed } from "./line/job-is-named.js";
import { commonOptions, jobFrom, jobOptions, jobPositional, viewFrom } from "./options.js";
import { printResult } from "./print-result.js";
import { watchBatches, watchOptions, watchTimesFrom } from "./status-watch.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump status nightly.yaml
  kbdump status --base-url https://kb.example.com/v1 --dataset UUID --batch ID
  kbdump status backup.yaml --batch 20261120093000654321 --watch --timeout 2h

With --watch, kbdump polls until every document is completed or in error, and keeps every reading that changed. It shows a bar per document on a terminal, and a line per change elsewhere. It warns of a document that has not moved for ten minutes. A failed poll does not end the watch; a wrong key or an unknown batch does.

Exit codes: 0 taken; with --watch: every document is completed · 1 failed, or not completed within --timeout · 2 wrong usage or job file · 3 some batches could not be read; with --watch: a document ended in error · 130, 143 interrupted; the readings so far are kept`;

/** `kbdump status [job.yaml]`: a snapshot of the indexing status, or one after another until the indexing is over. */
export const statusCommand = defineCommand({
  name: "status [job]",
  about: "take a snapshot of the indexing status of the job's batches, or watch them",
  positionals: jobPositional,
  options: { ...jobOptions, ...commonOptions, ...watchOptions },
  epilog,
  async run(args, world) {
    const times = watchTimesFrom(args);
    checkJobIsNamed("status", args);
    const job = await jobFrom(args, {}, world);
    if (namedDatasets(job).every(({ batches }) => batches.length === 0)) {
      throw new UsageError(
        "the job names no batch: set datasets[0].batches, or give --batch: the string that creating the documents returned",
        [],
      );
    }
    if (args.watch) return watchBatches(job, times, args, world);
    const { takeStatus } = await import("../status/capture-status.js"); // heavy; --help does without
    const view = viewFrom(args, world);
    const status = await takeStatus(job, { env: world.env, signal: world.signal, log: view.log });
    for (const failure of status.failures) view.log("warn", failure);
    if (status.rows.length === 0 && status.failures.length > 0) {
      throw new StopError(`no batch could be read: ${status.failures[0]}`);
    }
    await printResult(world, args.json ? jsonLine(statusJson(status)) : render(status, world));
    return status.failures.length > 0 ? exitCodes.partial : exitCodes.complete;
  },
});

function render(status: TakenStatus, world: World): string {
  const place = status.added ? "added to" : "the next run adds it to";
  const page = pageFor(world.stdout, world.env);
  const lines = wrapToWidth(`${place} ${terminalText(status.database)}`, page.columns, "  ");
  return [renderStatusTable(status.rows, Date.now(), page), "", ...lines].join("\n");
}
