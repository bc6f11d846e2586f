import { countText, durationText, numberText } from "../amounts.js";
import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { cutToWidth } from "../cli/display-width.js";
import { checkJobIsNamed, durationOption } from "../cli/flag-values.js";
import type { ProgressFacts, ReadingFacts } from "../cli/log-schema.js";
import { jobFrom, jobOptions, jobPositional } from "../cli/options.js";
import { renderParagraphs } from "../cli/outline.js";
import { printReason } from "../cli/output.js";
import { renderBar } from "../cli/progress-text.js";
import type { News, Rendering } from "../cli/progress-view.js";
import { type Column, renderTable } from "../cli/table.js";
import { type Page, secondsFrom, terminalText } from "../cli/text.js";
import { exitCodes, StopError, UsageError } from "../errors.js";
import { type Job, namedDatasets } from "../job/job.js";
import { jsonText } from "../rows/exact-json.js";
import type { Row } from "../rows/row.js";
import { statusResult, type WatchedStatus, watchResult } from "../status/status-result.js";
import {
  countsOf,
  emptyWatchProgress,
  isOver,
  timeLeft,
  type WatchedDocument,
  type WatchedDocuments,
  type WatchProgress,
} from "../status/watched-documents.js";

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
    await environment.print(result, (page) =>
      renderParagraphs([[statusTable(status.rows, Date.now())], [placeText(status, "it")]], page),
    );
    return status.failures.length > 0 ? exitCodes.partial : exitCodes.complete;
  },
});

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

/** A table of indexing statuses for people: document, status, percent, age, error. `now` is in milliseconds. */
export function statusTable(rows: readonly Row[], now: number): (page: Page) => readonly string[] {
  const errorText = ({ error }: Row) => (error === null ? "" : typeof error === "string" ? error : jsonText(error));
  const columns: readonly Column<Row>[] = [
    { head: "document", cell: ({ document_id }) => terminalText(String(document_id)), id: true },
    { head: "status", cell: statusOf, least: 8 },
    { head: "done", cell: (row) => percentOf(row) ?? "–" }, // no counts right after an update
    { head: "age", cell: ({ processing_started_at }) => ageText(processing_started_at, now) },
    { head: "error", cell: (row) => terminalText(errorText(row), 100), wraps: true },
  ];
  const colours: Readonly<Record<string, "good" | "bad">> = { completed: "good", error: "bad" };
  return (page) => renderTable(rows, columns, page, (row) => colours[statusOf(row)]);
}

/** Says where the recorded statuses are, or where the next run will add them. */
function placeText({ added, database }: Pick<WatchedStatus, "added" | "database">, what: "it" | "them"): string {
  return `${added ? "added to" : `the next run adds ${what} to`} ${terminalText(database)}`;
}

function statusOf({ indexing_status }: Row): string {
  return terminalText(String(indexing_status ?? "unknown"), 30);
}

/** Time since processing began, which shows what is stuck. */
function ageText(startedAt: unknown, now: number): string {
  return typeof startedAt === "string" ? durationText(now - Date.parse(startedAt)) : "–";
}

/** The outcome of a watch, for people. `now` is in milliseconds. */
export function renderWatchResult(result: WatchedStatus, now: number, page: Page): string {
  const { status, rows, seconds, readings } = result;
  const text = `${countText(rows.length, "document")} in ${durationText(seconds * 1000)}, ${countText(readings, "reading")}`;
  return renderParagraphs(
    [
      [{ head: verdicts[status], paint: status === "completed" ? "good" : "bad", text }],
      [rows.length > 0 && statusTable(rows, now)],
      [readings > 0 ? placeText(result, "them") : "no status was read"],
    ],
    page,
  );
}

const verdicts = { completed: "completed", error: "ended with errors", timeout: "not completed in time" } as const;

