import type { PruneResult } from "../keep/prune-job.js";
import type { PruneSummary } from "../results/prune.js";
import { bytesText, countText, type Paint, terminalText } from "./text.js";

/** Renders which runs of a job are kept and which are removed: a line for each, newest first, with the reason, then the totals. */
export function renderPrune(
  { runs, strangers, setAside, failures }: PruneResult,
  dryRun: boolean,
  paint: Paint,
): string {
  const errors = new Map(failures.map(({ runId, error }) => [runId, error]));
  const gone = runs.filter(({ keep, runId }) => !keep && !errors.has(runId));
  const bytes = gone.reduce((sum, run) => sum + run.bytes, 0);
  const lines = runs.map(({ runId, status, keep, reasons }) => {
    const error = errors.get(runId);
    const verb = keep ? paint.good("keep  ") : paint.bad("remove");
    const line = `${verb}  ${runId}  ${status.padEnd(8)}  ${reasons.join(", ")}`;
    return error === undefined ? line : `${line}; ${paint.bad("failed")}: ${terminalText(error)}`;
  });
  return [
    ...lines,
    ...strangers.map(({ name, why }) => `${paint.faint("ignore")}  ${terminalText(name)}: ${why}`),
    ...(lines.length + strangers.length > 0 ? [""] : []),
    `${countText(runs.length - gone.length, "run")} kept, ${gone.length} ${dryRun ? "would be removed" : "removed"} (${bytesText(bytes)})`,
    ...(setAside ? [`the work that was set aside ${dryRun ? "would be" : "is"} removed, too`] : []),
  ].join("\n");
}

/** The same for programs. */
export function pruneJson(
  job: string,
  { runs, strangers, setAside, failures }: PruneResult,
  dryRun: boolean,
): PruneSummary {
  const named = ({ runId, reasons, status, bytes }: PruneResult["runs"][number]) => ({
    run_id: runId,
    status,
    bytes,
    reasons,
  });
  const failed = new Set(failures.map(({ runId }) => runId));
  return {
    status: failures.length > 0 ? "partial" : "complete",
    job,
    dry_run: dryRun,
    kept: runs.filter(({ keep }) => keep).map(named),
    removed: runs.filter(({ keep, runId }) => !keep && !failed.has(runId)).map(named),
    failed: failures.map(({ runId, error }) => ({ run_id: runId, error })),
    ignored: strangers,
    set_aside: setAside,
  };
}
