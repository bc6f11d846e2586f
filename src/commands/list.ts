import * as v from "valibot";
import { ageText, bytesText, countText, durationText, numberText } from "../amounts.js";
import { type Arguments, defineCommand, type Environment, type Options, type Positionals } from "../cli/command.js";
import { durationFrom } from "../cli/flag-values.js";
import { findOptionsFrom, outOption } from "../cli/options.js";
import { printReason } from "../cli/output.js";
import { type Column, renderTable } from "../cli/table.js";
import { type Page, plain, secondsFrom, terminalText, wrapped } from "../cli/text.js";
import { timeOfRun } from "../dump/run-id.js";
import { exitCodes, UsageError } from "../errors.js";
import { isBucketUrl } from "../job/s3-url.js";
import { time } from "../rows/result-rows.js";
import { amount, count, listOf, oneOf, orNull, result, text, truth } from "../schema.js";
import type { ListedRun, RunAtWork, RunList, ShardSet } from "../store/list-runs.js";

const epilog = `Examples:
  kbdump list
  kbdump list nightly.yaml
  kbdump list nightly --max-age 26h --quiet

With a job file, the column keep names the rules of output.keep that hold a run; - stands for a run that the next one removes.

Exit codes: 0 listed · 1 with --max-age: a job without a complete run that is young enough · 2 wrong usage, or no such job`;

const run = result({
  run_id: text,
  folder: text,
  status: oneOf("complete", "partial"),
  latest: truth,
  started_at: orNull(time),
  finished_at: orNull(time),
  age_seconds: amount,
  seconds: orNull(amount),
  documents: orNull(count),
  chunks: orNull(count),
  child_chunks: orNull(count),
  bytes: count,
  kept_by: v.pipe(
    orNull(listOf(oneOf("newest", "last", "daily", "weekly", "monthly"))),
    v.description("rules of output.keep that keep it; empty: the next run removes it; null: the rules are unknown"),
  ),
});

const job = result({
  job: text,
  folder: text,
  newest_complete: orNull(result({ run_id: text, age_seconds: amount })),
  at_work: v.pipe(
    orNull(result({ pid: orNull(count), host: orNull(text), since: orNull(text) })),
    v.description("the active run; null if there is none"),
  ),
  runs: v.pipe(listOf(run), v.description("newest first")),
  ignored: v.pipe(listOf(result({ name: text, why: text })), v.description("folders that are not runs of this job")),
  shards: v.pipe(
    listOf(result({ count, with_run: count, missing: listOf(count), newest_run_id: orNull(text) })),
    v.description(
      "one for each number of shards that the job was divided into; missing: indexes of shards without a run",
    ),
  ),
});

const positionals = {
  jobs: {
    type: "string",
    array: true,
    names: "job file",
    describe: "job files, names or folders of jobs; default: the newest run of every job",
  },
} as const satisfies Positionals;

const options = {
  ...outOption,
  "max-age": {
    value: "TIME",
    read: readAge,
    describe: "exit with 1 if the newest complete run is older, such as 26h or 2d",
  },
} as const satisfies Options;

type ListArguments = Arguments<typeof positionals & typeof options>;

const defaultDir = "output";

/** `kbdump list [jobs…]`: lists the runs of jobs, or the newest run of every job. */
export const command = defineCommand({
  name: "list [jobs..]",
  about: "list the runs of jobs, or the newest run of every job",
  positionals,
  options,
  epilog,
  results: () => ({ list: listResult }),
  async run(args, environment) {
    const now = new Date();
    const jobs = args.jobs ?? [];
    const lists: readonly RunList[] =
      jobs.length > 0
        ? await oneByOne(jobs, (job) => listJob(job, args, now, environment))
        : await listJobs(args, now, environment);
    const stale = staleTexts(lists, now.getTime(), args.maxAge?.age);
    const result: ListResult = {
      status: stale.length > 0 ? "stale" : "ok",
      jobs: lists.map((list) => jobJson(list, now.getTime())),
    };
    await environment.print(result, ({ paint }) => {
      const view = { paint, columns: environment.stdout.columns ?? 100, now: now.getTime() };
      const { out = defaultDir } = args;
      return jobs.length > 0 ? lists.map((list) => renderRuns(list, view)).join("\n\n") : renderJobs(lists, out, view);
    });
    for (const sentence of stale) printReason(`${sentence}; --max-age is ${args.maxAge?.given}`, args, environment);
    return stale.length > 0 ? exitCodes.failed : exitCodes.complete;
  },
});

