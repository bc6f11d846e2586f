import { chunksText, countText, numberText } from "../amounts.js";
import { defineCommand, type Environment, type Options } from "../cli/command.js";
import type { Dialogue } from "../cli/dialogue.js";
import { findOptionsFrom, runPositional } from "../cli/options.js";
import { commandsBelow, type Entry, firstOf, firstRows, type Paragraphs, type Part, titled } from "../cli/outline.js";
import { type Column, shortPath } from "../cli/table.js";
import { terminalText } from "../cli/text.js";
import { differenceOf } from "../compare/proof/prove.js";
import type { Problem } from "../errors.js";
import {
  type CopyPlan,
  type DatasetPlan,
  type DocumentPlan,
  documentsIn,
  isMade,
  type LossPart,
  longestName,
  stateOf,
  wishedName,
} from "../restore/copy/copy-plan.js";
import {
  type Copied,
  type CopiedDocument,
  type CopyResult,
  type CopyRun,
  copyResult,
  isIncomplete,
} from "../restore/copy/copy-result.js";
import type { Confirmed } from "../restore/lost/restore-options.js";
import { emptyWriteProgress } from "../restore/result.js";
import { commandText, type Invocation, withoutOption } from "../shell-text.js";
import { nameAndId, nameText } from "../words.js";
import { askToSend, confirmPlan } from "./restore/questions.js";
import {
  applyCommand,
  mustKnow,
  placesOf,
  refusalsIn,
  type Trouble,
  troublesIn,
  verdictOf,
} from "./restore/result-parts.js";
import { keyFrom, problemsOf, settingsFrom, workAndPrint, writeOptions } from "./restore/shared.js";

const epilog = `Examples:
  kbdump copy nightly --to https://new.example.com/v1
  kbdump copy nightly --to https://new.example.com/v1 --dataset UUID --apply

It needs a dump with details: true. Nothing that is there is overwritten. Without --apply, nothing is written: kbdump prints what it would write, and what it leaves out and why. The key comes from the environment only, and must be one that may write.

Exit codes: 0 planned, or copied and proved · 1 failed · 2 wrong usage, no such run, no key, or refused as a whole · 3 some documents could not be copied · 4 the proof found a difference · 5 another copy of this run is active · 130, 143 interrupted, or answered with no; run it again to continue`;

const options = {
  to: { type: "string", value: "URL", demandOption: true, describe: "base URL of the service to copy to" },
  dataset: {
    values: ["new"],
    value: "UUID",
    read: readDataset,
    describe: "an empty dataset to copy into, or new for another copy; default: a new one, or that of an earlier copy",
  },
  ...writeOptions,
  concurrency: {
    ...writeOptions.concurrency,
    default: "4", // low, because the service embeds every chunk that it receives while people use it
    describe: "maximum concurrent requests and documents, 1 to 64; default: 4",
  },
} as const satisfies Options;

/** `kbdump copy <run> --to URL`: copies whole documents to a service. Only writes with `--apply`. `load` imports the code that copies. */
export function copyCommand(load: () => Promise<CopyRun>) {
  return defineCommand({
    name: "copy <run>",
    about: "bring whole documents to another service; without --apply, only plan it",
    positionals: runPositional,
    options,
    epilog,
    results: () => ({ copy: copyResult }),
    check: problemsOf,
    async run(args, environment) {
      const { findRun } = await import("../store/find-run.js"); // slow to load; --help does not need it
      const folder = await findRun(args.run, findOptionsFrom(args, environment));
      const key = await keyFrom(args.keyEnv, environment.env);
      const baseUrl = args.to.replace(/\/+$/, "");
      const place = { folder, key, baseUrl, dataset: args.dataset };
      const settings = { ...settingsFrom(args, environment), ...place, progress: emptyWriteProgress() };
      const ask = (planned: CopyResult) => askToCopy(planned, args.yes, environment);
      return workAndPrint({ settings, execute: await load(), ask, outline: copiedOutline }, environment);
    },
  });
}

export const command = copyCommand(async () => (await import("../restore/copy/copy-run.js")).copyRun); // slow to load; --help does not need it

