import * as v from "valibot";
import { bytesText, countText, durationText, numberText } from "../amounts.js";
import { defineCommand } from "../cli/command.js";
import { wrapToWidth } from "../cli/display-width.js";
import { checkJobIsNamed, wholeNumberFrom } from "../cli/flag-values.js";
import {
  formatOption,
  jobFrom,
  jobOptions,
  jobPositional,
  paceOption,
  readingOptions,
  viewFrom,
} from "../cli/options.js";
import { renderRun } from "../cli/progress.js";
import { wrongLine } from "../cli/read-line.js";
import { layOutTable } from "../cli/table.js";
import { jsonLine, type Page, pageFor, terminalText } from "../cli/text.js";
import { exitCodes } from "../errors.js";
import { emptyRunProgress } from "../job/run-progress.js";
import type { Certainty, JobPlan, Latency, PlannedDocument, Quirk } from "../plan/job-plan.js";
import { requests } from "../rows/result-rows.js";
import { amount, count, listOf, oneOf, orNull, result, text, truth } from "../schema.js";
import { nameText } from "../words.js";

const epilog = `Examples:
  kbdump plan nightly.yaml
  kbdump plan nightly.yaml --exact --json
  kbdump plan nightly.yaml --documents-out list.json
  kbdump plan --base-url https://kb.example.com/v1 --dataset UUID --document UUID

Exit codes: 0 everything could be asked · 1 nothing could be asked, or the key is refused · 2 wrong usage or job file · 3 some documents or lists cannot be read · 130, 143 interrupted`;

/** `kbdump plan [job.yaml]`: what a run would read and take; writes nothing but the list of documents, if asked to. */
export const command = defineCommand({
  name: "plan [job]",
  about: "ask the service what is there, and forecast a run; writes nothing but --documents-out",
  positionals: jobPositional,
  options: {
    ...jobOptions,
    ...formatOption,
    ...paceOption,
    ...readingOptions,
    budget: {
      value: "N",
      group: "Advanced",
      describe: "requests to spend on exact numbers, beyond two per document; default: 1000",
    },
    exact: {
      type: "boolean",
      conflicts: "budget",
      group: "Advanced",
      describe: "spend as many requests as exact numbers take, at most as many as the run itself",
    },
    "documents-out": {
      type: "string",
      names: "file",
      value: "FILE",
      group: "Advanced",
      describe: "write the proved list of documents to this file, for run --documents-from; refused if it is not whole",
    },
  },
  epilog,
  results: () => ({ plan: planResult }),
  async run(args, environment) {
    const { format, maxRps, childChunks, consistency, exact } = args;
    checkJobIsNamed("plan", args);
    if (args.documentsOut === "") throw wrongLine([noFile]);
    const budget = exact ? Number.POSITIVE_INFINITY : budgetFrom(args.budget);
    const job = await jobFrom(args, { format, maxRps, childChunks, consistency }, environment);
    const { planJob } = await import("../plan/plan-job.js"); // heavy; --help does without
    const view = viewFrom(args, environment);
    const progress = emptyRunProgress();
    const unwatch = view.watch(renderRun(progress));
    const context = {
      env: environment.env,
      signal: environment.signal,
      progress,
      log: view.log,
      budget,
      documentsOut: args.documentsOut,
    };
    const plan = await planJob(job, context).finally(unwatch);
    environment.stdout.write(
      `${args.json ? jsonLine(plan satisfies PlanResult) : renderPlan(plan, pageFor(environment.stdout, environment.env))}\n`,
    );
    return plan.status === "complete" ? exitCodes.complete : exitCodes.partial;
  },
});

const noFile = { path: "--documents-out", message: 'got "", expected the path of a file' };

function budgetFrom(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  const budget = wholeNumberFrom("--budget", given, 0);
  if (typeof budget === "number") return budget;
  throw wrongLine([budget]);
}

const mode = oneOf("all", "auto", "none");

/** A figure for each mode of `child_chunks`; `this_job` repeats that of the job. */
const byMode = <Figure extends v.GenericSchema>(figure: Figure) =>
  result({ all: figure, auto: figure, none: figure, this_job: figure });

const latency = result({ median_seconds: orNull(amount), p95_seconds: orNull(amount), answers: count });

const document = result({
  dataset_id: text,
  dataset_name: orNull(text),
  document_id: text,
  document_name: orNull(text),
  doc_form: orNull(text),
  chunks: orNull(count),
  child_chunks: orNull(count),
  child_chunks_exact: truth,
  requests: count,
  exact: truth,
  why: listOf(text),
  error: orNull(text),
});