/** Parses an age to milliseconds. The message about an old run repeats the given text. */
function readAge(given: string, path: string) {
  const age = durationFrom(path, given, { least: 1_000, most: 315_360_000_000, text: "from 1 s to 3650 d" });
  return typeof age === "number" ? { age, given } : age;
}

async function listJob(job: string, args: ListArguments, now: Date, environment: Environment): Promise<RunList> {
  const { findNamed } = await import("../store/find-named.js");
  const { listRuns } = await import("../store/list-runs.js");
  const found = await findNamed(job, findOptionsFrom(args, environment));
  if (found.kind === "job" && found.run === undefined) return listRuns(found.location, now, found.copy);
  const message = "expected a job: its name, its folder or its job file";
  throw new UsageError("Nothing was listed:", [{ path: job, message }]);
}

async function listJobs(args: ListArguments, now: Date, environment: Environment): Promise<readonly RunList[]> {
  const { out: dir = defaultDir } = args;
  const { jobsIn, namesInBucket } = await import("../store/find-named.js");
  if (isBucketUrl(dir)) {
    const names = await namesInBucket(dir, findOptionsFrom(args, environment));
    return oneByOne(names, (name) => listJob(name, args, now, environment));
  }
  const { listRuns } = await import("../store/list-runs.js");
  const names = await jobsIn(dir);
  if (names) {
    const output = { dir, bucket: undefined, keep: undefined };
    return oneByOne(names, (name) => listRuns({ name, output }, now));
  }
  const message = "there is no such folder; name a job file, or the output folder with --out";
  throw new UsageError("Nothing was listed:", [{ path: dir, message }]);
}

async function oneByOne<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await read(item));
  return results;
}

/** The result of `kbdump list --json`. */
const listResult = result({
  status: v.pipe(oneOf("ok", "stale"), v.description("stale: --max-age is exceeded")),
  jobs: listOf(job),
});

type ListResult = v.InferOutput<typeof listResult>;

interface ListView extends Page {
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
}

/** The runs of one job for people, newest first, and other facts about them. */
export function renderRuns(list: RunList, view: ListView): string {
  const { paint } = view;
  const { runs, strangers, atWork, folder, shards } = list;
  const hasRules = runs.some(({ keptBy }) => keptBy !== null);
  const rows = runs.map((run) => ({ run }));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { head: "run", cell: ({ run }) => run.runId },
    ...figures(view.now),
    ...(hasRules ? [{ head: "keep", cell: keepText, drop: 8 }] : []),
    { head: "", cell: ({ run }) => (run.isLatest ? "latest" : ""), drop: 7 },
  ];
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  return [
    ...(runs.length > 0 ? [...tableLines(rows, columns, view), ""] : []),
    ...strangers.map(({ name, why }) => `${paint.faint("ignored")}  ${terminalText(name)}: ${why}`),
    ...(atWork ? [workText(atWork)] : []),
    runs.length > 0
      ? `${countText(runs.length, "run")} in ${terminalText(folder)}, ${bytesText(bytes)}`
      : `no run was published in ${terminalText(folder)} yet`,
    ...shards.map(shardsText),
  ].join("\n");
}

/** The newest run of every job for people, one line each. */
export function renderJobs(lists: readonly RunList[], dir: string, view: ListView): string {
  if (lists.length === 0) return `no job has run in ${terminalText(dir)} yet`;
  const rows = lists.map((list) => ({ list, run: list.runs[0] }));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { head: "job", cell: ({ list }) => terminalText(list.job) },
    { head: "newest run", cell: ({ run }) => run?.runId ?? "none", drop: 7 },
    ...figures(view.now),
    { head: "runs", cell: ({ list }) => String(list.runs.length), right: true, drop: 8 },
    { head: "", cell: ({ list }) => (list.atWork ? "active" : ""), drop: 9 },
  ];
  const empty = lists.filter(({ runs, atWork, shards }) => runs.length === 0 && !atWork && shards.length === 0);
  const names = empty.map(({ job }) => terminalText(job)).join(", ");
  const note = `Never published a run, because each failed or was stopped: ${names}. Run the job again to see why, or remove its folder in ${terminalText(dir)}.`;
  return [...tableLines(rows, columns, view), ...(empty.length > 0 ? ["", ...wrapped(note, view)] : [])].join("\n");
}