/** A dataset must be an id or `new`. */
async function readDataset(given: string, path: string): Promise<string | Problem> {
  const { checkIds } = await import("../job/check-job.js"); // slow to load; --help does not need it
  const [problem] = given === "new" ? [] : checkIds(path, [given]);
  return problem ? { path, message: `${problem.message}; or new` } : given.toLowerCase();
}

/** Shows the plan and asks whether to continue. With `yes`, or with nothing to write, it asks nothing. */
function askToCopy(planned: CopyResult, yes: boolean, environment: Environment): Promise<Confirmed> {
  const { base_url, counts } = planned;
  const documents = countText(counts.documents, "document");
  const ask = async (dialogue: Dialogue) => ({ go: await askToSend(counts.writes, base_url, documents, dialogue) });
  return confirmPlan(() => copyPlanOutline(planned), ask, yes || counts.writes === 0, environment);
}

/** Maximum datasets, documents, losses and problems to show. */
const most = 20;

/**
 * The plan of a copy, for people: each dataset with its documents, everything left out, totals, warnings, and the next commands.
 * Without an invocation, it shows no commands, because a question follows.
 */
export function copyPlanOutline(result: CopyResult, invocation?: Invocation): Paragraphs {
  const { run, base_url, plan, counts } = result;
  const title = counts.writes > 0 ? "Write it:" : "Check again what is there:";
  return [
    [`Run ${run.run_id} of job ${run.job}, to restore to ${terminalText(base_url)}.`],
    ...firstOf(plan.datasets, most, datasetEntry, "more dataset").map((part) => [part]),
    [troublesIn("Left out:", refusalsIn(documentsIn(plan)), namesIn(plan), { documents: most, rows: 1 })],
    totals(result),
    [counts.documents > 0 && warnings],
    [invocation && counts.writes + counts.there > 0 && commandsBelow(title, applyCommand(invocation))],
  ];
}

/** Names of datasets and documents by their ids in the dump. */
function namesIn({ datasets }: CopyPlan): ReadonlyMap<string, string> {
  const named = datasets.flatMap(({ dataset_id, dataset_name, documents }) => [
    [dataset_id, dataset_name] as const,
    ...documents.map(({ document_id, document_name }) => [document_id, document_name] as const),
  ]);
  return new Map(named);
}

function totals({ counts, plan }: CopyResult): readonly Part[] {
  const { datasets, documents, chunks, children, writes, characters, there, left_out } = counts;
  const place = datasets > 0 ? ` into ${countText(datasets, "new dataset")}` : "";
  const rows = `${countText(documents, "document")}${place}: ${chunksText({ chunks, child_chunks: children })}`;
  const cost = `${countText(writes, "write request")} or more; ${countText(characters, "character")} to embed, which costs tokens`;
  const rest = [there > 0 && `${numberText(there)} there already`, left_out > 0 && `${numberText(left_out)} left out`];
  const unwritten = rest.filter(Boolean).join(", ");
  const coming = documentsIn(plan).filter((document) => stateOf(document) === "comes");
  const questions = coming.filter(({ doc_form }) => doc_form === "qa_model").length;
  return [
    { head: "plan", text: writes === 0 ? "nothing to write" : rows },
    writes > 0 && cost,
    children > 0 &&
      "child chunks: the service makes its own; each one that is wrong or missing costs one more write request",
    // For every new qa_model document, the service asks a language model to write questions about its text.
    questions > 0 && `${countText(questions, "qa_model document")}: each stub costs one language model call`,
    unwritten !== "" && `documents that are not written: ${unwritten}`,
  ];
}

const warnings = mustKnow(
  "Never copied: ids, gaps between positions, hit counts, times, authors, and the sources that documents were synchronised with. The service computes all embeddings again.",
  "Links in the texts to files of the old service still lead there.",
  "Do not index a restored document again: that leaves only the text of the stub that it was made from.",
);

/** The plan of a dataset: the target dataset with settings, fields and tags; the documents; the losses. */
function datasetEntry(plan: DatasetPlan): Entry {
  const { dataset_id: id, dataset_name: name, target, documents } = plan;
  const isUsed = target.kind === "there" || isMade(plan);
  const inState = (state: "comes" | "there") => documents.filter((each) => stateOf(each) === state);
  return {
    text: nameAndId(name, terminalText(id, 80)),
    paint: "strong",
    below: [
      ...(isUsed ? factsOf(plan) : ["→ no dataset is made, because none of its documents is copied"]),
      ...firstRows([...inState("comes"), ...inState("there")], most, columns),
      ...lossParts(plan),
    ],
  };
}

