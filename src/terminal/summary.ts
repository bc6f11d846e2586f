import { join, relative } from "node:path";
import { type Manifest, manifestName } from "../dump/manifest/manifest.js";
import type { RunSummary } from "../results/run.js";
import { sumOfChildLists } from "../run/documents/child-lists-read.js";
import type { RunResult } from "../run/run-job.js";
import { alignedLines } from "./aligned-lines.js";
import { renderChildLists } from "./child-lists.js";
import { bytesText, countText, durationText, type Paint, secondsFrom, terminalText } from "./text.js";

/** Renders the result of a run for people: counts, paths, duration and the next commands. */
export function renderSummary(result: RunResult, elapsed: number, paint: Paint): string {
  const { manifest } = result;
  const { counts, requests } = manifest;
  const verdict = result.status === "complete" ? paint.good("complete") : paint.bad("partial");
  const read = [
    countText(counts.documents, "document"),
    countText(counts.chunks, "chunk"),
    countText(counts.child_chunks, "child chunk"),
  ];
  const sent = `${countText(requests.sent, "request")}${requests.retried > 0 ? `, ${requests.retried} of them again` : ""}`;
  const childLists = renderChildLists(manifest.options.child_chunks, sumOfChildLists(manifest.child_lists));
  return [
    `${paint.strong(verdict)}: ${read.join(", ")}`,
    paint.faint(`in ${durationText(elapsed)} with ${sent}, ${bytesText(requests.bytes)} received`),
    ...renderDiscovered(manifest),
    ...result.problems.map((sentence) => `${paint.warn("warning")}: ${terminalText(sentence, 600)}`),
    ...manifest.warnings.slice(0, 10).map((warning) => `${paint.warn("warning")}: ${terminalText(warning, 400)}`),
    ...(manifest.warnings.length > 10 ? [`… and ${manifest.warnings.length - 10} more warnings in manifest.json`] : []),
    "",
    ...renderPlaces(result),
    ...(result.pruned.length > 0
      ? [`  ${countText(result.pruned.length, "older run")} removed, as output.keep says`]
      : []),
    "",
    "Next:",
    ...nextCommands(result).map((command) => `  ${command}`),
    ...(childLists === undefined ? [] : ["", paint.faint(childLists)]),
  ].join("\n");
}

/** Renders which documents are new or gone since the run before; nothing where none are, or where the job does not list documents. */
function renderDiscovered({ discovered }: Manifest): readonly string[] {
  if (!discovered || discovered.new.length + discovered.vanished.length === 0) return [];
  const came = discovered.new.length > 0 ? [countText(discovered.new.length, "new document")] : [];
  const went = discovered.vanished.length > 0 ? [`${countText(discovered.vanished.length, "document")} gone`] : [];
  return [`${[...came, ...went].join(", ")} since ${discovered.since}`];
}

function renderPlaces({ manifest, folder, database }: RunResult): readonly string[] {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const places = [
    [`${short(folder)}/`, `${countText(manifest.files.length, "file")} and manifest.json, ${bytesText(bytes)}`],
  ];
  if (database !== undefined) places.push([short(database), "the newest state of everything, and its history"]);
  return alignedLines(places, []).map((line) => `  ${line}`);
}

/** Commands that work as they stand, from the folder that the program was started in. */
function nextCommands({ manifest, folder, database }: RunResult): readonly string[] {
  const look = `cat ${quoted(join(short(folder), manifestName))}`;
  if (database !== undefined)
    return [`duckdb -readonly ${quoted(short(database))} ${quoted(firstQuery("chunks"))}`, look];
  const chunks = manifest.files.find(({ path }) => /^chunks\./.test(path));
  if (!chunks) return [look];
  return [`duckdb -c ${quoted(firstQuery(`'${join(short(folder), chunks.path)}'`))}`, look];
}

/** Documents with the most chunks. */
function firstQuery(source: string): string {
  return `SELECT document_id, count(*) AS chunks, sum(word_count) AS characters FROM ${source} GROUP BY ALL ORDER BY chunks DESC LIMIT 10`;
}

/** A path as short as it can be written from here. */
function short(path: string): string {
  const fromHere = relative("", path);
  return fromHere.startsWith("..") || fromHere === "" ? path : fromHere;
}

/** An argument as a POSIX shell takes it. */
function quoted(argument: string): string {
  return /^[\w./@%+=:,-]+$/.test(argument) ? argument : `"${argument.replace(/(["$`\\])/g, "\\$1")}"`;
}

/** The same for programs. */
export function summaryJson(result: RunResult, elapsed: number): RunSummary {
  const { manifest, status, folder, database, pruned, problems } = result;
  const { job, run_id, counts, requests, drift, warnings, discovered } = manifest;
  const incomplete = manifest.documents.filter((row) => row.status !== "complete");
  return {
    status,
    job,
    run_id,
    folder,
    database: database ?? null,
    seconds: secondsFrom(elapsed),
    counts: { ...counts, document_info: counts.document_info ?? null },
    requests,
    child_lists: sumOfChildLists(manifest.child_lists),
    incomplete_documents: incomplete,
    drift,
    warnings,
    problems,
    removed_runs: pruned,
    discovered: discovered ?? null,
  };
}
