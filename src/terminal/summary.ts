import { join, relative } from "node:path";
import { bytesText, countText, durationText } from "../amounts.js";
import { listName, type Manifest, manifestName } from "../dump/manifest.js";
import { isBucketUrl } from "../job/s3-url.js";
import type { RunSummary } from "../results/run.js";
import type { RunResult } from "../run/make-run.js";
import { incompleteText, sumOfChildLists } from "../segments/document-result.js";
import { type Invocation, retryCommand, shellText } from "../shell-text.js";
import { shardText } from "../words.js";
import { renderChildLists } from "./child-lists.js";
import { wrapToWidth } from "./display-width.js";
import { renderIncomplete } from "./incomplete.js";
import { renderOriginals, sumOfOriginals } from "./originals.js";
import { layOutTable } from "./table.js";
import { type Page, secondsFrom } from "./text.js";

/**
 * Renders the result of a run for people: counts, everything that is missing, paths, duration and the next commands. `mend` are the
 * commands that read what is missing.
 */
export function renderSummary(
  result: RunResult,
  elapsed: number,
  invocation: Invocation,
  page: Page,
  mend: readonly string[] = [retryCommand(invocation)],
): string {
  const { paint, columns } = page;
  const { manifest } = result;
  const { counts, requests } = manifest;
  const isComplete = result.status === "complete";
  const verdict = isComplete ? paint.good("complete") : paint.bad("partial");
  const read = [
    isComplete ? countText(counts.documents, "document") : incompleteText(manifest.documents),
    countText(counts.chunks, "chunk"),
    countText(counts.child_chunks, "child chunk"),
  ];
  const sent = `${countText(requests.sent, "request")}${requests.retried > 0 ? `, ${requests.retried} of them again` : ""}`;
  const took = durationText(elapsed);
  const effort = manifest.joined
    ? `joined from ${countText(manifest.joined.shards.length, "shard")} in ${took}; they took`
    : `in ${took} with`;
  const childLists = renderChildLists(manifest.options.child_chunks, sumOfChildLists(manifest.child_lists));
  const shard = manifest.shard ? `${shardText(manifest.shard)}, ` : "";
  const wrapped = (text: string, indent = "  ") => wrapToWidth(text, columns, indent);
  return [
    ...wrapped(`${paint.strong(verdict)}: ${shard}${read.join(", ")}`),
    ...wrapped(`${effort} ${sent}, ${bytesText(requests.bytes)} received`).map(paint.faint),
    ...renderOriginals(manifest).flatMap((line) => wrapped(line)),
    ...renderDiscovered(manifest).flatMap((line) => wrapped(line)),
    ...renderIncomplete(result, mend, page),
    "",
    ...renderPlaces(placesOf(result), columns),
    ...(result.pruned.length > 0
      ? wrapped(`  ${countText(result.pruned.length, "older run")} removed, as output.keep says`)
      : []),
    "",
    "Next:",
    ...nextCommands(result, invocation).map((command) => `  ${command}`),
    ...(childLists === undefined ? [] : ["", ...wrapped(childLists).map(paint.faint)]),
    ...renderJoin(result, invocation),
  ].join("\n");
}

/** Renders how a shard goes on: with the command that joins all of them. */
function renderJoin({ manifest, folder }: RunResult, { program }: Invocation): readonly string[] {
  if (!manifest.shard) return [];
  const { count } = manifest.shard;
  return [
    "",
    `Once all ${countText(count, "shard")} are there: ${program} join ${wordForShards(folder, manifest.job, count)}`,
  ];
}

/** The words that stand for all shards of a job: no shell finds those in a bucket by a pattern. */
function wordForShards(folder: string, job: string, count: number): string {
  if (isBucketUrl(folder)) return shellText(folder.slice(0, folder.lastIndexOf("/shards/")));
  const shards = shortPath(join(folder, "..", "..", ".."));
  return shards === join("output", job, "shards") ? job : `${shellText(shards)}/*-of-${count}`;
}