function factsOf(plan: DatasetPlan): readonly Part[] {
  const { fields, built_in_fields, tags } = plan;
  const names = [...fields.map(({ name, type }) => `${name} (${type})`), built_in_fields && "the built-in ones"];
  const named = names.filter(Boolean).join(", ");
  return [
    targetText(plan),
    `settings: ${settingsText(plan)}`,
    named !== "" && `metadata fields: ${terminalText(named, 400)}`,
    tags.length > 0 && `tags: ${terminalText(tags.join(", "), 400)}`,
  ];
}

function targetText(plan: DatasetPlan): string {
  const { dataset_name, target } = plan;
  const wished = wishedName(plan);
  if (target.kind === "there") return `→ the dataset ${nameAndId(target.name, terminalText(target.id, 80))}`;
  if (target.name === dataset_name) return "→ a new dataset of the same name";
  if (target.name === wished)
    return `→ a new dataset, ${nameText(target.name)}, as the service needs one for each form`;
  const why = [...wished].length > longestName ? `is longer than ${longestName} characters` : "is taken there";
  return `→ a new dataset, ${nameText(target.name)}, as the name ${why}`;
}

/** The settings of a new dataset that cost money or that the service may not support. */
function settingsText({ target, settings }: DatasetPlan): string {
  if (target.kind === "there") return "they stay as they are";
  const { indexing_technique, embedding_model: model, embedding_model_provider: provider, permission } = settings;
  const from = provider === null ? "" : ` of ${provider}`;
  const all = [indexing_technique, model === null ? null : `embeddings by ${model}${from}`, permission];
  return terminalText(all.filter(Boolean).join(", "), 300);
}

/** The table of documents. On a narrow terminal, the counts are dropped first. */
const columns: readonly Column<DocumentPlan>[] = [
  { head: "document", cell: nameOf, least: 14 },
  { head: "form", cell: ({ doc_form }) => terminalText(doc_form, 40), drop: 2 },
  { head: "chunks", cell: ({ chunks }) => numberText(chunks), right: true },
  { head: "children", cell: ({ children }) => numberText(children), right: true, drop: 3 },
  { head: "disabled", cell: ({ disabled }) => numberText(disabled), right: true, drop: 1 },
  { head: "characters", cell: ({ characters }) => numberText(characters), right: true },
  { head: "", cell: remarkOn, wraps: true },
];

function nameOf({ document_name: name, document_id: id }: DocumentPlan): string {
  return nameText(name === id ? "" : name) || terminalText(id, 80);
}

function remarkOn({ earlier, enabled, archived }: DocumentPlan): string {
  if (earlier?.state === "restored") return "there already";
  return [earlier !== null && "begun earlier", !enabled && "ends disabled", archived && "ends archived"]
    .filter(Boolean)
    .join("; ");
}

/** For each part that a copy may lose: text that names the part and how many rows lose it. */
const subjects: Readonly<Record<LossPart, (rows: number) => string>> = {
  chunks: (rows) => countText(rows, "chunk"),
  children: (rows) => countText(rows, "child chunk"),
  attachments: (rows) => `attachments of ${countText(rows, "chunk")}`,
  summaries: (rows) => `summaries of ${countText(rows, "chunk")}`,
  states: (rows) => `the enabled state of ${countText(rows, "chunk")}`,
  metadata: (rows) => countText(rows, "metadata value"),
  settings: () => "settings",
  "process rule": () => "process rule",
  source: () => "source",
};

