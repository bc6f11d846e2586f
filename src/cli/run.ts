import { exitCodes } from "../errors.js";
import { emptyRunTally } from "../run/setting/run-tally.js";
import { renderRun } from "../terminal/progress.js";
import { renderSummary, summaryJson } from "../terminal/summary.js";
import { jsonLine, paintFor, terminalText } from "../terminal/text.js";
import { defineCommand } from "./command.js";
import { commonOptions, formatOption, jobFrom, jobOptions, jobPositional, paceOption, viewFrom } from "./options.js";
import { printResult } from "./print-result.js";
import { tellReason } from "./tell-error.js";

const epilog = `Examples:
  kbdump run nightly.yaml
  kbdump run nightly.yaml --format jsonl --format parquet --out /backup
  kbdump run --base-url https://kb.example.com/v1 --dataset UUID --document UUID
  kbdump run --base-url https://kb.example.com/v1 --dataset UUID --document all

Exit codes: 0 complete · 1 failed, nothing published · 2 wrong usage or job file ·
3 published, but partial: some documents failed or moved while they were read, or latest or the database could not be
replaced · 5 another run of this job is at work · 130, 143 interrupted`;

/** `kbdump run [job.yaml]`: the main job. */
export const runCommand = defineCommand({
  name: "run [job]",
  about: "read everything that a job names and publish it",
  positionals: jobPositional,
  options: {
    ...jobOptions,
    ...commonOptions,
    ...formatOption,
    ...paceOption,
    "child-chunks": {
      type: "string",
      describe: "all, auto (in as few requests as the evidence allows) or none: whether to read child chunks",
    },
    consistency: {
      type: "string",
      describe:
        "sweeps (default): lists of several pages are read twice; anchored: once, and ranks are kept; counts: may lose rows",
    },
    fresh: {
      type: "boolean",
      conflicts: "retry-failed",
      describe: "do not go on where an earlier run broke off",
    },
    "retry-failed": {
      type: "boolean",
      describe: "after a partial run: read only the documents that failed, and publish all of it anew",
    },
    "csv-safe": { type: "boolean", describe: "guard CSV cells that a spreadsheet would run as formulas" },
    "keep-signatures": { type: "boolean", describe: "leave the signatures in links to files" },
  },
  epilog,
  async run(args, world) {
    const { format, maxRps, childChunks, consistency, csvSafe, keepSignatures } = args;
    const job = await jobFrom(args, { format, maxRps, childChunks, consistency, csvSafe, keepSignatures }, world);
    const { runJob } = await import("../run/run-job.js"); // heavy; --help and --version do without
    const view = viewFrom(args, world);
    const tally = emptyRunTally();
    const start = performance.now();
    const unwatch = view.watch(renderRun(tally));
    const setting = {
      env: world.env,
      signal: world.signal,
      tally,
      log: view.log,
      onCommit: world.committing,
      fresh: args.fresh ?? false,
      retryFailed: args.retryFailed ?? false,
    };
    const result = await runJob(job, setting).finally(unwatch);
    const elapsed = performance.now() - start;
    const summary = args.json
      ? jsonLine(summaryJson(result, elapsed))
      : renderSummary(result, elapsed, paintFor(world.stdout, world.env));
    for (const sentence of result.problems) tellReason(`published, but ${sentence}`, args, world);
    await printResult(world, summary, `the run is published in ${terminalText(result.folder)}`);
    return result.status === "complete" ? exitCodes.complete : exitCodes.partial;
  },
});