/** Why a watch ended before everything was completed. `timeout` is in milliseconds. */
export function timeoutText({ rows }: WatchedStatus, timeout: number): string {
  const ended = new Set(["completed", "error"]);
  const open = rows.filter(({ indexing_status }) => !ended.has(String(indexing_status)));
  const what =
    rows.length === 0
      ? "no batch could be read"
      : `${open.length} of ${countText(rows.length, "document")} ${open.length === 1 ? "has" : "have"} not finished`;
  return `${what} within ${durationText(timeout)}; --timeout sets the limit`;
}

/** Renders the progress of a watch; on a terminal, with a bar for each document. */
export function renderWatch(progress: WatchProgress, now = Date.now): Rendering {
  return {
    facts: (elapsed) => watchFacts(progress, elapsed, now()),
    lines: () => renderWatchLines(progress, now()),
    block: (_elapsed, screen) => {
      const [first = "", ...bars] = renderWatchBlock(progress, now(), screen);
      return [first, ...bars.map(screen.paint.good)];
    },
    drawEvery: 1_000,
  };
}

function watchFacts({ documents }: WatchProgress, elapsed: number, now: number): ProgressFacts {
  const { documents: all, completed, failed, left } = sumDocuments(documents, now);
  return {
    step: "watching",
    done: completed + failed,
    of: all,
    unit: "document",
    per_second: 0,
    share: all > 0 ? (completed + failed) / all : null,
    counts: { documents: all, completed, failed },
    elapsed_seconds: secondsFrom(elapsed),
    remaining_seconds: secondsFrom(left),
    silent_seconds: null,
  };
}

function readingFacts(document: WatchedDocument, now: number): ReadingFacts {
  const { dataset_id, batch, document_id, indexing_status, completed_segments, total_segments } = document.row;
  const { share, left } = documentProgress(document, now);
  const textOf = (value: unknown) => (typeof value === "string" ? value : null);
  const countOf = (value: unknown) => (typeof value === "number" ? value : null);
  return {
    dataset_id: String(dataset_id),
    batch: String(batch),
    document_id: textOf(document_id),
    indexing_status: textOf(indexing_status),
    completed_segments: countOf(completed_segments),
    total_segments: countOf(total_segments),
    share,
    remaining_seconds: secondsFrom(left),
  };
}

/** Maximum lines that name a document after one poll. */
const mostLines = 10;

/** Reports documents that are new or changed in a poll: every change for JSON, every new stage for people. */
export class WatchNews {
  readonly #stages = new Map<string, unknown>();

  from(changed: readonly WatchedDocument[], now = Date.now()): News {
    const moved = changed.filter((document) => this.#isNewStage(document));
    const more = moved.length - mostLines;
    return {
      facts: changed.map((document) => readingFacts(document, now)),
      lines: [
        ...moved.slice(0, mostLines).map((document) => renderDocumentLine(document, now)),
        ...(more > 0 ? [`… and ${countText(more, "more document")} reached another stage`] : []),
      ],
    };
  }

  #isNewStage({ row }: WatchedDocument): boolean {
    const key = JSON.stringify([row.dataset_id, row.batch, row.document_id]);
    const isNew = this.#stages.get(key) !== row.indexing_status;
    this.#stages.set(key, row.indexing_status);
    return isNew;
  }
}

/** The share done, from 0 to 1, and the milliseconds left; null if unknown. */
function documentProgress({ row, samples }: WatchedDocument, now: number) {
  const counts = countsOf(row);
  return { share: counts ? counts.done / counts.total : null, left: timeLeft(samples, row, now) ?? null };
}

/**
 * The progress of the whole watch. `failed`: in error, or gone from their batch. `left`: milliseconds until the slowest document is
 * done; null unless known for each.
 */
function sumDocuments(documents: WatchedDocuments, now: number) {
  const all = [...documents.values()];
  const waiting = all.filter((document) => !isOver(document));
  const completed = all.filter(({ state }) => state === "completed").length;
  const times = waiting.map(({ samples, row }) => timeLeft(samples, row, now)).filter((time) => time !== undefined);
  const left = times.length === waiting.length && times.length > 0 ? times.reduce((a, b) => Math.max(a, b)) : null;
  return { documents: all.length, completed, failed: all.length - waiting.length - completed, left };
}

