import { exitCodes } from "../errors.js";
import type { CommitState } from "../job/open-service.js";
import { emptyRunTally } from "../job/run-tally.js";
import type { RunResult } from "../run/make-run.js";
import { renderRun } from "../terminal/progress.js";
import { renderSummary, summaryJson } from "../terminal/summary.js";
import { jsonLine, pageFor, terminalText } from "../terminal/text.js";
import { countOf } from "../words.js";
import { defineCommand } from "./command.js";
import { withProgress } from "./kept-progress.js";
import { brokerFrom } from "./line/broker-flag.js";
import { checkJobIsNamed } from "./line/job-is-named.js";
import { shardFrom } from "./line/shard-flag.js";
import { wrongLine } from "./line/wrong-line.js";
import {
  commonOptions,
  formatOption,
  jobFrom,
  jobOptions,
  jobPositional,
  paceOption,
  readingOptions,
  viewFrom,
} from "./options.js";
import { printResult } from "./print-result.js";
import { tellReason } from "./tell-error.js";
import { TimeLimit, timeLimitFrom } from "./time-limit.js";

const epilog = `Examples:
  kbdump run nightly.yaml
  kbdump run nightly.yaml --format jsonl,parquet --out /backup
  kbdump run --base-url https://kb.example.com/v1 --dataset UUID --document UUID
  kbdump run --base-url https://kb.example.com/v1 --dataset UUID --document all
  kbdump run nightly.yaml --shard 3/16 --documents-from list.json

Flags win over the job file. Run the same job again to resume an interrupted run.

Exit codes: 0 complete · 1 failed, nothing published · 2 wrong usage or job file · 3 published, but partial: some documents failed or changed while they were read, or latest, the database, the report or stdout could not be written · 5 another run of this job is at work · 130, 143 interrupted, 143 also by --max-duration`;

/** `kbdump run [job.yaml]`: the main job. */
export const runCommand = defineCommand({
  name: "run [job]",
  about: "read everything that a job names, and publish it",
  positionals: jobPositional,
  options: {
    ...jobOptions,
    ...commonOptions,
    ...formatOption,
    ...paceOption,
    ...readingOptions,
    fresh: {
      type: "boolean",
      conflicts: "retry-failed",
      describe: "start over instead of resuming an interrupted run",
    },
    "retry-failed": {
      type: "boolean",
      describe: "after a partial run: read only the documents that failed, and publish everything again",
    },
    "max-duration": {
      type: "string",
      describe: "time after which to stop as SIGTERM does, such as 4h; the next run resumes",
    },
    shard: {
      type: "string",
      describe: "read a part of the documents, such as 3/16: the third of 16; auto/16 in a pod of an Indexed Job",
    },
    "documents-from": {
      type: "string",
      names: "file",
      describe: "list of documents that plan --documents-out wrote; the run asks for none before it reads",
    },
    workers: {
      type: "string",
      conflicts: "shard",
      describe:
        "address of a Redis or Valkey, such as redis://127.0.0.1:6379, over which kbdump worker processes take the documents; or the name of an environment variable that holds it",
    },
    report: {
      type: "boolean",
      describe:
        "write report.html beside the runs, too: the run as a page, with what was lost since the complete run before",
    },
    "csv-safe": { type: "boolean", describe: "guard CSV cells that a spreadsheet would run as formulas" },
    "keep-signatures": { type: "boolean", describe: "keep the signatures in links to files" },
  },
  epilog,
  async run(args, world) {
    const { format, maxRps, childChunks, consistency, csvSafe, keepSignatures } = args;
    checkJobIsNamed("run", args);
    const flags = { format, maxRps, childChunks, consistency, csvSafe, keepSignatures };
    const shard = shardFrom(args.shard, world.env);
    const workers = args.workers === undefined ? undefined : brokerFrom("--workers", args.workers, world.env);
    if (typeof workers === "object") throw wrongLine([workers]);
    const loaded = await jobFrom(args, flags, world, { notifies: true });
    const job = { ...loaded, shard, documentsFrom: args.documentsFrom };
    const { runJob } = await import("../run/run-job.js"); // heavy; --help and --version do without
    const limit = new TimeLimit(timeLimitFrom(args.maxDuration), world.interrupt);
    const view = viewFrom(args, world);
    const tally = emptyRunTally();
    const start = performance.now();
    const unwatch = view.watch(renderRun(tally, shard));
    const setting = {
      env: world.env,
      signal: world.signal,
      tally,
      log: view.log,
      onCommit: (state: CommitState) => {
        limit.committing(state);
        world.committing(state);
      },
      fresh: args.fresh ?? false,
      retryFailed: args.retryFailed ?? false,
      report: args.report ?? false,
      workers,
    };
    const result = await runJob(job, setting)
      .catch((error: unknown) => {
        throw withProgress(error, tally, setting);
      })
      .finally(() => {
        limit.lift();
        unwatch();
      });
    const elapsed = performance.now() - start;
    const summary = args.json
      ? jsonLine(summaryJson(result, elapsed))
      : renderSummary(
          result,
          elapsed,
          { program: world.program(), args: world.args },
          pageFor(world.stdout, world.env),
        );
    for (const sentence of reasonsOf(result, args.quiet)) tellReason(`published, but ${sentence}`, args, world);
    await printResult(world, summary, `the run is published in ${terminalText(result.folder)}`);
    return result.status === "complete" ? exitCodes.complete : exitCodes.partial;
  },
});

/** The reasons for exit 3 that stderr has not seen yet: with --quiet, nothing was said of the documents. */
export function reasonsOf({ problems, manifest }: RunResult, quiet: boolean): readonly string[] {
  if (!quiet || manifest.status === "complete") return problems;
  const documents = manifest.documents.filter(({ status }) => status !== "complete").length;
  const counted = `${documents} of ${countOf(manifest.documents.length, "document")}`;
  return [...problems, documents > 0 ? `${counted} failed or changed while they were read` : listsText(manifest)];
}

function listsText({ joined }: RunResult["manifest"]): string {
  return joined ? "some lists could not be read, or are not the same in all shards" : "some lists could not be read";
}
