import { pathToFileURL } from "node:url";
import { bytesText, chunksText, countText, lostText, numberText } from "../amounts.js";
import { type BucketNames, withFolderName } from "../cli/bucket-names.js";
import { type Arguments, defineCommand, type Environment, type Options } from "../cli/command.js";
import { findOptionsFrom, memoryOption, outOption, runPositional } from "../cli/options.js";
import { renderParagraphs } from "../cli/outline.js";
import { renderReading } from "../cli/progress-text.js";
import { renderPaths, shortPath } from "../cli/table.js";
import { type Page, terminalText } from "../cli/text.js";
import { exitCodes } from "../errors.js";
import { emptyReadProgress } from "../read-progress.js";
import { type ReportResult, reportResult } from "../report/report-result.js";
import type { ReportRequest } from "../report/source.js";

const epilog = `Examples:
  kbdump report nightly
  kbdump report nightly --against nightly@20261119
  kbdump report nightly --against nightly --file loss.html
  kbdump report output/nightly/latest --no-content --file - > report.html

The report is one HTML file that loads nothing and runs without a server. It holds texts of the dump: --no-content leaves out contents, names, errors and warnings.

Exit codes: 0 written, also for a partial run: the report says so · 1 could not be read or written · 2 wrong usage, no such run, or no such place · 130, 143 interrupted`;

const options = {
  against: {
    type: "string",
    names: "folder",
    value: "RUN",
    describe: "an older run, to show what was lost since; a job means its newest complete run before this one",
  },
  file: {
    type: "string",
    alias: "f",
    names: "file",
    value: "FILE",
    describe:
      "file to write, or - for stdout; default: report.html in the folder of a local job, otherwise in the current folder",
  },
  db: {
    type: "string",
    names: "file",
    value: "FILE",
    group: "Advanced",
    describe: "database of the job, for its history; default: <job>.duckdb next to the runs",
  },
  "no-content": {
    type: "boolean",
    default: false,
    describe: "leave out every text of the service: contents, names, errors, warnings",
  },
  "no-verify": { type: "boolean", default: false, describe: "do not read the run again to prove it, which is faster" },
  ...outOption,
  ...memoryOption,
} as const satisfies Options;

type ReportArguments = Arguments<typeof runPositional & typeof options>;

/** `kbdump report <run>`: writes one HTML file that shows a dump to its owner. */
export const command = defineCommand({
  name: "report <run>",
  about: "write an HTML page that shows a run: whether it is complete, and what is lost, stuck or never found",
  positionals: runPositional,
  options,
  epilog,
  results: () => ({ report: reportResult }),
  check: ({ json, file }) =>
    json && file === "-" ? [{ path: "--json", message: "not together with --file -, which prints the page" }] : [],
  async run(args, environment) {
    const request = await requestFrom(args, environment);
    const progress = emptyReadProgress();
    const { folder, against } = request;
    const { names, view, print } = environment;
    if (names(folder) !== args.run || (against && names(against)) !== args.against)
      view.log("info", `reporting ${folder}${against === undefined ? "" : `, compared with ${against}`}`);
    const unwatch = view.watch(renderReading(progress));
    const { result, render } = await made({ ...request, progress }, args.file, names).finally(unwatch);
    for (const warning of result.warnings) view.log("warn", warning);
    await print(result, render);
    return exitCodes.complete;
  },
});

/** Creates the report. Returns its figures, and the text for stdout, which is the page itself with `--file -`. */
async function made(request: ReportRequest, file: string | undefined, names: BucketNames) {
  const { renderReport, writeReport } = await import("../report/render-report.js"); // slow to load; --help does not need it
  if (file === "-") {
    const { html, summary } = await renderReport(request);
    return { result: summary, render: () => html.trimEnd() };
  }
  const { reportName, usualPath } = await import("../report/report-path.js"); // slow to load
  const isCopy = names(request.folder) !== request.folder; // local copies are removed when the command ends
  const written = await writeReport(file ?? (isCopy ? reportName : await usualPath(request.folder)), request);
  const { run, against } = written;
  const shown = { run: withFolderName(run, names), against: against && withFolderName(against, names) };
  const result: ReportResult = { ...written, ...shown };
  return { result, render: (page: Page) => renderReportResult(result, page) };
}

async function requestFrom(args: ReportArguments, environment: Environment): Promise<ReportRequest> {
  const { findRun, findRunBefore } = await import("../store/find-run.js");
  const { names: nameFolder, signal } = environment;
  const named = { ...findOptionsFrom(args, environment), withDatabase: args.db === undefined };
  const folder = await findRun(args.run, named);
  const against = args.against === undefined ? undefined : await findRunBefore(args.against, folder, named);
  const { memory, db: database, noContent, noVerify } = args;
  return { folder, against, database, nameFolder, content: !noContent, verify: !noVerify, memory, signal };
}

/** Renders the main figures of a written report, its path, and how to open it; for people. */
export function renderReportResult(result: ReportResult, page: Page): string {
  const { status, path, bytes, documents, incomplete_documents } = result;
  const isComplete = status === "complete";
  const read = isComplete
    ? countText(documents, "document")
    : `${countText(incomplete_documents, "document")} of ${numberText(documents)} not complete`;
  const open = `Open it in a browser: ${pathToFileURL(path)}`;
  return renderParagraphs(
    [
      [
        { head: status, paint: isComplete ? "good" : "bad", text: `${read}, ${chunksText(result)}` },
        verificationText(result),
        lossText(result),
      ],
      [({ columns }) => renderPaths([[terminalText(shortPath(path)), bytesText(bytes)]], columns)],
      [() => [open]],
    ],
    page,
  );
}

function verificationText({ verified, findings }: ReportResult): string {
  if (verified === null) return "not verified";
  if (verified === "sound") return "sound: every file was read again";
  return `not sound: verify has ${countText(findings ?? 0, "finding")}`;
}

function lossText({ against, lost, manual_edits, not_compared }: ReportResult): string | undefined {
  if (against === null || lost === null) return undefined;
  const unknown = not_compared
    ? `; ${countText(not_compared, "document")} could not be compared, or ${not_compared === 1 ? "is" : "are"} gone`
    : "";
  if (lost > 0) return `since ${against.run_id}: ${lostText(lost, manual_edits ?? 0)}${unknown}`;
  const nothing = unknown === "" ? "nothing was lost" : "no loss is known";
  return `${nothing} by a re-index since ${against.run_id}${unknown}`;
}
