import { join } from "node:path";
import { bytesText, chunksText, countText, durationText } from "../../amounts.js";
import type { CommonArguments, Environment } from "../../cli/command.js";
import { commandsBelow, firstOf, type Paragraphs, type Part, renderParagraphs, titled } from "../../cli/outline.js";
import { printReason } from "../../cli/output.js";
import { renderPaths, shortPath } from "../../cli/table.js";
import { messageText, type Page, type Paint, secondsFrom, terminalText } from "../../cli/text.js";
import { listName, type Manifest, manifestName } from "../../dump/manifest.js";
import { exitCodes } from "../../errors.js";
import { isBucketUrl } from "../../job/s3-url.js";
import type { RunResult } from "../../run/make-run.js";
import { incompleteText, sentenceOf, sumOfChildLists } from "../../segments/document-result.js";
import { type Invocation, retryCommand, shellText } from "../../shell-text.js";
import { countOf, nameAndId, shardText } from "../../words.js";
import type { RunSummary } from "./result.js";

/**
 * Prints the result of a run, and why it is not complete. Returns the exit code. `mend`: the commands that read what is missing.
 * `more`: further members of the JSON.
 */
export async function printRun(
  result: RunResult,
  elapsed: number,
  args: Pick<CommonArguments, "quiet" | "logFormat">,
  environment: Environment,
  mend?: readonly string[],
  more: object = {},
): Promise<number> {
  for (const sentence of reasonsOf(result, args.quiet)) printReason(`published, but ${sentence}`, args, environment);
  const render = (page: Page) => renderSummary(result, elapsed, environment.invocation(), page, mend);
  const achieved = `the run is published in ${terminalText(result.folder)}`;
  await environment.print({ ...summaryJson(result, elapsed), ...more }, render, achieved);
  return result.status === "complete" ? exitCodes.complete : exitCodes.partial;
}

/** The reasons for exit code 3 that are not on stderr yet. With --quiet, these include incomplete documents and lists. */
function reasonsOf({ problems, manifest }: RunResult, quiet: boolean): readonly string[] {
  if (!quiet || manifest.status === "complete") return problems;
  const documents = manifest.documents.filter(({ status }) => status !== "complete").length;
  const counted = `${documents} of ${countOf(manifest.documents.length, "document")}`;
  return [...problems, documents > 0 ? `${counted} failed or changed while they were read` : listsText(manifest)];
}

function listsText({ joined }: RunResult["manifest"]): string {
  return joined ? "some lists could not be read, or are not the same in all shards" : "some lists could not be read";
}

/**
 * Renders the result of a run for people: counts, what is missing, paths, duration and the next commands. `mend`: the commands
 * that read what is missing.
 */
export function renderSummary(
  result: RunResult,
  elapsed: number,
  invocation: Invocation,
  page: Page,
  mend: readonly string[] = [retryCommand(invocation)],
): string {
  const { manifest, pruned } = result;
  const { shard } = manifest;
  const skipped = skippedText(manifest);
  return renderParagraphs(
    [
      [...verdictOf(result, elapsed), ...originalTexts(manifest), discoveredText(manifest)],
      ...flawsOf(result, mend, page.paint),
      [
        ({ columns }) => renderPaths(pathsOf(result), columns),
        pruned.length > 0 && `  ${countText(pruned.length, "older run")} removed, as output.keep says`,
      ],
      [commandsBelow("Next:", ...nextCommands(result, invocation))],
      [skipped !== undefined && { text: skipped, paint: "faint" }],
      [shard && (() => [joinText(shard.count, result, invocation)])],
    ],
    page,
  );
}

function verdictOf({ status, manifest }: RunResult, elapsed: number): readonly Part[] {
  const { counts, requests, documents, joined } = manifest;
  const isComplete = status === "complete";
  const shard = manifest.shard ? `${shardText(manifest.shard)}, ` : "";
  const read = isComplete ? countText(counts.documents, "document") : incompleteText(documents);
  const sent = `${countText(requests.sent, "request")}${requests.retried > 0 ? `, ${requests.retried} of them again` : ""}`;
  const took = durationText(elapsed);
  const effort = joined
    ? `joined from ${countText(joined.shards.length, "shard")} in ${took}; they took`
    : `in ${took} with`;
  return [
    { head: status, paint: isComplete ? "good" : "bad", text: `${shard}${read}, ${chunksText(counts)}` },
    { text: `${effort} ${sent}, ${bytesText(requests.bytes)} received`, paint: "faint" },
  ];
}

/** The next step after a shard: the command that joins all shards. */
function joinText(count: number, { manifest, folder }: RunResult, { program }: Invocation): string {
  return `Once all ${countText(count, "shard")} are there: ${program} join ${wordForShards(folder, manifest.job, count)}`;
}

/** The argument for all shards of a job. Buckets need another form, because a shell cannot expand a pattern there. */
function wordForShards(folder: string, job: string, count: number): string {
  if (isBucketUrl(folder)) return shellText(folder.slice(0, folder.lastIndexOf("/shards/")));
  const shards = shortPath(join(folder, "..", "..", ".."));
  return shards === join("output", job, "shards") ? job : `${shellText(shards)}/*-of-${count}`;
}

