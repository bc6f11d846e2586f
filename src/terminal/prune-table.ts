import { bytesText, countText } from "../amounts.js";
import type { PruneResult } from "../keep/prune-job.js";
import type { PruneSummary } from "../results/prune.js";
import { wrapToWidth } from "./display-width.js";
import { layOutTable } from "./table.js";
import { type Page, terminalText } from "./text.js";

/** Renders which runs of a job are kept and which are removed: a line for each, newest first, with the reason, then the totals. */
export function renderPrune(
  { runs, strangers, setAside, failures }: PruneResult,
  dryRun: boolean,
  { paint, columns }: Page,
): string {
  const errors = new Map(failures.map(({ runId, error }) => [runId, error]));
  const gone = runs.filter(({ keep, runId }) => !keep && !errors.has(runId));
  const bytes = gone.reduce((sum, run) => sum + run.bytes, 0);
  const rows = runs.map(({ runId, status, keep, reasons }) => {
    const error = errors.get(runId);
    const failed = error === undefined ? "" : `; ${paint.bad("failed")}: ${terminalText(error)}`;
    return [keep ? paint.good("keep") : paint.bad("remove"), runId, status, `${reasons.join(", ")}${failed}`];
  });
  const lines = [
    ...layOutTable(rows, { columns: [{}, {}, {}, { wraps: true }], width: columns }).flat(),
    ...strangers.flatMap(({ name, why }) =>
      wrapToWidth(`${paint.faint("ignore")}  ${terminalText(name)}: ${why}`, columns, "    "),
    ),
  ];
  const counts = `${countText(runs.length - gone.length, "run")} kept, ${gone.length} ${dryRun ? "would be removed" : "removed"} (${bytesText(bytes)})`;
  const old = `unfinished work that is too old to resume ${dryRun ? "would be removed" : "is removed"}, too`;
  return [
    ...lines,
    ...(lines.length > 0 ? [""] : []),
    ...wrapToWidth(counts, columns, "  "),
    ...(setAside ? wrapToWidth(old, columns, "  ") : []),
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