/** The expected losses of a dataset and its documents, each once: `summaries of 5 chunks (2 documents): no request writes them`. */
function lossParts({ losses, documents }: DatasetPlan): readonly Part[] {
  const all = [
    ...losses.map((loss) => ({ ...loss, names: [] as readonly string[] })),
    ...documents.flatMap(({ document_name, losses }) => losses.map((loss) => ({ ...loss, names: [document_name] }))),
  ];
  const shared = [...Map.groupBy(all, ({ part, reason }) => `${part}: ${reason}`).values()];
  const partOf = (same: typeof all): Part => {
    const [first] = same;
    const names = same.flatMap((loss) => loss.names);
    const rows = same.reduce((sum, loss) => sum + loss.rows, 0);
    const of = names.length === 1 ? nameText(names[0] ?? "") || "1 document" : countText(names.length, "document");
    const place = names.length === 0 ? "" : ` (${of})`;
    return first && `- ${subjects[first.part](rows)}${place}: ${terminalText(first.reason, 300)}`;
  };
  return shared.length === 0 ? [] : ["Not copied:", ...firstOf(shared, most, partOf)];
}

/** The result of a copy, for people: the verdict, everything missing and why, the findings of the proof, and the next commands. */
export function copiedOutline(result: CopyResult, invocation: Invocation): Paragraphs {
  const { applied, plan, differences, proof, journal, base_url, run } = result;
  if (applied === null) return copyPlanOutline(result, invocation);
  const names = namesIn(plan);
  const documents = documentsIn(plan);
  const missing = [...refusalsIn(documents, "left out: "), ...applied.documents.flatMap(troublesOf)];
  const outcomes = new Map(applied.documents.map(({ document_id, outcome }) => [document_id, outcome]));
  const isRestored = ({ document_id, earlier }: DocumentPlan) =>
    (outcomes.get(document_id) ?? earlier?.state) === "restored"; // by this run of the command, or by an earlier one
  const restored = documents.filter(isRestored).length;
  const earlier = documents.some((document) => document.earlier !== null) ? ", earlier ones included" : "";
  const count = `${numberText(restored)} of ${countText(documents.length, "document")}`;
  const sent = `${countText(applied.writes, "write request")} to ${terminalText(base_url)}${earlier}`;
  const problemOf = (problem: string) => terminalText(problem, 400);
  const compare = { program: invocation.program, args: ["verify", shortPath(run.folder), "--against", base_url] };
  return [
    [verdictOf(result, count, "they are as in the run"), { text: sent, paint: "faint" }],
    [targetsOf(plan, applied.documents)],
    [titled("Not made as planned:", firstOf(applied.problems, most, problemOf), "strong")],
    [troublesIn("Not restored:", missing, names, { documents: most, rows: 10 })],
    [troublesIn("Found by the proof:", differences ?? [], names, { documents: most, rows: most })],
    placesOf(proof, "the proof: the documents as they are now", journal),
    ...nextSteps(result, applied, invocation),
    [restored > 0 && commandsBelow("Compare the run with the service at any time:", commandText(compare))],
  ];
}

/** The names and ids of the datasets that received documents, so that you can find them at the service. */
function targetsOf({ datasets }: CopyPlan, copied: readonly CopiedDocument[]): Part {
  const targets = datasets.flatMap(({ target, documents }) => {
    const ids = new Set(documents.map(({ document_id }) => document_id));
    const into = copied.find((each) => ids.has(each.document_id) && each.target_dataset_id !== null);
    const id = target.kind === "there" ? target.id : into?.target_dataset_id;
    return id ? [nameAndId(target.name, terminalText(id, 80))] : [];
  });
  const shown = firstOf(targets, most, (text) => text);
  return titled(targets.length === 1 ? "Dataset:" : "Datasets:", shown);
}

/** A document that was not completely copied: first why, then its failed rows. */
function troublesOf({ document_id, outcome, reason, failed }: CopiedDocument): readonly Trouble[] {
  if (outcome === "restored") return [];
  const why = differenceOf("document", document_id, `${outcome}: ${reason ?? "no reason is known"}`);
  return [why, ...failed.map((row) => ({ ...row, document_id }))];
}

function nextSteps({ status, differences }: CopyResult, applied: Copied, invocation: Invocation): Paragraphs {
  const again = applyCommand(withoutOption(invocation, "dataset", "new")); // new would start another copy
  const mends = isIncomplete(applied) || (status === "partial" && differences === null);
  const isWhole = applied.documents.every(({ outcome }) => outcome === "restored");
  const replaces = isWhole && status === "different";
  return [
    [mends && commandsBelow("Once the cause is gone, run this again; nothing is written twice:", again)],
    [replaces && commandsBelow("To restore a document again, delete its copy at the service, then run:", again)],
  ];
}
