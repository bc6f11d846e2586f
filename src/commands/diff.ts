import * as v from "valibot";
import { withFolderName } from "../cli/bucket-names.js";
import { type Arguments, defineCommand, type Environment, type Options, type Positionals } from "../cli/command.js";
import { comparisonMemoryOption, findOptionsFrom, outOption } from "../cli/options.js";
import { jsonItems, printPieces, printResult } from "../cli/output.js";
import { renderReading } from "../cli/progress-text.js";
import { jsonLine, pageFor, terminalText } from "../cli/text.js";
import {
  type ChangeResult,
  type ChunkChange,
  changeCounts,
  chunkChange,
  type DocumentDiff,
  diffResult,
  type RunDiff,
  type TextPart,
} from "../compare/diff-result.js";
import type { Changes } from "../compare/read-changes.js";
import { csvLines } from "../dump/formats/csv.js";
import { exitCodes } from "../errors.js";
import { emptyReadProgress } from "../read-progress.js";

import { markedWords, renderDiff } from "./diff/table.js";

const epilog = `Examples:
  kbdump diff nightly
  kbdump diff nightly@20261119 nightly
  kbdump diff before after --text
  kbdump diff before after --only document --format csv

Exit codes: 0 no difference, or --exit-zero · 1 could not be compared · 2 wrong usage, or no such run · 4 they differ · 130, 143 interrupted`;

const options = {
  format: { choices: ["table", "json", "csv"], default: "table", describe: "output; default: table" },
  text: { type: "boolean", default: false, describe: "show the words that differ in changed chunks" },
  only: { choices: ["document"], describe: "document: the counts of every document, and no chunks" },
  "exit-zero": { type: "boolean", default: false, describe: "exit with 0 even if the runs differ" },
  ...outOption,
  ...comparisonMemoryOption,
} as const satisfies Options;

const positionals = {
  old: { type: "string", demandOption: true, names: "folder", describe: "folder of the older run, or a job" },
  new: {
    type: "string",
    names: "folder",
    describe: "the newer run; without it, the two newest complete runs of the job",
  },
} as const satisfies Positionals;

type DiffArguments = Arguments<typeof positionals & typeof options>;

/** `kbdump diff <old> [new]`: shows what happened to the chunks of one run in another. */
export const command = defineCommand({
  name: "diff <old> [new]",
  about: "compare two runs chunk by chunk, across a re-index",
  positionals,
  options,
  epilog,
  results: () => ({ diff: diffResult }),
  check: ({ json, format }) =>
    json && format === "csv" ? [{ path: "--json", message: "not together with --format csv" }] : [],
  async run(args, environment) {
    const { memory } = args;
    const { names, signal, view } = environment;
    const [before, after] = await runsFrom(args, environment);
    const { withRunDiff } = await import("../compare/diff-runs.js"); // slow to load; --help does not need it
    const progress = emptyReadProgress();
    if (names(before) !== args.old || names(after) !== args.new) view.log("info", `comparing ${before} with ${after}`);
    const unwatch = view.watch(renderReading(progress));
    const context = { progress, memory, signal, text: textsFor(args) };
    const status = await withRunDiff(before, after, context, async (found, changes) => {
      const diff = { ...found, old: withFolderName(found.old, names), new: withFolderName(found.new, names) };
      unwatch();
      for (const warning of diff.warnings) view.log("warn", warning);
      await show(diff, changes, args, environment);
      return diff.status;
    }).finally(unwatch);
    return status === "same" || args.exitZero ? exitCodes.complete : exitCodes.differences;
  },
});

/** The folders of the two runs, the older one first. */
async function runsFrom(args: DiffArguments, environment: Environment): Promise<readonly [string, string]> {
  const { findRun, findRunAndOneBefore } = await import("../store/find-run.js");
  const places = findOptionsFrom(args, environment);
  if (args.new === undefined) return findRunAndOneBefore(args.old, places);
  return [await findRun(args.old, places), await findRun(args.new, places)];
}

