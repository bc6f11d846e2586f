import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { memoryShare, withSpill } from "../duckdb/open-duckdb.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";
import { fileErrorText } from "../file-error.js";
import { isThere, writeAside } from "../files/files.js";
import { emptyReadProgress, type ReadProgress } from "../read-progress.js";
import type { Verification } from "../verify/findings.js";
import { verifyRun } from "../verify/verify-run.js";
import { type Answered, readAssets, renderPage, type Section } from "./page/page.js";

import { checkPath } from "./report-path.js";
import type { ReportResult, ReportSummary } from "./report-result.js";
import { changesSection } from "./sections/changes.js";
import { duplicatesSection, errorsSection, lengthsSection } from "./sections/chunks.js";
import { freshnessSection } from "./sections/freshness.js";
import { hitsSection } from "./sections/hits.js";
import { stuckSection, timelineSection } from "./sections/indexing.js";
import { gatherLost, type LostFacts, lostSection, notCompared } from "./sections/lost.js";
import { verdictSection } from "./sections/verdict.js";
import { filesOf, loadTables, type ReportOptions, type ReportRequest, Source } from "./source.js";

/**
 * Renders a run as one HTML document, always the same for the same dump. Rejects with UsageError if a path is not a run folder or not a
 * database, with StopError if a file differs from what its run wrote, and, if aborted, with the reason of `request.signal`.
 */
export async function renderReport(request: ReportRequest): Promise<{ html: string; summary: ReportSummary }> {
  const options: ReportOptions = {
    ...{ against: undefined, database: undefined, content: true, verify: true, nameFolder: undefined, memory: "800MB" },
    ...{ signal: new AbortController().signal, progress: emptyReadProgress(), ...request },
  };
  const { folder, against, database, progress } = options;
  if (database !== undefined && !(await isThere(database)))
    throw new UsageError("No such database:", [{ path: database, message: "there is no such file" }]);
  const dump = await openDump(folder, "there is no report");
  const old = against === undefined ? undefined : await openDump(against, "nothing was compared");
  const comparing = { ...options, memory: memoryShare(options.memory, shares.comparing) };
  const lost = old && (await gatherLost(old, dump, { ...comparing, progress: partOf(progress, 0, 0.4) }));
  const reading = { ...options, progress: partOf(progress, old ? 0.4 : 0, 1) };
  const { parts, verification } = await readAndVerify(dump, lost, reading);
  progress.step = "writing the page";
  return { html: renderPage(parts, await readAssets()), summary: summaryOf(dump, old, lost, verification) };
}

/**
 * How the memory is shared. Reading and verifying run at the same time. The report's tables keep no full texts, and can spill to
 * disk. With 800 MB, comparing, reading and verifying a document of 1,000,000 chunks of 500 characters takes at most 700 MB in
 * total.
 */
const shares = { comparing: 3 / 8, reading: 1 / 4, verifying: 1 / 2 };

/** Reads a run, which DuckDB does in its own threads, and verifies it at the same time. If either fails, the other is stopped. */
async function readAndVerify(dump: Dump, lost: LostFacts | undefined, options: ReportOptions) {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const part = (share: number) => ({
    ...{ ...options, signal, memory: memoryShare(options.memory, share) },
    progress: partOf(options.progress, 0, 1),
  });
  if (!options.verify) return reportRun(dump, lost, undefined, part(shares.reading + shares.verifying));
  const verifying = verifyRun(dump.folder, part(shares.verifying));
  verifying.catch((error: unknown) => stop.abort(error));
  try {
    return await reportRun(dump, lost, verifying, part(shares.reading));
  } catch (error) {
    stop.abort(error);
    await verifying.catch(() => {});
    throw error;
  }
}

/** The sections that show the loaded rows, in the order of the page, with the steps of the progress. */
const steps: readonly (readonly [step: string, section: (source: Source) => Promise<Section | Answered>])[] = [
  ["looking for stuck documents", stuckSection],
  ["looking for flaws", errorsSection],
  ["counting hits", hitsSection],
  ["looking for duplicates", duplicatesSection],
  ["looking for old documents", freshnessSection],
  ["measuring chunks", lengthsSection],
  ["looking for stuck documents", timelineSection],
  ["comparing the runs", changesSection],
];

