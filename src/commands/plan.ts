import { bytesText, countText, durationText, numberText } from "../amounts.js";
import { defineCommand } from "../cli/command.js";
import { checkJobIsNamed } from "../cli/flag-values.js";
import { jobFrom, jobPositional, runOptions } from "../cli/options.js";
import { type Entry, firstOf, firstRows, type Part, renderParagraphs, titled } from "../cli/outline.js";
import { wrongLine } from "../cli/parse-command-line.js";
import { renderRun } from "../cli/progress-text.js";
import { type Column, renderTable } from "../cli/table.js";
import { messageText, type Page, terminalText } from "../cli/text.js";
import { exitCodes } from "../errors.js";
import { emptyRunProgress } from "../job/run-progress.js";
import { type JobPlan, type PlannedDocument, planResult, type Quirk } from "../plan/plan-result.js";
import { nameText } from "../words.js";

const epilog = `Examples:
  kbdump plan nightly.yaml
  kbdump plan nightly.yaml --json
  kbdump plan nightly.yaml --documents-out list.json
  kbdump plan --base-url https://kb.example.com/v1 --dataset UUID --document UUID

Exit codes: 0 everything could be asked · 1 nothing could be asked, or the key is refused · 2 wrong usage or job file · 3 some documents or lists cannot be read · 130, 143 interrupted`;

/** `kbdump plan [job.yaml]`: shows what a run would read and need. Writes nothing except the list of documents, if requested. */
export const command = defineCommand({
  name: "plan [job]",
  about: "ask the service what it has, and forecast a run; writes nothing except --documents-out",
  positionals: jobPositional,
  options: {
    ...runOptions,
    "documents-out": {
      type: "string",
      names: "file",
      value: "FILE",
      group: "Advanced",
      describe: "write the proved list of documents to this file, for run --documents-from; fails if it is incomplete",
    },
  },
  epilog,
  results: () => ({ plan: planResult }),
  async run(args, environment) {
    checkJobIsNamed("plan", args);
    if (args.documentsOut === "") throw wrongLine([noFile]);
    const job = await jobFrom(args, environment);
    const { planJob } = await import("../plan/plan-job.js"); // slow to load; --help does not need it
    const { env, signal, view } = environment;
    const progress = emptyRunProgress();
    const unwatch = view.watch(renderRun(progress));
    const context = { env, signal, progress, log: view.log, documentsOut: args.documentsOut };
    const plan = await planJob(job, context).finally(unwatch);
    await environment.print(plan, (page) => renderPlan(plan, page));
    return plan.status === "complete" ? exitCodes.complete : exitCodes.partial;
  },
});

const noFile = { path: "--documents-out", message: 'got "", expected the path of a file' };

/** Maximum documents and warnings to show. */
const shown = 20;

/** A plan for people: counts, a run in every mode, documents, and quirks of the service. */
export function renderPlan(plan: JobPlan, page: Page): string {
  const warningOf = (warning: string) => `${page.paint.warn("warning")}: ${messageText(warning, 400)}`;
  const quirkOf = ({ name, finding, meaning }: Quirk): Entry => ({
    text: `${name}: ${terminalText(finding, 300)}`,
    below: [{ text: `→ ${terminalText(meaning, 300)}`, paint: "faint" }],
  });
  return renderParagraphs(
    [
      [{ text: headline(plan), paint: "strong" }],
      [(to) => renderModes(plan, to)],
      basisOf(plan).map((text) => `  ${text}`),
      documentsIn(plan),
      [titled("this service", plan.quirks.map(quirkOf), "faint")],
      firstOf(plan.warnings, shown, warningOf, "more warning"),
    ],
    page,
  );
}

function headline({ job, counts }: JobPlan): string {
  const { documents, documents_failed: failed, chunks, child_chunks: children } = counts;
  const failedText = failed > 0 ? ` (${failed} cannot be read)` : "";
  const childText = `${children > 0 ? "about " : ""}${countText(children, "child chunk")}`;
  return `${job}: ${countText(documents, "document")}${failedText}, ${countText(chunks, "chunk")}, ${childText}`;
}

function renderModes({ child_chunks: mine, requests }: JobPlan, page: Page): readonly string[] {
  const columns: readonly Column<"all" | "auto" | "none">[] = [
    { head: "child_chunks", cell: (mode) => `${mode}${mode === mine ? " (this job)" : ""}` },
    { head: "requests", cell: (mode) => numberText(requests[mode]), right: true },
  ];
  return renderTable(["all", "auto", "none"], columns, page);
}

/** The time and disk space needed, and the requests that the plan sent. */
function basisOf(plan: JobPlan): readonly string[] {
  const { asked, least_seconds: least, latency, disk, documents_out: out } = plan;
  const free =
    disk.free_bytes === null
      ? "free space unknown"
      : `${bytesText(disk.free_bytes)} free in ${terminalText(disk.folder)}`;
  const { chunk_page: page, child_list: list } = latency;
  const latencies = [...latencyText("a page of chunks takes", page), ...latencyText("a child list", list)];
  const written = out === null ? "nothing written" : `the list of documents is in ${terminalText(out)}`;
  return [
    ...detailsText(plan),
    `time: at least ${durationText(least * 1000)}${latencies.length > 0 ? ` (${latencies.join(", ")})` : ""}`,
    `disk: ${bytesText(disk.needed_bytes)} during the run, ${bytesText(disk.run_folder_bytes + disk.database_bytes)} afterwards; ${free}`,
    `this plan: ${countText(asked.sent, "request")} in ${durationText(asked.seconds * 1000)}, ${bytesText(asked.bytes)} received; ${written}`,
  ];
}

function detailsText({ details, counts: { documents, document_details: detailed } }: JobPlan): readonly string[] {
  if (details !== "auto") return [];
  const many = `about ${numberText(detailed)} of ${countText(documents, "document")}`;
  return [`details: for ${many}, estimated from a sample; a run reads those of every document that looks edited`];
}

function latencyText(what: string, seconds: number | null): readonly string[] {
  return seconds === null ? [] : [`${what} ${Math.round(seconds * 10_000) / 10} ms`];
}

/** The table of documents. If the terminal is narrow, documents with a name are shown without ids, which --json has. */
function documentsIn({ documents }: JobPlan): readonly Part[] {
  const hasNames = documents.some(({ document_name }) => document_name !== null);
  const number = (count: number | null) => (count === null ? "–" : numberText(count));
  const id = ({ document_id }: PlannedDocument) => terminalText(document_id);
  const columns: readonly Column<PlannedDocument>[] = [
    hasNames
      ? { head: "document", cell: (document) => nameText(document.document_name ?? "–"), least: 12 }
      : { head: "document", cell: id, id: true },
    { head: "form", cell: ({ doc_form }) => terminalText(doc_form ?? "–", 30), least: 8, drop: hasNames ? 2 : 1 },
    { head: "chunks", cell: ({ chunks }) => number(chunks), right: true },
    {
      head: "child chunks",
      cell: ({ child_chunks }) => number(child_chunks),
      right: true,
      drop: hasNames ? 3 : undefined,
    },
    { head: "requests", cell: ({ requests }) => number(requests), right: true },
    ...(hasNames ? [{ head: "id", cell: id, drop: 1 }] : []),
  ];
  return firstRows(documents, shown, columns, "more document", ({ error }) => (error ? "bad" : undefined));
}
