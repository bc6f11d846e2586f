import * as v from "valibot";
import { ageText, bytesText, countText, durationText, numberText } from "../amounts.js";
import { type Arguments, defineCommand, type Environment, type Options, type Positionals } from "../cli/command.js";
import { durationFrom } from "../cli/flag-values.js";
import { findOptionsFrom, outOption } from "../cli/options.js";
import { firstRows, renderParagraphs } from "../cli/outline.js";
import { printReason } from "../cli/output.js";
import type { Column } from "../cli/table.js";
import { type Page, secondsFrom, terminalText } from "../cli/text.js";
import { timeOfRun } from "../dump/run-id.js";
import { exitCodes, UsageError } from "../errors.js";
import { isBucketUrl } from "../job/s3-url.js";
import { time } from "../rows/result-rows.js";
import { amount, count, listOf, oneOf, orNull, result, text, truth } from "../schema.js";
import type { RunList } from "../store/list-runs.js";

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
    const words = args.jobs ?? [];
    const lists = words.length > 0 ? listNamed(words, args, now, environment) : listAll(args, now, environment);
    const jobs = (await lists).map((list) => jobOf(list, now.getTime()));
    const stale = args.maxAge === undefined ? [] : staleTexts(jobs, args.maxAge.age);
    const result: ListResult = { status: stale.length > 0 ? "stale" : "ok", jobs };
    await environment.print(result, (page) =>
      words.length > 0
        ? jobs.map((job) => renderRuns(job, page)).join("\n\n")
        : renderJobs(jobs, args.out ?? defaultDir, page),
    );
    for (const sentence of stale) printReason(`${sentence}; --max-age is ${args.maxAge?.given}`, args, environment);
    return stale.length > 0 ? exitCodes.failed : exitCodes.complete;
  },
});

/** Parses an age to milliseconds. The message about an old run repeats the given text. */
function readAge(given: string, path: string) {
  const age = durationFrom(path, given, { least: 1_000, most: 315_360_000_000, text: "from 1 s to 3650 d" });
  return typeof age === "number" ? { age, given } : age;
}

async function listNamed(
  words: readonly string[],
  args: ListArguments,
  now: Date,
  environment: Environment,
): Promise<readonly RunList[]> {
  const { findNamed } = await import("../store/find-named.js");
  const { listRuns } = await import("../store/list-runs.js");
  const lists: RunList[] = [];
  for (const word of words) {
    const found = await findNamed(word, findOptionsFrom(args, environment));
    if (found.kind !== "job" || found.run !== undefined)
      throw notListed(word, "expected a job: its name, its folder or its job file");
    lists.push(await listRuns(found.location, now, found.copy));
  }
  return lists;
}

async function listAll(args: ListArguments, now: Date, environment: Environment): Promise<readonly RunList[]> {
  const { out: dir = defaultDir } = args;
  const { jobsIn, namesInBucket } = await import("../store/find-named.js");
  if (isBucketUrl(dir))
    return listNamed(await namesInBucket(dir, findOptionsFrom(args, environment)), args, now, environment);
  const { listRuns } = await import("../store/list-runs.js");
  const names = await jobsIn(dir);
  if (!names) throw notListed(dir, "there is no such folder; name a job file, or the output folder with --out");
  const lists: RunList[] = [];
  for (const name of names)
    lists.push(await listRuns({ name, output: { dir, bucket: undefined, keep: undefined } }, now));
  return lists;
}

function notListed(path: string, message: string): UsageError {
  return new UsageError("Nothing was listed:", [{ path, message }]);
}

/** The result of `kbdump list --json`. */
const listResult = result({
  status: v.pipe(oneOf("ok", "stale"), v.description("stale: --max-age is exceeded")),
  jobs: listOf(job),
});

type ListResult = v.InferOutput<typeof listResult>;
type ListedJob = ListResult["jobs"][number];
type ListedRun = ListedJob["runs"][number];

/** The runs of one job for people, newest first, and other facts about them. */
export function renderRuns({ runs, ignored, at_work, folder, shards }: ListedJob, page: Page): string {
  const hasRules = runs.some(({ kept_by }) => kept_by !== null);
  const rows = runs.map((run) => ({ run }));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { head: "run", cell: ({ run }) => run.run_id },
    ...figures,
    ...(hasRules ? [{ head: "keep", cell: keepText, drop: 8 }] : []),
    { head: "", cell: ({ run }) => (run.latest ? "latest" : ""), drop: 7 },
  ];
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  return renderParagraphs(
    [
      firstRows(rows, rows.length, columns, undefined, paintOf),
      [
        ...ignored.map(({ name, why }) => `${page.paint.faint("ignored")}  ${terminalText(name)}: ${why}`),
        at_work && workText(at_work),
        runs.length > 0
          ? `${countText(runs.length, "run")} in ${terminalText(folder)}, ${bytesText(bytes)}`
          : `no run was published in ${terminalText(folder)} yet`,
        ...shards.map(shardsText),
      ],
    ],
    page,
  );
}