/** Which texts to compare word by word. A table always shows those that a re-index lost. */
function textsFor({ only, text, json, format }: DiffArguments): boolean | "lost" {
  if (only !== undefined) return false;
  return text || (json || format !== "table" ? false : "lost");
}

async function show(diff: RunDiff, changes: Changes, args: DiffArguments, environment: Environment): Promise<void> {
  const documentsOnly = args.only !== undefined;
  if (args.json || args.format === "json")
    return printPieces(environment, jsonOfDiff(diff, documentsOnly ? undefined : changes.all()));
  if (args.format === "csv")
    return printPieces(
      environment,
      documentsOnly ? csvOfDocuments(diff.documents) : csvOfChanges(changes.all(), args.text),
    );
  const table = { ...pageFor(environment.stdout, environment.env), documentsOnly, words: args.text };
  return printResult(environment, await renderDiff(diff, changes, table));
}

const changeColumns = v.keyof(v.omit(chunkChange, ["text"])).options;
const countColumns = v.keyof(changeCounts).options;
const documentColumns = ["dataset_id", "document_id", "state", "reindexed", "reordered", "reason"] as const;
/** The last columns, so that the counts before them keep their positions. */
const nameColumns = ["dataset_name", "document_name"] as const;

/** Yields CSV with one row per differing chunk and child chunk; with `text`, includes the word differences. */
async function* csvOfChanges(changes: AsyncIterable<ChunkChange>, text: boolean): AsyncGenerator<string> {
  yield csvLine([...changeColumns, ...(text ? ["content_diff", "answer_diff"] : [])]);
  for await (const change of changes) {
    const cells = changeColumns.map((name) => cellOf(change[name]));
    const texts = text ? [textCell(change.text?.content), textCell(change.text?.answer)] : [];
    yield csvLine([...cells, ...texts]);
  }
}

/** Yields CSV with one row per document, including documents without differences. */
async function* csvOfDocuments(documents: readonly DocumentDiff[]): AsyncGenerator<string> {
  const kinds = ["chunks", "child_chunks"] as const;
  const counted = kinds.flatMap((kind) => countColumns.map((name) => `${kind}_${name}`));
  yield csvLine([...documentColumns, ...counted, ...nameColumns]);
  for (const document of documents) {
    const cellsOf = (names: typeof documentColumns | typeof nameColumns) => names.map((name) => cellOf(document[name]));
    const counts = kinds.flatMap((kind) => countColumns.map((name) => String(document[kind][name])));
    yield csvLine([...cellsOf(documentColumns), ...counts, ...cellsOf(nameColumns)]);
  }
}

/** Yields one JSON object on one line: the summary, then the changes, or null instead of them. */
async function* jsonOfDiff(diff: RunDiff, changes: AsyncIterable<ChunkChange> | undefined): AsyncGenerator<string> {
  const { documents, ...rest } = diff;
  yield `${jsonLine(rest).slice(0, -1)},"documents":[`;
  yield* jsonItems(documents);
  yield '],"changes":';
  if (!changes) return yield "null}\n";
  yield "[";
  yield* jsonItems(changeResults(changes));
  yield "]}\n";
}

async function* changeResults(changes: AsyncIterable<ChunkChange>): AsyncGenerator<ChangeResult> {
  for await (const { text, ...change } of changes)
    yield { ...change, text: text ? { content: text.content ?? null, answer: text.answer ?? null } : null };
}

function cellOf(value: string | number | boolean | null | readonly string[]): string | null {
  if (value === null) return null;
  if (Array.isArray(value)) return value.join(" ");
  return typeof value === "string" ? terminalText(value) : String(value);
}

function textCell(parts: readonly TextPart[] | undefined): string | null {
  if (!parts) return null;
  return markedWords(parts)
    .map(({ text }) => text)
    .join("");
}

function csvLine(cells: readonly (string | null)[]): string {
  return `${csvLines([cells])}\n`;
}