/** After this many milliseconds without an answer, the text shows the age of the status. */
const old = 60_000;

/** `1 of 3 documents completed, 1 failed · 2 min 5 s left` */
export function renderWatchProgress({ documents, polls, readAt }: WatchProgress, now: number): string {
  if (polls === 0) return "reading the status of the batches";
  const { documents: all, completed, failed, left } = sumDocuments(documents, now);
  const done = `${numberText(completed)} of ${countText(all, "document")} completed`;
  const age = readAt === undefined ? undefined : now - readAt;
  return [
    `${done}${failed > 0 ? `, ${numberText(failed)} failed` : ""}`,
    leftText(left),
    age !== undefined && age > old && `last read ${durationText(age)} ago`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** `document 1e63378f-…: indexing · 360 of 721 chunks, 49 % · 2 min 5 s left` */
export function renderDocumentLine(document: WatchedDocument, now: number): string {
  const { left } = documentProgress(document, now);
  const counts = countsOf(document.row);
  const done =
    counts && `${numberText(counts.done)} of ${countText(counts.total, "chunk")}, ${percentOf(document.row)}`;
  const facts = [stageText(document), done, leftText(left)];
  return `document ${terminalText(String(document.row.document_id))}: ${facts.filter(Boolean).join(" · ")}`;
}

/** `40 %`; undefined while the service has no counts. */
function percentOf(row: Row): string | undefined {
  const counts = countsOf(row);
  return counts && `${Math.floor((100 * counts.done) / counts.total)} %`;
}

/** Up to this many waiting documents are listed one by one. */
const few = 3;

/** The progress to print periodically: a line per waiting document or, if there are many, one line in total. */
export function renderWatchLines(progress: WatchProgress, now: number): readonly string[] {
  const waiting = [...progress.documents.values()].filter((document) => !isOver(document));
  const isOld = progress.readAt === undefined || now - progress.readAt > old;
  if (waiting.length === 0 || waiting.length > few || isOld) return [renderWatchProgress(progress, now)];
  return waiting.map((document) => renderDocumentLine(document, now));
}

/** The total progress, then a bar for each waiting document, active ones first. It fits the width and height of the terminal. */
export function renderWatchBlock(
  progress: WatchProgress,
  now: number,
  size: { readonly columns: number; readonly rows: number },
): readonly string[] {
  const waiting = [...progress.documents.values()].filter((document) => !isOver(document));
  const isIdle = ({ row }: WatchedDocument) => row.indexing_status === "waiting";
  const atWork = waiting.toSorted((a, b) => Number(isIdle(a)) - Number(isIdle(b)));
  const room = Math.max(1, size.rows - 3);
  const shown = atWork.slice(0, atWork.length > room ? room - 1 : room);
  const more = atWork.length - shown.length;
  return [
    renderWatchProgress(progress, now),
    ...shown.map((document) => barLine(document, now, size.columns)),
    ...(more > 0 ? [`… and ${countText(more, "more document")}`] : []),
  ].map((line) => cutToWidth(line, size.columns - 1));
}

function barLine(document: WatchedDocument, now: number, columns: number): string {
  const { share, left } = documentProgress(document, now);
  const id = terminalText(String(document.row.document_id), 36);
  const name = columns < 80 ? id.slice(0, 8) : id;
  const bar = renderBar(share ?? undefined, columns < 100 ? 12 : 24);
  return [`${name}  ${bar}  ${stageText(document)}`, leftText(left)].filter(Boolean).join(" · ");
}

function stageText({ row, state }: WatchedDocument): string {
  return state === "gone" ? "gone" : statusOf(row);
}

function leftText(left: number | null): string | undefined {
  return left === null ? undefined : `${durationText(left)} left`;
}
