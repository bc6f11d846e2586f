import { countText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { shortPath } from "../../cli/table.js";
import { type Page, terminalText } from "../../cli/text.js";
import type { CopyCounts, CopyPlan, DatasetPlan, DocumentPlan } from "../../restore/copy/copy-plan.js";
import { type CopyResult, type DocumentState, stateOf } from "../../restore/copy/copy-result.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { firstOf, nextCommand, renderMustKnow, renderTroubles } from "../restore/rows.js";
import { renderDatasetPlan } from "./datasets.js";

/** Maximum datasets to show, and maximum documents left out. */
const mostDatasets = 20;
const mostLeft = { documents: 20, rows: 1 };

/**
 * Renders the plan of a copy: each dataset with its documents, everything left out, totals, warnings, and the next commands.
 * Without an invocation, it shows no commands, because a question follows.
 */
export function renderCopyPlan(result: CopyResult, page: Page, invocation?: Invocation): string {
  const { run, base_url, plan, counts } = result;
  const wrapped = (text: string) => wrapToWidth(text, page.columns, "  ");
  const renderOne = (dataset: DatasetPlan) => renderDatasetPlan(dataset, isSplit(dataset, plan), page);
  return [
    ...wrapped(`Run ${run.run_id} of job ${run.job}, to restore to ${terminalText(base_url)}.`),
    ...firstOf(
      plan.datasets,
      mostDatasets,
      (dataset) => ["", ...renderOne(dataset)],
      (more) => ["", ...wrapped(`… and ${countText(more, "more dataset")}: --json lists all`)],
    ),
    ...renderLeft(result, page),
    "",
    ...totalLines(result, page).flatMap(wrapped),
    ...(counts.documents > 0 ? renderMustKnow(mustKnow, page) : []),
    ...(invocation === undefined ? [] : renderNext(result, page, invocation)),
  ].join("\n");
}

/** Whether the documents of the dumped dataset go to several target datasets, perhaps in separate copies. */
function isSplit({ key, dataset_id }: DatasetPlan, { datasets }: CopyPlan): boolean {
  return datasets.some((other) => other.dataset_id === dataset_id && (key !== dataset_id || other.key !== key));
}

function documentsOf({ plan }: CopyResult): readonly DocumentPlan[] {
  return plan.datasets.flatMap(({ documents }) => documents);
}

/** Renders the documents that are left out, and why. */
function renderLeft(result: CopyResult, page: Page): readonly string[] {
  const left = documentsOf(result).flatMap(({ document_id: id, refused }) =>
    refused === null ? [] : [{ id, row: null, reason: refused, next: "" }],
  );
  return renderTroubles("Left out:", left, mostLeft, namesIn(result.plan), page);
}

function totalLines(result: CopyResult, { paint }: Page): readonly string[] {
  const { counts } = result;
  const ofState = (state: DocumentState) => documentsOf(result).filter((document) => stateOf(document) === state);
  const others = [
    [counts.there, "there already"],
    [ofState("left out").length, "left out"],
  ] as const;
  const rest = others.filter(([count]) => count > 0).map(([count, text]) => `${numberText(count)} ${text}`);
  const coming = ofState("comes");
  return [
    ...(counts.writes === 0
      ? [`${paint.strong("plan")}: nothing to write`]
      : [`${paint.strong("plan")}: ${comingText(counts)}`, costText(counts)]),
    ...(counts.children > 0 ? [childrenText] : []),
    ...modelLines(coming),
    ...(rest.length > 0 ? [`documents that are not written: ${rest.join(", ")}`] : []),
  ];
}

/** `5 documents into 1 new dataset: 1,282 chunks, 4,000 child chunks` */
function comingText(counts: CopyCounts): string {
  const place = counts.datasets > 0 ? ` into ${countText(counts.datasets, "new dataset")}` : "";
  const rows = `${countText(counts.chunks, "chunk")}, ${countText(counts.children, "child chunk")}`;
  return `${countText(counts.documents, "document")}${place}: ${rows}`;
}

function costText(counts: CopyCounts): string {
  const requests = `${countText(counts.writes, "write request")} or more`;
  return `${requests}; ${countText(counts.characters, "character")} to embed, which costs tokens`;
}

const childrenText =
  "child chunks: the service makes its own; each one that is wrong or missing costs one more write request";

/** Warns that the service calls a language model for every new qa_model document, to generate questions about its text. */
function modelLines(coming: readonly DocumentPlan[]): readonly string[] {
  const questions = coming.filter(({ doc_form }) => doc_form === "qa_model").length;
  if (questions === 0) return [];
  return [`${countText(questions, "qa_model document")}: each stub costs one language model call`];
}

const mustKnow = [
  "Never copied: ids, gaps between positions, hit counts, times, authors, and the sources that documents were synchronised with. The service computes all embeddings again.",
  "Links in the texts to files of the old service still lead there.",
  "Do not index a restored document again: that leaves only the text of the stub that it was made from.",
];

function renderNext(result: CopyResult, page: Page, invocation: Invocation): readonly string[] {
  const { writes, there } = result.counts;
  const lines = (title: string, command: string) => nextCommand(title, command, page);
  return [
    ...(writes > 0 ? lines("Write it:", applyCommand(invocation)) : []),
    ...(writes === 0 && there > 0 ? lines("Check again what is there:", applyCommand(invocation)) : []),
  ];
}

/** Names of datasets and documents by their ids in the dump; null for an unknown name. */
export function namesIn({ datasets }: CopyPlan): ReadonlyMap<string, string | null> {
  const entry = (id: string, name: string) => [id, name === id ? null : name] as const;
  return new Map(
    datasets.flatMap(({ dataset_id, dataset_name, documents }) => [
      entry(dataset_id, dataset_name),
      ...documents.map(({ document_id, document_name }) => entry(document_id, document_name)),
    ]),
  );
}

/** The same command with `--apply`, which writes the plan. */
export function applyCommand(invocation: Invocation): string {
  return commandText(plainly(invocation), ["--apply"]);
}

/** The invocation that resumes this copy. It drops `--dataset new`, which would start another copy. */
export function resumeInvocation(invocation: Invocation): Invocation {
  return withoutOption(invocation, "dataset", "new");
}

/** The command that compares the run with the service later. */
export function compareCommand({ run, base_url }: CopyResult, { program }: Invocation): string {
  return commandText({ program, args: ["verify", shortPath(run.folder), "--against", base_url] });
}

function plainly(invocation: Invocation): Invocation {
  return withoutSwitches(invocation, ["apply", "yes", "json"]);
}
