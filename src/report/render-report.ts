import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { memoryShare, withSpill } from "../duckdb/open-duckdb.js";
import { type Dump, databaseOf, openDump } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";
import { fileErrorText } from "../file-error.js";
import { isThere, writeAside } from "../files/files.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import type { Verification } from "../verify/findings.js";
import { verifyRun } from "../verify/verify-run.js";
import { gatherChanges } from "./facts/changes.js";
import { factSourceOf } from "./facts/fact-source.js";
import { gatherFlaws } from "./facts/flaws.js";
import { gatherFreshness } from "./facts/freshness.js";
import { gatherHits, gatherLengths } from "./facts/hits.js";
import { gatherIndexing } from "./facts/indexing.js";
import { loadTables } from "./facts/load-tables.js";
import { gatherVerdict, verificationFacts } from "./facts/verdict.js";
import { gatherLost } from "./lost/gather-lost.js";
import type { LostFacts } from "./lost-facts.js";
import { readAssets } from "./page/assets.js";
import { renderPage } from "./page/page.js";
import type { ReportFacts, ReportOptions } from "./report-facts.js";
import { checkPath } from "./report-path.js";
import type { ReportResult, ReportSummary } from "./report-result.js";

/** A report that was rendered. */
export interface RenderedReport {
  /** One HTML document that needs nothing else. The same dump gives the same text. */
  readonly html: string;
  readonly summary: ReportSummary;
}

/**
 * Renders the report of a run. Rejects with UsageError where a path is no folder of a run or no database, with StopError where files of
 * a run are not those that it wrote, and with the reason of `request.signal`.
 */
export async function renderReport(request: ReportRequest): Promise<RenderedReport> {
  const options = withReportDefaults(request);
  const { facts, folders } = await gatherFacts(options);
  options.progress.step = "writing the page";
  const html = renderPage(facts, await readAssets());
  return { html, summary: summaryOf(facts, folders) };
}

/** The facts of a report, and the folders that they come from, with their symlinks resolved. */
interface Gathered {
  readonly facts: ReportFacts;
  readonly folders: { readonly run: string; readonly against: string | undefined };
}

/** The share of the whole work after which the run is read and verified; the comparison with an older run takes the rest. */
const verified = 0.6;

/** Gathers all facts of a report. Rejects as `renderReport` does. */
async function gatherFacts(options: ReportOptions): Promise<Gathered> {
  const { folder, against, database, content, verify, progress } = options;
  if (database !== undefined) await checkDatabase(database);
  const dump = await openDump(folder, "there is no report");
  const old = against === undefined ? undefined : await openDump(against, "nothing was compared");
  const reading = { ...options, progress: segmentOfProgress(progress, { from: 0, to: verified }) };
  const [facts, verification] = verify
    ? await readAndVerify(dump, reading)
    : [await factsOfRun(dump, reading), undefined];
  const comparing = { ...options, progress: segmentOfProgress(progress, { from: verified, to: 1 }) };
  return {
    facts: {
      ...facts,
      verdict: {
        ...facts.verdict,
        verification: verification && verificationFacts(verification, content),
      },
      lost: old && (await lostSince(old, dump, comparing)),
      hasContent: content,
    },
    folders: { run: dump.folder, against: old?.folder },
  };
}

/**
 * Gathers the facts of a run and verifies it at the same time: DuckDB does most of the one in threads of its own, Node most of the other.
 * They share the memory.
 */
async function readAndVerify(dump: Dump, options: ReportOptions): Promise<readonly [FactsOfRun, Verification]> {
  const memory = memoryShare(options.memory, 0.5);
  return bothOf(
    options.signal,
    (signal) => factsOfRun(dump, { ...options, memory, signal }),
    (signal) => verifyRun(dump.folder, { memory, signal, progress: options.progress }),
  );
}

async function checkDatabase(path: string): Promise<void> {
  if (!(await isThere(path))) throw new UsageError("No such database:", [{ path, message: "there is no such file" }]);
}

async function lostSince(old: Dump, dump: Dump, { database, ...context }: ReportOptions): Promise<LostFacts> {
  return gatherLost(old.folder, dump.folder, { ...context, database: database ?? (await databaseOf(old)) });
}

/** The facts that the rows of a run, and the history of its job, give by SQL. */
type FactsOfRun = Pick<ReportFacts, "freshness" | "lengths" | "indexing" | "changes" | "hits" | "flaws"> & {
  readonly verdict: Omit<ReportFacts["verdict"], "verification">;
};