/** Loads the rows of a run and builds the sections. Throws StopError if a file differs from what the run wrote. */
async function reportRun(
  dump: Dump,
  lost: LostFacts | undefined,
  verifying: Promise<Verification> | undefined,
  options: ReportOptions,
) {
  const { progress, signal, content } = options;
  return withSpill(":memory:", options, async (connection) => {
    const noHistory = await loadTables(connection, dump, { ...options, isVerified: verifying !== undefined });
    const source = new Source(connection, dump, { ...options, noHistory });
    const others: (Section | Answered)[] = [];
    for (const [step, section] of steps) {
      signal.throwIfAborted();
      progress.step = step;
      others.push(await section(source));
    }
    progress.step = "verifying";
    const verification = await verifying;
    // The report may be made from damaged files, so check those again.
    if (verification?.status === "differences")
      for (const file of filesOf(dump)) await dump.check(file, () => signal.throwIfAborted());
    const verdict = await verdictSection(source, verification);
    const losses = lost ? lostSection(lost, source) : notCompared(source);
    const sections = [losses, verdict, ...others];
    const nexts = sections.flatMap(({ next }) => next ?? []);
    const parts = {
      manifest: dump.manifest,
      hasContent: content,
      answers: [verdict, losses, ...others.filter((section) => "question" in section)],
      // Without a comparison, the first step suggests one; it is dropped if there is any other step.
      nexts: lost === undefined && nexts.length > 1 ? nexts.slice(1) : nexts,
      sections: sections.filter(({ body }) => body !== null),
    };
    return { parts, verification };
  });
}

/** The progress of one part of the work. It moves the overall progress from `from` to `to`, and never back. */
export function partOf(whole: ReadProgress, from: number, to: number): ReadProgress {
  const show = ({ expected, done }: ReadProgress) => {
    whole.expected = 1;
    whole.done = Math.max(whole.done, from + (to - from) * (expected > 0 ? Math.min(1, done / expected) : 0));
  };
  const part = emptyReadProgress(whole.step);
  show(part);
  return new Proxy(part, {
    set(_, name, value) {
      if (name === "step") whole.step = value;
      Reflect.set(part, name, value);
      show(part);
      return true;
    },
  });
}

/**
 * Writes the report of a run to a file, atomically, and replaces an existing file. Only the file's owner can read it. Rejects like
 * `renderReport`, and with UsageError if the path cannot be written. `aside`: the temporary path, on the same disk.
 */
export async function writeReport(
  path: string,
  request: ReportRequest,
  aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`),
): Promise<ReportResult> {
  await checkPath(path);
  const { html, summary } = await renderReport(request);
  request.signal?.throwIfAborted();
  await writeAside(path, html, { aside }).catch((error: unknown) => {
    const reason = fileErrorText(error);
    if (reason === undefined) throw error;
    throw new StopError(`the report could not be written to ${path}: ${reason}`, { cause: error });
  });
  return { path, bytes: Buffer.byteLength(html), ...summary };
}

/** The main figures of a report. */
function summaryOf(
  dump: Dump,
  old: Dump | undefined,
  lost: LostFacts | undefined,
  verification: Verification | undefined,
): ReportSummary {
  const { status, documents, counts } = dump.manifest;
  const runOf = ({ folder, manifest: { job, run_id } }: Dump) => ({ folder, job, run_id });
  const pairs = lost?.diff.counts.documents;
  return {
    status,
    verified: verification?.status ?? null,
    findings: verification?.finding_count ?? null,
    run: runOf(dump),
    documents: documents.length,
    incomplete_documents: documents.filter((row) => row.status !== "complete").length,
    chunks: counts.chunks,
    child_chunks: counts.child_chunks,
    against: old ? runOf(old) : null,
    lost: lost?.diff.lost ?? null,
    manual_edits: lost?.diff.manual_edits ?? null,
    not_compared: pairs ? pairs.not_compared + pairs.removed : null,
    warnings: lost?.warnings ?? [],
  };
}
