import { ageText, bytesText, countText, durationText, numberText } from "../amounts.js";
import { endOf, freshnessOf } from "../list/freshness.js";
import type { ListedRun, RunAtWork, RunList } from "../list/list-runs.js";
import type { ShardSet } from "../list/list-shards.js";
import type { ListResult } from "../results/list.js";
import { layOutTable, type TableColumn } from "./table.js";
import { type Paint, terminalText } from "./text.js";

export interface ListView {
  readonly paint: Paint;
  /** Characters that fit a line. */
  readonly columns: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The runs of one job for people, newest first, and what else is to be known of them. */
export function renderRuns(list: RunList, { paint, columns, now }: ListView): string {
  const { runs, strangers, atWork, folder, shards } = list;
  const hasRules = runs.some(({ keptBy }) => keptBy !== null);
  const cells: readonly ListColumn[] = [
    { head: "run", cells: runs.map(({ runId }) => runId) },
    ...figures(runs, now),
    ...(hasRules ? [{ head: "keep", cells: runs.map(keepText), drop: 8 }] : []),
    { head: "", cells: runs.map(({ isLatest }) => (isLatest ? "latest" : "")), drop: 7 },
  ];
  const [head = "", ...lines] = linesOf(cells, columns);
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  return [
    ...(runs.length > 0 ? [paint.faint(head), ...lines.map((line, at) => painted(line, runs[at], paint)), ""] : []),
    ...strangers.map(({ name, why }) => `${paint.faint("ignored")}  ${terminalText(name)}: ${why}`),
    ...(atWork ? [workText(atWork)] : []),
    runs.length > 0
      ? `${countText(runs.length, "run")} in ${terminalText(folder)}, ${bytesText(bytes)}`
      : `no run in ${terminalText(folder)} yet`,
    ...shards.map(shardsText),
  ].join("\n");
}

/** The newest run of every job for people, a line each. */
export function renderJobs(lists: readonly RunList[], dir: string, { paint, columns, now }: ListView): string {
  if (lists.length === 0) return `no job has run in ${terminalText(dir)} yet`;
  const newest = lists.map(({ runs }) => runs[0]);
  const cells: readonly ListColumn[] = [
    { head: "job", cells: lists.map(({ job }) => terminalText(job)) },
    { head: "newest run", cells: newest.map((run) => run?.runId ?? "none yet"), drop: 7 },
    ...figures(newest, now),
    { head: "runs", cells: lists.map(({ runs }) => String(runs.length)), right: true, drop: 8 },
    { head: "", cells: lists.map(({ atWork }) => (atWork ? "at work" : "")), drop: 9 },
  ];
  const [head = "", ...lines] = linesOf(cells, columns);
  return [paint.faint(head), ...lines.map((line, at) => painted(line, newest[at], paint))].join("\n");
}

/** A column with its head and the cell of each row. */
interface ListColumn extends Pick<TableColumn, "right" | "drop"> {
  readonly head: string;
  readonly cells: readonly string[];
}

/** The head and a line for each row, with as many columns as fit. */
function linesOf(columns: readonly ListColumn[], width: number): readonly string[] {
  const rows = (columns[0]?.cells ?? []).map((_, at) => columns.map(({ cells }) => cells[at] ?? ""));
  return layOutTable([columns.map(({ head }) => head), ...rows], { columns, width }).flat();
}

/** The columns that both tables have. */
function figures(runs: readonly (ListedRun | undefined)[], now: number): readonly ListColumn[] {
  const right = (head: string, drop: number | undefined, text: (run: ListedRun) => string): ListColumn => ({
    head,
    cells: runs.map((run) => (run ? text(run) : "")),
    right: true,
    ...(drop === undefined ? {} : { drop }),
  });
  return [
    right("age", undefined, (run) => ageText(now - endOf(run))),
    { head: "status", cells: runs.map((run) => run?.status ?? "") },
    right("documents", 3, ({ counts }) => countCell(counts.documents)),
    right("chunks", 6, ({ counts }) => countCell(counts.chunks)),
    right("children", 4, ({ counts }) => countCell(counts.child_chunks)),
    right("size", 5, ({ bytes }) => bytesText(bytes)),
    right("took", 2, ({ startedAt, finishedAt }) =>
      startedAt === null || finishedAt === null ? "–" : durationText(finishedAt - startedAt),
    ),
  ];
}

function countCell(count: number | null): string {
  return count === null ? "–" : numberText(count);
}

/** The rules that hold a run; `newest` stands only if no other rule holds it. */
function keepText({ keptBy }: ListedRun): string {
  const rules = (keptBy ?? []).filter((rule, _, all) => rule !== "newest" || all.length === 1);
  return rules.length > 0 ? rules.join(", ") : "-";
}

function painted(line: string, run: ListedRun | undefined, { bad }: Paint): string {
  return run?.status === "partial" ? bad(line) : line;
}

function workText({ pid, host, since }: RunAtWork): string {
  if (pid === null) return "a run is at work; its lock file cannot be read";
  return terminalText(`a run is at work: process ${pid} on ${host} since ${since}`);
}

/** Indexes that a line names. */
const named = 10;

/** Says how many shards of a division have a run, and which have none. */
function shardsText({ count, missing, newestRunId }: ShardSet): string {
  const done = count - missing.length;
  const more = missing.length > named ? ` and ${missing.length - named} more` : "";
  const without = missing.length > 0 ? `; without one: ${missing.slice(0, named).join(", ")}${more}` : "";
  return `${countText(count, "shard")}, ${done} with a run${newestRunId ? `, the newest ${newestRunId}` : ""}${without}`;
}

/** Says, in one line each, of which jobs the newest complete run is older than `maxAge`, in milliseconds, or missing. */
export function staleTexts(lists: readonly RunList[], now: number, maxAge: number | undefined): readonly string[] {
  return lists.flatMap((list) => {
    const { run, age = 0, isStale } = freshnessOf(list, now, maxAge);
    if (!isStale) return [];
    if (!run) return [`${terminalText(list.job)} has no complete run`];
    return [`the newest complete run of ${terminalText(list.job)}, ${run.runId}, is ${durationText(age)} old`];
  });
}

/** The runs of jobs for programs. */
export function listJson(lists: readonly RunList[], now: number, maxAge: number | undefined): ListResult {
  const isStale = lists.some((list) => freshnessOf(list, now, maxAge).isStale);
  return { status: isStale ? "stale" : "ok", jobs: lists.map((list) => jobJson(list, now)) };
}

function jobJson(list: RunList, now: number): ListResult["jobs"][number] {
  const { run, age } = freshnessOf(list, now, undefined);
  return {
    job: list.job,
    folder: list.folder,
    newest_complete: run ? { run_id: run.runId, age_seconds: seconds(age ?? 0) } : null,
    at_work: list.atWork ?? null,
    runs: list.runs.map((run) => ({
      run_id: run.runId,
      folder: run.folder,
      status: run.status,
      latest: run.isLatest,
      started_at: timeText(run.startedAt),
      finished_at: timeText(run.finishedAt),
      age_seconds: seconds(now - endOf(run)),
      seconds: run.startedAt === null || run.finishedAt === null ? null : seconds(run.finishedAt - run.startedAt),
      ...run.counts,
      bytes: run.bytes,
      kept_by: run.keptBy && [...run.keptBy],
    })),
    ignored: [...list.strangers],
    shards: list.shards.map(({ count, missing, newestRunId }) => ({
      count,
      with_run: count - missing.length,
      missing: [...missing],
      newest_run_id: newestRunId ?? null,
    })),
  };
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}

function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