/** Loads the rows of a run, and gathers the facts that they give. StopError if a file is not as its run wrote it. */
async function factsOfRun(dump: Dump, options: ReportOptions): Promise<FactsOfRun> {
  const { progress, signal } = options;
  return withSpill(":memory:", options, async (connection) => {
    const loaded = await loadTables(connection, dump, options);
    const source = factSourceOf(dump, loaded, options);
    const { manifest } = dump;
    const step = async <Facts>(name: string, gather: () => Promise<Facts>): Promise<Facts> => {
      signal.throwIfAborted();
      progress.step = name;
      return gather();
    };
    return {
      verdict: await step("counting", () => gatherVerdict(connection, source, manifest)),
      freshness: await step("looking for old documents", () => gatherFreshness(connection, source, manifest)),
      lengths: await step("measuring chunks", () => gatherLengths(connection, source)),
      indexing: await step("looking for stuck documents", () => gatherIndexing(connection, source, manifest)),
      changes: await step("comparing the runs", () => gatherChanges(connection, source)),
      hits: await step("counting hits", () => gatherHits(connection, source)),
      flaws: await step("looking for flaws", () => gatherFlaws(connection, source)),
    };
  });
}

/**
 * Does two works at the same time, and ends when both have ended. Once one of them rejects, the signal of the other is aborted with the
 * same error, and this rejects with it; an abort of `signal` ends both with its reason.
 */
export async function bothOf<One, Other>(
  signal: AbortSignal,
  one: (signal: AbortSignal) => Promise<One>,
  other: (signal: AbortSignal) => Promise<Other>,
): Promise<readonly [One, Other]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const begin = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
    work(either).catch((error: unknown) => {
      stop.abort(error);
      throw error;
    });
  const works = [begin(one), begin(other)] as const;
  await Promise.allSettled(works);
  either.throwIfAborted();
  return Promise.all(works);
}

/** A span of the whole work, both ends from 0 to 1. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Units that the whole work counts as. */
const units = 1_000_000;

/**
 * The tally of one part of a larger work: the whole tally shows its step, and its bytes as a share of the span. It never goes back,
 * also where there turns out to be more to do.
 */
export function segmentOfProgress(whole: ReadProgress, { from, to }: Span): ReadProgress {
  let [expected, done, share] = [0, 0, 0];
  const show = () => {
    if (expected > 0) share = Math.max(share, Math.min(1, done / expected));
    whole.expected = units;
    whole.done = units * (from + (to - from) * share);
  };
  show();
  return {
    get step() {
      return whole.step;
    },
    set step(step) {
      whole.step = step;
    },
    get expected() {
      return expected;
    },
    set expected(bytes) {
      expected = bytes;
      show();
    },
    get done() {
      return done;
    },
    set done(bytes) {
      done = bytes;
      show();
    },
  };
}

export interface WriteReportOptions {
  /** The path at which the file is made, on the same disk; beside the file by default. */
  readonly aside?: string;
}

/**
 * Writes the report of a run to a file, whole or not at all; a file that is there is replaced. Its owner alone may read it. Rejects as
 * `renderReport` does, and with UsageError for a place that no report can be written to.
 */
export async function writeReport(
  path: string,
  request: ReportRequest,
  { aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`) }: WriteReportOptions = {},
): Promise<ReportResult> {
  await checkPath(path);
  const { html, summary } = await renderReport(request);
  request.signal?.throwIfAborted();
  await writeAside(path, html, { aside }).catch((error: unknown) => {
    const reason = fileErrorText(error);
    throw reason === undefined
      ? error
      : new StopError(`the report could not be written to ${path}: ${reason}`, { cause: error });
  });
  return { path, bytes: Buffer.byteLength(html), ...summary };
}

/** The report that is asked for: the folder of a run, and any of the settings; by default all texts, verified, compared with nothing. */
export type ReportRequest = Pick<ReportOptions, "folder"> & Partial<ReportOptions>;

/** The settings with their defaults. */
function withReportDefaults({ folder, against, database, ...request }: ReportRequest): ReportOptions {
  return {
    folder,
    against,
    database,
    content: request.content ?? true,
    verify: request.verify ?? true,
    nameFolder: request.nameFolder,
    memory: request.memory ?? "800MB",
    signal: request.signal ?? new AbortController().signal,
    progress: request.progress ?? emptyReadProgress(),
  };
}

/** Takes the main figures from the facts of a report. */
function summaryOf(
  { verdict, lost }: ReportFacts,
  folders: { readonly run: string; readonly against: string | undefined },
): ReportSummary {
  const { complete, unstable, failed } = verdict.documents;
  const { status, job, run_id, chunks, child_chunks, verification } = verdict;
  const { against } = folders;
  return {
    status,
    verified: verification?.status ?? null,
    findings: verification?.finding_count ?? null,
    run: { folder: folders.run, job, run_id },
    documents: complete + unstable + failed,
    incomplete_documents: unstable + failed,
    chunks,
    child_chunks,
    against: lost && against !== undefined ? { folder: against, job: lost.old.job, run_id: lost.old.run_id } : null,
    lost: lost?.lost ?? null,
    lost_by_hand: lost?.lost_by_hand ?? null,
    not_compared: lost ? lost.not_compared + lost.gone : null,
    warnings: lost?.warnings ?? [],
  };
}