/** Renders which documents are new or gone since the run before; nothing where none are, or where the job does not list documents. */
function renderDiscovered({ discovered }: Manifest): readonly string[] {
  if (!discovered || discovered.new.length + discovered.vanished.length === 0) return [];
  const came = discovered.new.length > 0 ? [countText(discovered.new.length, "new document")] : [];
  const went = discovered.vanished.length > 0 ? [`${countText(discovered.vanished.length, "document")} gone`] : [];
  return [`${[...came, ...went].join(", ")} since ${discovered.since}`];
}

function placesOf({ manifest, folder, database, report }: RunResult): readonly (readonly [string, string])[] {
  const files = [...manifest.files, ...(manifest.originals ?? []).filter(({ path }) => path !== null)];
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const names = manifest.shard ? `, ${listName} and ${manifestName}` : ` and ${manifestName}`;
  const counted = `${countText(files.length, "file")}${names}, ${bytesText(bytes)}`;
  return [
    [`${shortPath(folder)}/`, counted],
    ...(database === undefined
      ? []
      : [[shortPath(database), "the newest state of everything, and its history"] as const]),
    ...(report === undefined ? [] : [[shortPath(report), "the run as a page; open it in a browser"] as const]),
  ];
}

/** Commands that work as they stand, from the folder that the program was started in. */
function nextCommands({ manifest, folder, database }: RunResult, { program }: Invocation): readonly string[] {
  const look = isBucketUrl(folder)
    ? `${program} verify ${shellText(folder)}`
    : `cat ${shellText(join(shortPath(folder), manifestName))}`;
  const hasChunks = manifest.files.some(({ path }) => /^chunks[./]/.test(path));
  const source = database === undefined ? hasChunks && shortPath(folder) : sourceOf(shortPath(database), manifest.job);
  const query = database === undefined ? "SELECT content FROM chunks LIMIT 10" : documentsQuery;
  return source === false ? [look] : [`${program} sql ${shellText(source)} ${shellText(query)}`, look];
}

const documentsQuery =
  "SELECT coalesce(document_name, document_id) AS document, chunks FROM document_statistics ORDER BY chunks DESC LIMIT 10";

/** The name of a job stands for its database in the usual output folder, and the address of a job for that in its bucket. */
function sourceOf(database: string, job: string): string {
  if (isBucketUrl(database)) return database.slice(0, database.lastIndexOf("/"));
  return database === join("output", job, `${job}.duckdb`) ? job : database;
}

/** Renders files and folders, each with its meaning. */
export function renderPlaces(
  places: readonly (readonly [path: string, meaning: string])[],
  columns: number,
): readonly string[] {
  const shape = { columns: [{ id: true }, { wraps: true }], width: columns - 2 };
  return layOutTable(places, shape)
    .flat()
    .map((line) => `  ${line}`);
}

/** A path as short as it can be written from here. */
export function shortPath(path: string): string {
  if (isBucketUrl(path)) return path;
  const fromHere = relative("", path);
  return fromHere.startsWith("..") || fromHere === "" ? path : fromHere;
}

/** The same for programs. */
export function summaryJson(result: RunResult, elapsed: number): RunSummary {
  const { manifest, status, folder, database, report, pruned, problems, names } = result;
  const { job, run_id, counts, requests, drift, warnings, discovered, shard } = manifest;
  const datasets = new Map(discovered?.datasets.map(({ dataset_id, name }) => [dataset_id, name]));
  const incomplete = manifest.documents.filter((row) => row.status !== "complete");
  return {
    status,
    job,
    run_id,
    folder,
    database: database ?? null,
    report: report ?? null,
    seconds: secondsFrom(elapsed),
    counts: {
      ...counts,
      document_info: counts.document_info ?? null,
      datasets: counts.datasets ?? null,
      document_details: counts.document_details ?? null,
    },
    requests,
    child_lists: sumOfChildLists(manifest.child_lists),
    ...sumOfOriginals(manifest),
    incomplete_documents: incomplete.map((row) => ({
      ...row,
      dataset_name: datasets.get(row.dataset_id) ?? null,
      document_name: names.get(row.document_id) ?? null,
    })),
    drift,
    warnings,
    problems,
    removed_runs: pruned,
    discovered: discovered ?? null,
    shard: shard ? { index: shard.index, count: shard.count } : null,
  };
}
