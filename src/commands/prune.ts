import * as v from "valibot";
import { bytesText, countText } from "../amounts.js";
import { defineCommand } from "../cli/command.js";
import { jobFrom, jobPositional, outOption } from "../cli/options.js";
import { renderParagraphs } from "../cli/outline.js";
import { layOutTable } from "../cli/table.js";
import { messageText, type Page, terminalText } from "../cli/text.js";
import { exitCodes } from "../errors.js";
import type { PruneResult } from "../run/prune-job.js";
import { count, listOf, oneOf, result, text, truth } from "../schema.js";

const epilog = `Examples:
  kbdump prune nightly.yaml --dry-run
  kbdump prune nightly.yaml

A run stays if any rule of output.keep names it: last, daily, weekly, monthly. The newest complete run always stays.

Exit codes: 0 done · 1 some runs could not be removed · 2 wrong usage or job file, or a job without output.keep · 5 a run of this job is active`;

/** `kbdump prune job.yaml`: removes the runs that `output.keep` does not keep. */
export const command = defineCommand({
  name: "prune <job>",
  about: "remove the runs that the job's output.keep does not keep",
  positionals: { job: { ...jobPositional.job, demandOption: true } },
  options: {
    ...outOption,
    "dry-run": { type: "boolean", default: false, describe: "list what would be removed, and change nothing" },
  },
  epilog,
  results: () => ({ prune: pruneResult }),
  async run(args, environment) {
    const { dryRun } = args;
    const { env, signal, view } = environment;
    const job = await jobFrom(args, environment);
    const { pruneJob } = await import("../run/prune-job.js");
    const result = await pruneJob(job, { dryRun, log: view.log, env, signal });
    await environment.print(pruneJson(job.name, result, dryRun), (page) => renderPrune(result, dryRun, page));
    return result.failures.length > 0 ? exitCodes.failed : exitCodes.complete;
  },
});

const run = result({ run_id: text, status: oneOf("complete", "partial"), bytes: count, reasons: listOf(text) });

/** The result of `kbdump prune --json`. */
const pruneResult = result({
  status: v.pipe(oneOf("complete", "partial"), v.description("partial: some runs could not be removed")),
  job: text,
  dry_run: truth,
  kept: listOf(run),
  removed: listOf(run),
  failed: listOf(result({ run_id: text, error: text })),
  ignored: v.pipe(listOf(result({ name: text, why: text })), v.description("folders that are not runs of this job")),
  set_aside: v.pipe(truth, v.description("whether old unfinished work is removed, too")),
});

type PruneSummary = v.InferOutput<typeof pruneResult>;

/** Renders which runs are kept and which are removed, newest first, with reasons, then the totals. */
export function renderPrune({ runs, strangers, setAside, failures }: PruneResult, dryRun: boolean, page: Page): string {
  const { paint } = page;
  const errors = new Map(failures.map(({ runId, error }) => [runId, error]));
  const gone = runs.filter(({ keep, runId }) => !keep && !errors.has(runId));
  const bytes = gone.reduce((sum, run) => sum + run.bytes, 0);
  const rows = runs.map(({ runId, status, keep, reasons }) => {
    const error = errors.get(runId);
    const failed = error === undefined ? "" : `; ${paint.bad("failed")}: ${messageText(error)}`;
    return [keep ? paint.good("keep") : paint.bad("remove"), runId, status, `${reasons.join(", ")}${failed}`];
  });
  const table = ({ columns: width }: Page) =>
    layOutTable(rows, { columns: [{}, {}, {}, { wraps: true }], width }).flat();
  const counts = `${countText(runs.length - gone.length, "run")} kept, ${gone.length} ${dryRun ? "would be removed" : "removed"} (${bytesText(bytes)})`;
  const old = `unfinished work that is too old to resume ${dryRun ? "would be removed" : "is removed"}, too`;
  const ignored = strangers.map(({ name, why }) => `${paint.faint("ignore")}  ${terminalText(name)}: ${why}`);
  return renderParagraphs(
    [
      [table, ...ignored],
      [counts, setAside && old],
    ],
    page,
  );
}

function pruneJson(job: string, { runs, strangers, setAside, failures }: PruneResult, dryRun: boolean): PruneSummary {
  const failed = new Set(failures.map(({ runId }) => runId));
  const named = (some: PruneResult["runs"]) =>
    some.map(({ runId, reasons, status, bytes }) => ({ run_id: runId, status, bytes, reasons }));
  return {
    status: failures.length > 0 ? "partial" : "complete",
    job,
    dry_run: dryRun,
    kept: named(runs.filter(({ keep }) => keep)),
    removed: named(runs.filter(({ keep, runId }) => !keep && !failed.has(runId))),
    failed: failures.map(({ runId, error }) => ({ run_id: runId, error })),
    ignored: strangers,
    set_aside: setAside,
  };
}