/** The result of `kbdump plan --json`. */
const planResult = result({
  status: v.pipe(oneOf("complete", "partial"), v.description("partial: some documents or lists could not be asked")),
  job: text,
  service: result({ base_url: text }),
  child_chunks: mode,
  consistency: oneOf("sweeps", "anchored", "counts"),
  counts: result({
    datasets: count,
    batches: count,
    documents: count,
    documents_failed: count,
    chunks: count,
    child_chunks: count,
    child_chunks_exact: truth,
    child_lists_known: count,
  }),
  requests: byMode(count),
  certainty: byMode(result({ exact: truth, at_least: count, why: listOf(text) })),
  time: result({ least_seconds: byMode(amount), latency: result({ chunk_page: latency, child_list: latency }) }),
  received: result({ bytes: byMode(count), sample: result({ chunks: count, child_chunks: count }) }),
  disk: result({
    folder: text,
    needed_bytes: count,
    run_folder_bytes: count,
    database_bytes: count,
    free_bytes: orNull(count),
    enough: orNull(truth),
  }),
  quirks: listOf(result({ name: text, finding: text, detail: text, meaning: text, trouble: truth })),
  documents: listOf(document),
  asked: result({ ...requests, seconds: amount }),
  warnings: listOf(text),
  documents_out: v.pipe(orNull(text), v.description("the file of --documents-out; null without it")),
});

type PlanResult = v.InferOutput<typeof planResult>;

/** Documents and warnings that are shown; the others stand in --json. */
const shown = 20;
/** Reasons why a forecast is not exact that are shown, likewise. */
const reasons = 3;

/** A plan for people: the counts, a run in every mode, the documents, the quirks of the service. */
export function renderPlan(plan: JobPlan, page: Page): string {
  return [
    ...wrapToWidth(headline(plan), page.columns, "  ").map(page.paint.strong),
    "",
    ...renderModes(plan, page),
    "",
    ...renderBasis(plan).flatMap((line) => wrapToWidth(`  ${line}`, page.columns, "    ")),
    "",
    ...renderDocuments(plan, page),
    "",
    ...renderQuirks(plan.quirks, page),
    ...renderWarnings(plan.warnings, page),
  ].join("\n");
}

function headline({ job, counts }: JobPlan): string {
  const { documents, documents_failed: failed, chunks, child_chunks: children, child_chunks_exact: exact } = counts;
  const childText = `${exact ? "" : "about "}${countText(children, "child chunk")}`;
  const failedText = failed > 0 ? ` (${failed} cannot be read)` : "";
  return `${job}: ${countText(documents, "document")}${failedText}, ${countText(chunks, "chunk")}, ${childText}`;
}

function renderModes(
  { child_chunks: mine, requests, certainty, time, received }: JobPlan,
  { paint, columns }: Page,
): readonly string[] {
  const rows = (["all", "auto", "none"] as const).map((mode) => [
    `${mode}${mode === mine ? " (this job)" : ""}`,
    numberText(requests[mode]),
    certaintyText(requests[mode], certainty[mode]),
    durationText(time.least_seconds[mode] * 1000),
    bytesText(received.bytes[mode]),
  ]);
  const [head = [], ...lines] = layOutTable([["child_chunks", "requests", "", "least time", "received"], ...rows], {
    columns: [{}, { right: true }, { drop: 1 }, {}, { drop: 2 }],
    width: columns,
  });
  return [...head.map(paint.faint), ...lines.flat()];
}

function certaintyText(requests: number, { exact, at_least: atLeast }: Certainty): string {
  if (exact) return "exactly";
  return requests === atLeast ? "or more" : `about, at least ${numberText(atLeast)}`;
}

/** The basis of the figures. */
function renderBasis({
  asked,
  certainty,
  time,
  received,
  counts,
  disk,
  documents_out: out,
}: JobPlan): readonly string[] {
  const { chunk_page: page, child_list: list } = time.latency;
  const free =
    disk.free_bytes === null
      ? "free space unknown"
      : `${bytesText(disk.free_bytes)} free in ${terminalText(disk.folder)}`;
  return [
    ...renderReasons(certainty.this_job),
    `child counts: known for ${numberText(counts.child_lists_known)} of ${countText(counts.chunks, "chunk")}`,
    `latency: page of chunks ${latencyText(page)}, child list ${latencyText(list)}`,
    "least time: every request at the median latency, at full concurrency; a real run takes longer",
    `sizes: from a sample of ${countText(received.sample.chunks, "chunk")} and ${countText(received.sample.child_chunks, "child chunk")}`,
    `disk: ${bytesText(disk.needed_bytes)} during the run, ${bytesText(disk.run_folder_bytes + disk.database_bytes)} afterwards; ${free}`,
    `this plan: ${countText(asked.sent, "request")} in ${durationText(asked.seconds * 1000)}, ${bytesText(asked.bytes)} received; ${out === null ? "nothing written" : `the list of documents is in ${terminalText(out)}`}`,
  ];
}