/** A row of the table of runs, or of the table of jobs. */
interface RunRow {
  readonly run: ListedRun | undefined;
}

function tableLines<Row extends RunRow>(rows: readonly Row[], columns: readonly Column<Row>[], view: ListView) {
  return renderTable(rows, columns, view, ({ run }) => (run?.status === "partial" ? view.paint.bad : plain)).flat();
}

/** The columns that the table of runs and the table of jobs share. */
function figures(now: number): readonly Column<RunRow>[] {
  const column = (head: string, text: (run: ListedRun) => string, drop?: number) => {
    const cell = ({ run }: RunRow) => (run ? text(run) : "");
    return { head, cell, right: head !== "status", drop };
  };
  return [
    column("age", (run) => ageText(now - endOf(run))),
    column("status", ({ status }) => status),
    column("documents", ({ counts }) => countCell(counts.documents), 3),
    column("chunks", ({ counts }) => countCell(counts.chunks), 6),
    column("children", ({ counts }) => countCell(counts.child_chunks), 4),
    column("size", ({ bytes }) => bytesText(bytes), 5),
    column("took", (run) => durationCell(tookBy(run)), 2),
  ];
}

function countCell(count: number | null): string {
  return count === null ? "–" : numberText(count);
}

function durationCell(milliseconds: number | null): string {
  return milliseconds === null ? "–" : durationText(milliseconds);
}

/** How long a run took, in milliseconds. */
function tookBy({ startedAt, finishedAt }: ListedRun): number | null {
  return startedAt === null || finishedAt === null ? null : finishedAt - startedAt;
}

/** The rules that keep a run. `newest` is shown only if no other rule keeps it. */
function keepText({ run }: { readonly run: ListedRun }): string {
  const rules = (run.keptBy ?? []).filter((rule, _, all) => rule !== "newest" || all.length === 1);
  return rules.length > 0 ? rules.join(", ") : "-";
}

function workText({ pid, host, since }: RunAtWork): string {
  if (pid === null) return "a run is active; its lock file cannot be read";
  return terminalText(`a run is active: process ${pid} on ${host} since ${since}`);
}

/** Maximum numbers of missing shards to list. */
const named = 10;

/** How many shards of a division have a run, and which do not. */
function shardsText({ count, missing, newestRunId }: ShardSet): string {
  const done = count - missing.length;
  const more = missing.length > named ? ` and ${missing.length - named} more` : "";
  const without = missing.length > 0 ? `; without one: ${missing.slice(0, named).join(", ")}${more}` : "";
  return `${countText(count, "shard")}, ${done} with a run${newestRunId ? `, the newest ${newestRunId}` : ""}${without}`;
}

/** One line for each job whose newest complete run is missing or older than `maxAge` milliseconds. */
function staleTexts(lists: readonly RunList[], now: number, maxAge: number | undefined): readonly string[] {
  if (maxAge === undefined) return [];
  return lists.flatMap((list) => {
    const run = newestComplete(list);
    if (!run) return [`${terminalText(list.job)} has no complete run`];
    const age = now - endOf(run);
    if (age <= maxAge) return [];
    return [`the newest complete run of ${terminalText(list.job)}, ${run.runId}, is ${durationText(age)} old`];
  });
}

function newestComplete({ runs }: RunList): ListedRun | undefined {
  return runs.find(({ status }) => status === "complete");
}

function jobJson(list: RunList, now: number): ListResult["jobs"][number] {
  const newest = newestComplete(list);
  return {
    job: list.job,
    folder: list.folder,
    newest_complete: newest ? { run_id: newest.runId, age_seconds: secondsFrom(now - endOf(newest)) } : null,
    at_work: list.atWork ?? null,
    runs: list.runs.map((run) => ({
      run_id: run.runId,
      folder: run.folder,
      status: run.status,
      latest: run.isLatest,
      started_at: timeText(run.startedAt),
      finished_at: timeText(run.finishedAt),
      age_seconds: secondsFrom(now - endOf(run)),
      seconds: secondsFrom(tookBy(run)),
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

function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** When a run ended, in milliseconds since 1970; if unknown, when it started. */
function endOf({ finishedAt, runId }: Pick<ListedRun, "finishedAt" | "runId">): number {
  return finishedAt ?? timeOfRun(runId) ?? 0;
}
