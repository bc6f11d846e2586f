import { bytesText, countText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { shortPath } from "../../cli/table.js";
import { type Page, terminalText } from "../../cli/text.js";
import type { CopyPlan, CopySource, DatasetPlan, DocumentPlan } from "../../restore/copy/copy-plan.js";
import type { CopyResult } from "../../restore/copy/copy-result.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { renderTroubles, type Trouble } from "../restore/rows.js";
import { type DocumentState, renderDatasetPlan, stateOf } from "./datasets.js";

/** Datasets that are shown, and documents that do not come. */
const mostDatasets = 20;
const mostLeft = { documents: 20, rows: 1 };

/**
 * Renders the plan of a move: each dataset with its documents, all that does not come, totals, and what its owner must know, and
 * the commands to go on with. Without an invocation there are no commands, as a question follows.
 */
export function renderCopyPlan(result: CopyResult, page: Page, invocation?: Invocation): string {
  const { run, base_url, plan, counts } = result;
  const wrapped = (text: string) => wrapToWidth(text, page.columns, "  ");
  const more = plan.datasets.length - mostDatasets;
  const renderOne = (dataset: DatasetPlan) =>
    renderDatasetPlan(dataset, { from: plan.from, isSplit: isSplit(dataset, plan) }, page);
  return [
    ...wrapped(`Run ${run.run_id} of job ${run.job}, to restore to ${terminalText(base_url)}.`),
    ...plan.datasets.slice(0, mostDatasets).flatMap((dataset) => ["", ...renderOne(dataset)]),
    ...(more > 0 ? ["", ...wrapped(`… and ${countText(more, "more dataset")}: --json lists all`)] : []),
    ...renderLeft(result, page),
    "",
    ...totalLines(result, page).flatMap(wrapped),
    ...(counts.documents > 0 ? ["", ...renderMustKnow(plan.from, page)] : []),
    ...(invocation === undefined ? [] : renderNext(result, page, invocation)),
  ].join("\n");
}

/** Whether other datasets take documents of the same one of the dump; those may come another time. */
function isSplit({ key, dataset_id }: DatasetPlan, { datasets }: CopyPlan): boolean {
  return datasets.some((other) => other.dataset_id === dataset_id && (key !== dataset_id || other.key !== key));
}

function documentsOf({ plan }: CopyResult): readonly DocumentPlan[] {
  return plan.datasets.flatMap(({ documents }) => documents);
}

/** Documents that failed earlier, and those that are left out, each with the reason. */
function renderLeft(result: CopyResult, page: Page): readonly string[] {
  const troubles = (state: "failed" | "left out") =>
    documentsOf(result)
      .filter((document) => stateOf(document) === state)
      .map(troubleOf);
  const names = namesIn(result.plan);
  const failedTitle = "Failed earlier, and tried again only with --retry-failed:";
  return [
    ...renderTroubles(failedTitle, troubles("failed"), mostLeft, names, page),
    ...renderTroubles("Left out:", troubles("left out"), mostLeft, names, page),
  ];
}

function troubleOf({ document_id: id, refused, earlier }: DocumentPlan): Trouble {
  return { id, row: null, reason: refused ?? earlier?.reason ?? "no reason is known", next: "" };
}

function totalLines(result: CopyResult, { paint }: Page): readonly string[] {
  const { plan, counts } = result;
  const ofState = (state: DocumentState) => documentsOf(result).filter((document) => stateOf(document) === state);
  const others = [
    [counts.there, "there already"],
    [ofState("failed").length, "failed earlier"],
    [ofState("left out").length, "left out"],
  ] as const;
  const rest = others.filter(([count]) => count > 0).map(([count, text]) => `${numberText(count)} ${text}`);
  const coming = ofState("comes");
  return [
    ...(counts.writes === 0
      ? [`${paint.strong("plan")}: nothing to write`]
      : [`${paint.strong("plan")}: ${comingText(result, coming)}`, costText(result)]),
    ...(counts.children > 0 ? [childrenText] : []),
    ...(plan.from === "chunks" ? modelLines(coming) : []),
    ...(rest.length > 0 ? [`documents that are not written: ${rest.join(", ")}`] : []),
  ];
}

/** `5 documents into 1 new dataset: 1,282 chunks, 4,000 child chunks` */
function comingText({ plan, counts }: CopyResult, coming: readonly DocumentPlan[]): string {
  const place = counts.datasets > 0 ? ` into ${countText(counts.datasets, "new dataset")}` : "";
  const bytes = coming.reduce((sum, { original }) => sum + (original?.bytes ?? 0), 0);
  if (plan.from === "originals") return `${countText(coming.length, "original file")}${place}: ${bytesText(bytes)}`;
  const rows = `${countText(counts.chunks, "chunk")}, ${countText(counts.children, "child chunk")}`;
  return `${countText(counts.documents, "document")}${place}: ${rows}`;
}

function costText({ plan, counts }: CopyResult): string {
  const requests = `${countText(counts.writes, "write request")} or more`;
  if (plan.from === "originals")
    return `${requests}; the service embeds all that it finds in the files, which costs tokens`;
  return `${requests}; ${countText(counts.characters, "character")} to embed, which costs tokens`;
}

const childrenText =
  "child chunks: the service cuts some of its own; each that is wrong or missing costs a write request more";

/** The service asks a language model for questions about the text of every qa_model document that it makes. */
function modelLines(coming: readonly DocumentPlan[]): readonly string[] {
  const questions = coming.filter(({ doc_form }) => doc_form === "qa_model").length;
  if (questions === 0) return [];
  return [`${countText(questions, "qa_model document")}: each stub costs a call of a language model`];
}

const neverComes =
  "These never come: ids, gaps between positions, hit counts, times, authors, and the sources that documents were synchronised with. The service computes all embeddings again.";

const mustKnow: Readonly<Record<CopySource, readonly string[]>> = {
  chunks: [
    neverComes,
    "Links in the texts to files of the old service still lead there.",
    "Do not index a restored document again: that leaves only the text of the stub that it was made from.",
  ],
  originals: [
    "This is another thing than the documents of the dump: the service cuts their files again. Chunks, edits and child chunks of the dump do not come; without --from originals, they do.",
    neverComes,
  ],
};

function renderMustKnow(from: CopySource, { columns }: Page): readonly string[] {
  return [
    "Before you apply it:",
    ...mustKnow[from].flatMap((sentence) => wrapToWidth(`  - ${sentence}`, columns, "    ")),
  ];
}

function renderNext(result: CopyResult, { columns }: Page, invocation: Invocation): readonly string[] {
  const { writes, there } = result.counts;
  const hasFailed = documentsOf(result).some((document) => stateOf(document) === "failed");
  const lines = (title: string, command: string) => ["", ...wrapToWidth(title, columns), `  ${command}`];
  return [
    ...(writes > 0 ? lines("Write it:", applyCommand(invocation)) : []),
    ...(hasFailed ? lines("Try those again, too, that failed:", retryFailedCommand(invocation)) : []),
    ...(writes === 0 && there > 0 ? lines("Prove once more what is there:", applyCommand(invocation)) : []),
  ];
}

/** Names of datasets and documents by their ids in the dump; null where the name is not known. */
export function namesIn({ datasets }: CopyPlan): ReadonlyMap<string, string | null> {
  const entry = (id: string, name: string) => [id, name === id ? null : name] as const;
  return new Map(
    datasets.flatMap(({ dataset_id, dataset_name, documents }) => [
      entry(dataset_id, dataset_name),
      ...documents.map(({ document_id, document_name }) => entry(document_id, document_name)),
    ]),
  );
}

/** The command that writes the plan of this one. */
export function applyCommand(invocation: Invocation): string {
  return commandText(plainly(invocation), ["--apply"]);
}

/** The command that tries documents again that failed in an earlier process. */
export function retryFailedCommand(invocation: Invocation): string {
  return commandText(withoutSwitches(plainly(invocation), ["retry-failed"]), ["--apply", "--retry-failed"]);
}

/** The invocation that resumes what this one began. To say `--dataset new` once more would begin another copy. */
export function goingOn(invocation: Invocation): Invocation {
  return withoutOption(invocation, "dataset", "new");
}

/** The command that compares the run with the service at any later time. */
export function compareCommand({ run, base_url }: CopyResult, { program }: Invocation): string {
  return commandText({ program, args: ["verify", shortPath(run.folder), "--against", base_url] });
}

function plainly(invocation: Invocation): Invocation {
  return withoutSwitches(invocation, ["apply", "yes", "json"]);
}