function latencyText({ median_seconds: median, p95_seconds: p95, answers }: Latency): string {
  const text = (seconds: number) => `${Math.round(seconds * 10_000) / 10} ms`;
  if (median === null || p95 === null) return "unknown";
  return `${text(median)} (p95 ${text(p95)}, ${countText(answers, "answer")})`;
}

function renderReasons({ exact, why }: Certainty): readonly string[] {
  if (exact) return ["requests: exact, unless requests fail or the data changes"];
  const more = why.length - reasons;
  return [
    ...why.slice(0, reasons).map((reason) => `requests: ${terminalText(reason, 300)}`),
    ...(more > 0 ? [`requests: … and ${countText(more, "more reason")}; see --json`] : []),
  ];
}

function renderDocuments({ documents }: JobPlan, { paint, columns }: Page): readonly string[] {
  const hasNames = documents.some(({ document_name }) => document_name !== null);
  const listed = documents.slice(0, shown);
  const [head = [], ...rows] = hasNames ? layOutNames(listed, columns) : layOutIds(listed, columns);
  const more = documents.length - shown;
  return [
    ...head.map(paint.faint),
    ...rows.flatMap((lines, at) => (documents[at]?.error ? lines.map(paint.bad) : lines)),
    ...(more > 0 ? [`… and ${countText(more, "more document")}; see --json`] : []),
  ];
}

const heads = ["form", "chunks", "child chunks", "requests"];
const right = { right: true };

/** A narrow terminal shows no ids: people know documents by name, and --json has the ids. */
function layOutNames(documents: readonly PlannedDocument[], width: number) {
  const cells = documents.map((document) => [
    nameText(document.document_name ?? "–"),
    ...figuresOf(document),
    terminalText(document.document_id),
  ]);
  const columns = [{ least: 12 }, { least: 8, drop: 2 }, right, { right: true, drop: 3 }, right, { drop: 1 }];
  return layOutTable([["document", ...heads, "id"], ...cells], { columns, width });
}

function layOutIds(documents: readonly PlannedDocument[], width: number) {
  const cells = documents.map((document) => [terminalText(document.document_id), ...figuresOf(document)]);
  const columns = [{ id: true }, { least: 8, drop: 1 }, right, right, right];
  return layOutTable([["document", ...heads], ...cells], { columns, width });
}

function figuresOf(document: PlannedDocument): readonly string[] {
  const { doc_form: form, chunks, child_chunks: children, child_chunks_exact: exact } = document;
  const number = (count: number | null) => (count === null ? "–" : numberText(count));
  const about = exact || children === null ? "" : "~";
  return [
    terminalText(form ?? "–", 30),
    number(chunks),
    about + number(children),
    `${document.exact ? "" : "~"}${number(document.requests)}`,
  ];
}

function renderQuirks(quirks: readonly Quirk[], { paint, columns }: Page): readonly string[] {
  const cells = quirks.map(({ name, finding, detail }) => [name, terminalText(finding, 30), terminalText(detail, 300)]);
  const [head = [], ...rows] = layOutTable([["service", "finding", "observed"], ...cells], {
    columns: [{}, {}, { wraps: true }],
    width: columns,
  });
  return [
    ...head.map(paint.faint),
    ...rows.flatMap((lines, at) => {
      const { meaning = "", trouble = false } = quirks[at] ?? {};
      const shown = trouble ? lines.map(paint.bad) : lines;
      const effect = wrapToWidth(`    → ${terminalText(meaning, 300)}`, columns, "      ").map(paint.faint);
      return meaning === "" ? shown : [...shown, ...effect];
    }),
  ];
}

function renderWarnings(warnings: readonly string[], { paint, columns }: Page): readonly string[] {
  if (warnings.length === 0) return [];
  const more = warnings.length - shown;
  return [
    "",
    ...warnings
      .slice(0, shown)
      .flatMap((warning) => wrapToWidth(`${paint.warn("warning")}: ${terminalText(warning, 400)}`, columns, "  ")),
    ...(more > 0 ? [`… and ${countText(more, "more warning")}; see --json`] : []),
  ];
}
