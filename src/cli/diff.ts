import type { Changes } from "../compare/read-changes.js";
import type { RunDiff } from "../compare/run-diff.js";
import { exitCodes } from "../errors.js";
import { emptyReadTally } from "../read-tally.js";
import { bucketNames, withFolderName } from "../store/copy/bucket-names.js";

import { csvOfChanges, csvOfDocuments, jsonOfDiff } from "../terminal/diff-rows.js";
import { renderDiff } from "../terminal/diff-table.js";
import { pageFor } from "../terminal/text.js";
import { renderReading } from "../terminal/verify-progress.js";
import { type ArgumentsOf, defineCommand, type Options, type Positionals } from "./command.js";
import { wrongLine } from "./line/wrong-line.js";
import { commonOptions, dirOption, environmentOption, memoryOption, placesFrom, viewFrom } from "./options.js";
import { printPieces, printResult } from "./print-result.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump diff nightly
  kbdump diff nightly@20261119 nightly
  kbdump diff before after --text
  kbdump diff before after --only document --format csv

Exit codes: 0 no difference, or --exit-zero · 1 could not be compared · 2 wrong usage, or no such run · 4 they differ · 130, 143 interrupted`;

const options = {
  ...commonOptions,
  format: { choices: ["table", "json", "csv"], default: "table", describe: "output: table (default), csv or json" },
  text: { type: "boolean", default: false, describe: "show the words that differ in changed chunks" },
  only: { choices: ["document"], describe: "document: the counts of every document, and no chunks" },
  "exit-zero": { type: "boolean", default: false, describe: "exit with 0 even if the runs differ" },
  ...dirOption,
  ...environmentOption,
  ...memoryOption,
} as const satisfies Options;

const positionals = {
  old: { type: "string", demandOption: true, names: "folder", describe: "folder of the older run, or a job" },
  new: {
    type: "string",
    names: "folder",
    describe: "the newer run; without it, the two newest complete runs of the job",
  },
} as const satisfies Positionals;

type DiffArguments = ArgumentsOf<typeof positionals & typeof options>;

/** `kbdump diff <old> [new]`: what became of the chunks of one run in another. */
export const diffCommand = defineCommand({
  name: "diff <old> [new]",
  about: "compare two runs chunk by chunk, across a re-index",
  positionals,
  options,
  epilog,
  async run(args, world) {
    const { memory } = args;
    await checkArguments(args);
    const names = bucketNames(world.env);
    const [before, after] = await runsFrom(args, world);
    const { withRunDiff } = await import("../compare/diff-runs.js"); // heavy; --help does without
    const tally = emptyReadTally();
    const view = viewFrom(args, world);
    if (names(before) !== args.old || names(after) !== args.new) view.log("info", `comparing ${before} with ${after}`);
    const unwatch = view.watch(renderReading(tally));
    const setting = { tally, memory, signal: world.signal, text: textsFor(args) };
    const status = await withRunDiff(before, after, setting, async (found, changes) => {
      const diff = { ...found, old: withFolderName(found.old, names), new: withFolderName(found.new, names) };
      unwatch();
      for (const warning of diff.warnings) view.log("warn", warning);
      await show(diff, changes, args, world);
      return diff.status;
    }).finally(unwatch);
    return status === "same" || args.exitZero ? exitCodes.complete : exitCodes.differences;
  },
});

/** The folders of the two runs, the older one first. */
async function runsFrom(args: DiffArguments, world: World): Promise<readonly [string, string]> {
  const { findRun, findRunAndOneBefore } = await import("../store/find-run.js");
  const places = placesFrom(args, world);
  if (args.new === undefined) return findRunAndOneBefore(args.old, places);
  return [await findRun(args.old, places), await findRun(args.new, places)];
}

async function checkArguments(args: DiffArguments): Promise<void> {
  const { checkMemory } = await import("../job/check-job.js"); // heavy; --help does without
  const { memory, format, json } = args;
  const problems = [
    ...checkMemory(memory),
    ...(json && format === "csv" ? [{ path: "--json", message: "not together with --format csv" }] : []),
  ];
  if (problems.length > 0) throw wrongLine(problems);
}

/** A table shows the texts that a re-index took, without being asked. */
function textsFor({ only, text, json, format }: DiffArguments): boolean | "lost" {
  if (only !== undefined) return false;
  return text || (json || format !== "table" ? false : "lost");
}

async function show(diff: RunDiff, changes: Changes, args: DiffArguments, world: World): Promise<void> {
  const documentsOnly = args.only !== undefined;
  if (args.json || args.format === "json")
    return printPieces(world, jsonOfDiff(diff, documentsOnly ? undefined : changes.all()));
  if (args.format === "csv")
    return printPieces(world, documentsOnly ? csvOfDocuments(diff.documents) : csvOfChanges(changes.all(), args.text));
  const table = { ...pageFor(world.stdout, world.env), documentsOnly, words: args.text };
  return printResult(world, await renderDiff(diff, changes, table));
}
