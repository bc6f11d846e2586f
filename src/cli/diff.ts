import type { Changes } from "../diff/read-changes.js";
import type { RunDiff } from "../diff/run-diff.js";
import { exitCodes, UsageError } from "../errors.js";
import { emptyReadTally } from "../read-tally.js";
import { csvOfChanges, csvOfDocuments, jsonOfDiff } from "../terminal/diff-rows.js";
import { renderDiff } from "../terminal/diff-table.js";
import { pageFor } from "../terminal/text.js";
import { renderReading } from "../terminal/verify-progress.js";
import { type ArgumentsOf, defineCommand, type Options } from "./command.js";
import { commonOptions, memoryOption, viewFrom } from "./options.js";
import { printPieces, printResult } from "./print-result.js";
import type { World } from "./world.js";

const epilog = `Examples:
  kbdump diff output/nightly/runs/20261119T020000123Z output/nightly/latest
  kbdump diff before after --text
  kbdump diff before after --only document --format csv

Exit codes: 0 no difference, or --exit-zero · 1 could not be compared · 2 wrong usage, or no dump · 4 they differ ·
130, 143 interrupted`;

const options = {
  ...commonOptions,
  format: { choices: ["table", "json", "csv"], default: "table", describe: "for people or for programs" },
  text: { type: "boolean", default: false, describe: "show which words of a changed chunk differ" },
  only: { choices: ["document"], describe: "counts of every document, and no chunks" },
  "exit-zero": { type: "boolean", default: false, describe: "exit with 0 also where they differ" },
  ...memoryOption,
} as const satisfies Options;

type DiffArguments = ArgumentsOf<typeof options>;

/** `kbdump diff <old> <new>`: what became of the chunks of one run in another. */
export const diffCommand = defineCommand({
  name: "diff <old> <new>",
  about: "compare two run folders, chunk by chunk, across re-indexing",
  positionals: {
    old: { type: "string", demandOption: true, describe: "folder of the older run, with manifest.json" },
    new: { type: "string", demandOption: true, describe: "folder of the newer run" },
  },
  options,
  epilog,
  async run(args, world) {
    const { memory } = args;
    await checkArguments(args);
    const { withRunDiff } = await import("../diff/diff-runs.js"); // heavy; --help does without
    const tally = emptyReadTally();
    const view = viewFrom(args, world);
    const unwatch = view.watch(renderReading(tally));
    const setting = { tally, memory, signal: world.signal, text: textsFor(args) };
    const status = await withRunDiff(args.old, args.new, setting, async (diff, changes) => {
      unwatch();
      for (const warning of diff.warnings) view.log("warn", warning);
      await show(diff, changes, args, world);
      return diff.status;
    }).finally(unwatch);
    return status === "same" || args.exitZero ? exitCodes.complete : exitCodes.differences;
  },
});

async function checkArguments(args: DiffArguments): Promise<void> {
  const { checkMemory } = await import("../job/check-memory.js"); // heavy; --help does without
  const { memory, format, json } = args;
  const given: Readonly<Record<string, unknown>> = { format, only: args.only };
  const problems = [
    ...Object.entries(given)
      .filter(([, value]) => Array.isArray(value))
      .map(([name]) => ({ path: `--${name}`, message: "it is given more than once" })),
    ...checkMemory(memory),
    ...(json && format === "csv" ? [{ path: "--json", message: "it contradicts --format csv" }] : []),
  ];
  if (problems.length > 0) throw new UsageError("Nothing was compared:", problems);
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