/** The newest run of every job for people, one line each. */
export function renderJobs(jobs: readonly ListedJob[], dir: string, page: Page): string {
  if (jobs.length === 0) return `no job has run in ${terminalText(dir)} yet`;
  const rows = jobs.map((job) => ({ job, run: job.runs[0] }));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { head: "job", cell: ({ job }) => terminalText(job.job) },
    { head: "newest run", cell: ({ run }) => run?.run_id ?? "none", drop: 7 },
    ...figures,
    { head: "runs", cell: ({ job }) => String(job.runs.length), right: true, drop: 8 },
    { head: "", cell: ({ job }) => (job.at_work ? "active" : ""), drop: 9 },
  ];
  const empty = jobs.filter(({ runs, at_work, shards }) => runs.length === 0 && !at_work && shards.length === 0);
  const names = empty.map(({ job }) => terminalText(job)).join(", ");
  const note = `Without a published run: ${names}. If its runs failed or were stopped, run the job again to see why.`;
  return renderParagraphs(
    [firstRows(rows, rows.length, columns, undefined, paintOf), [empty.length > 0 && note]],
    page,
  );
}

/** A row of the table of runs, or of the table of jobs. */
interface RunRow {
  readonly run: ListedRun | undefined;
}

function paintOf({ run }: RunRow): "bad" | undefined {
  return run?.status === "partial" ? "bad" : undefined;
}

/** The columns that the table of runs and the table of jobs share. */
const figures: readonly Column<RunRow>[] = [
  figure("age", ({ age_seconds }) => ageText(age_seconds * 1000)),
  figure("status", ({ status }) => status),
  figure("documents", ({ documents }) => countCell(documents), 3),
  figure("chunks", ({ chunks }) => countCell(chunks), 6),
  figure("children", ({ child_chunks }) => countCell(child_chunks), 4),
  figure("size", ({ bytes }) => bytesText(bytes), 5),
  figure("took", ({ seconds }) => (seconds === null ? "–" : durationText(seconds * 1000)), 2),
];

function figure(head: string, text: (run: ListedRun) => string, drop?: number): Column<RunRow> {
  return { head, cell: ({ run }) => (run ? text(run) : ""), right: head !== "status", drop };
}

function countCell(count: number | null): string {
  return count === null ? "–" : numberText(count);
}

/** The rules that keep a run. `newest` is shown only if no other rule keeps it. */
function keepText({ run }: { readonly run: ListedRun }): string {
  const rules = (run.kept_by ?? []).filter((rule, _, all) => rule !== "newest" || all.length === 1);
  return rules.length > 0 ? rules.join(", ") : "-";
}

function workText({ pid, host, since }: NonNullable<ListedJob["at_work"]>): string {
  if (pid === null) return "a run is active; its lock file cannot be read";
  return terminalText(`a run is active: process ${pid} on ${host} since ${since}`);
}

/** Maximum numbers of missing shards to list. */
const named = 10;

/** How many shards of a division have a run, and which do not. */
function shardsText({ count, with_run, missing, newest_run_id }: ListedJob["shards"][number]): string {
  const more = missing.length > named ? ` and ${missing.length - named} more` : "";
  const without = missing.length > 0 ? `; without one: ${missing.slice(0, named).join(", ")}${more}` : "";
  return `${countText(count, "shard")}, ${with_run} with a run${newest_run_id ? `, the newest ${newest_run_id}` : ""}${without}`;
}

/** One line for each job whose newest complete run is missing or older than `maxAge` milliseconds. */
function staleTexts(jobs: readonly ListedJob[], maxAge: number): readonly string[] {
  return jobs.flatMap(({ job, newest_complete: newest }) => {
    if (!newest) return [`${terminalText(job)} has no complete run`];
    const age = newest.age_seconds * 1000;
    if (age <= maxAge) return [];
    return [`the newest complete run of ${terminalText(job)}, ${newest.run_id}, is ${durationText(age)} old`];
  });
}

/** The runs of a job as in the JSON. `now`: in milliseconds since 1970. */
export function jobOf({ job, folder, runs: all, strangers, atWork, shards }: RunList, now: number): ListedJob {
  const timeText = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  const runs = all.map(({ runId, folder, status, isLatest, startedAt, finishedAt, counts, bytes, keptBy }) => ({
    run_id: runId,
    folder,
    status,
    latest: isLatest,
    started_at: timeText(startedAt),
    finished_at: timeText(finishedAt),
    age_seconds: secondsFrom(now - (finishedAt ?? timeOfRun(runId) ?? 0)),
    seconds: secondsFrom(startedAt === null || finishedAt === null ? null : finishedAt - startedAt),
    ...counts,
    bytes,
    kept_by: keptBy,
  }));
  const newest = runs.find(({ status }) => status === "complete");
  return {
    job,
    folder,
    newest_complete: newest ? { run_id: newest.run_id, age_seconds: newest.age_seconds } : null,
    at_work: atWork ?? null,
    runs,
    ignored: strangers,
    shards: shards.map(({ count, missing, newestRunId }) => ({
      count,
      with_run: count - missing.length,
      missing,
      newest_run_id: newestRunId ?? null,
    })),
  };
}