/** Documents that are new or gone since the previous run; undefined if there are none, or the job does not list documents. */
function discoveredText({ discovered }: Manifest): string | undefined {
  if (!discovered || discovered.new.length + discovered.vanished.length === 0) return undefined;
  const came = discovered.new.length > 0 ? [countText(discovered.new.length, "new document")] : [];
  const went = discovered.vanished.length > 0 ? [`${countText(discovered.vanished.length, "document")} gone`] : [];
  return `${[...came, ...went].join(", ")} since ${discovered.since}`;
}

function pathsOf({ manifest, folder, database, report }: RunResult): readonly (readonly [string, string])[] {
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

/** Commands to run next, valid in the folder that the program was started in. */
function nextCommands({ manifest, folder, database, report }: RunResult, { program }: Invocation): readonly string[] {
  const look = `${program} ${report === undefined ? "report" : "verify"} ${shellText(shortPath(folder))}`;
  const hasChunks = manifest.files.some(({ path }) => /^chunks[./]/.test(path));
  const source = database === undefined ? hasChunks && shortPath(folder) : sourceOf(shortPath(database), manifest.job);
  const query = database === undefined ? "SELECT content FROM chunks LIMIT 10" : documentsQuery;
  return source === false ? [look] : [`${program} sql ${shellText(source)} ${shellText(query)}`, look];
}

const documentsQuery =
  "SELECT coalesce(document_name, document_id) AS document, chunks FROM document_statistics ORDER BY chunks DESC LIMIT 10";

/**
 * The shortest argument that names a job's database on a command line: the job's name in the usual output folder, its address in a
 * bucket, otherwise the path.
 */
function sourceOf(database: string, job: string): string {
  if (isBucketUrl(database)) return database.slice(0, database.lastIndexOf("/"));
  return database === join("output", job, `${job}.duckdb`) ? job : database;
}

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

/** Maximum documents and warnings to show. */
const shown = 10;

/** The incomplete documents, all other flaws of the run, and the commands that fix them. */
function flawsOf({ manifest, names, problems }: RunResult, mend: readonly string[], { bad }: Paint): Paragraphs {
  const incomplete = manifest.documents.filter(({ status }) => status !== "complete");
  const listed = new Set(incomplete.map((row) => sentenceOf(row, names)));
  const warnings = [...problems, ...manifest.warnings.filter((sentence) => !listed.has(sentence))];
  const documentOf = ({ document_id: id, status, error }: (typeof incomplete)[number]) =>
    `${bad(status)} ${terminalText(nameAndId(names.get(id), id))}: ${messageText(String(error), 400)}`;
  const where = " in manifest.json";
  return [
    [titled("Incomplete:", firstOf(incomplete, shown, documentOf, "more document", where))],
    [
      titled(
        "Warnings:",
        firstOf(warnings, shown, (sentence) => messageText(sentence), "more warning", where),
      ),
    ],
    [manifest.status === "partial" && commandsBelow("Once the cause is gone, read what is missing:", ...mend)],
  ];
}

type Saved = Pick<RunSummary, "originals" | "attachments">;

/** The originals and attachments of a run by outcome; null if the job asks for none. */
export function sumOfOriginals({ originals }: Manifest): Saved {
  if (!originals) return { originals: null, attachments: null };
  return {
    originals: sumOf(originals.filter(({ attachment_id: id }) => id === null)),
    attachments: sumOf(originals.filter(({ attachment_id: id }) => id !== null)),
  };
}

function sumOf(saved: NonNullable<Manifest["originals"]>): NonNullable<Saved["originals"]> {
  const count = (verdict: (typeof saved)[number]["verdict"]) =>
    saved.filter((original) => original.verdict === verdict).length;
  const bytes = saved.reduce((sum, original) => sum + original.bytes, 0);
  return { complete: count("complete"), wrong_size: count("wrong size"), missing: count("missing"), bytes };
}

/** How many originals and attachments were saved, and how many are incomplete. Mentions attachments only if there are any. */
function originalTexts(manifest: Manifest): readonly string[] {
  const { originals, attachments } = sumOfOriginals(manifest);
  const hasAttachments = manifest.originals?.some(({ attachment_id: id }) => id !== null);
  return [
    ...(originals ? [savedText("original", originals)] : []),
    ...(attachments && hasAttachments ? [savedText("attachment", attachments)] : []),
  ];
}

function savedText(noun: string, sum: NonNullable<Saved["originals"]>): string {
  const { complete, wrong_size: wrong, missing, bytes } = sum;
  const bad = [
    ...(wrong > 0 ? [`${wrong} of another size than the service says`] : []),
    ...(missing > 0 ? [`${missing} missing`] : []),
  ];
  return [`${countText(complete, noun)} saved (${bytesText(bytes)})`, ...bad].join(", ");
}

/** With `child_chunks: auto`, how many child lists a run read and skipped; undefined if there were none. */
function skippedText({ options, child_lists }: Manifest): string | undefined {
  const { asked, embedded, skipped } = sumOfChildLists(child_lists);
  if (options.child_chunks !== "auto" || asked + embedded + skipped === 0) return undefined;
  const parts = [
    `${countText(asked, "child list")} read`,
    embedded > 0 && `embedded children used for ${countText(embedded, "chunk")}`,
    skipped > 0 && `${countText(skipped, "list")} skipped`,
  ];
  return `${parts.filter(Boolean).join(", ")}; child_lists in manifest.json says why`;
}
