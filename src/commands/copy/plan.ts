import { countText, numberText } from "../../amounts.js";
import { firstOf, type Page, terminalText, wrapped } from "../../cli/text.js";
import type { CopyCounts, CopyPlan, DatasetPlan, DocumentPlan } from "../../restore/copy/copy-plan.js";
import { type CopyResult, stateOf } from "../../restore/copy/copy-result.js";
import type { Invocation } from "../../shell-text.js";
import { applyCommand, nextCommand, renderMustKnow, renderTroubles } from "../restore/rows.js";
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
  const left = documentsIn(plan).flatMap(({ document_id: id, refused }) =>
    refused === null ? [] : [{ id, row: null, reason: refused }],
  );
  return [
    ...wrapped(`Run ${run.run_id} of job ${run.job}, to restore to ${terminalText(base_url)}.`, page),
    ...firstOf(
      plan.datasets,
      mostDatasets,
      (dataset) => ["", ...renderDatasetPlan(dataset, isSplit(dataset, plan), page)],
      (more) => ["", ...wrapped(`… and ${countText(more, "more dataset")}: --json lists all`, page)],
    ),
    ...renderTroubles("Left out:", left, mostLeft, namesIn(plan), page),
    "",
    ...totalLines(result, page).flatMap((line) => wrapped(line, page)),
    ...(counts.documents > 0 ? renderMustKnow(mustKnow, page) : []),
    ...(invocation === undefined ? [] : renderNext(result, page, invocation)),
  ].join("\n");
}

/** Whether the documents of the dumped dataset go to several target datasets, perhaps in separate copies. */
function isSplit({ key, dataset_id }: DatasetPlan, { datasets }: CopyPlan): boolean {
  return datasets.some((other) => other.dataset_id === dataset_id && (key !== dataset_id || other.key !== key));
}

export function documentsIn({ datasets }: CopyPlan): readonly DocumentPlan[] {
  return datasets.flatMap(({ documents }) => documents);
}

function totalLines({ counts, plan }: CopyResult, { paint }: Page): readonly string[] {
  const others = [
    [counts.there, "there already"],
    [counts.left_out, "left out"],
  ] as const;
  const rest = others.filter(([count]) => count > 0).map(([count, text]) => `${numberText(count)} ${text}`);
  const coming = documentsIn(plan).filter((document) => stateOf(document) === "comes");
  const questions = coming.filter(({ doc_form }) => doc_form === "qa_model").length;
  return [
    ...(counts.writes === 0
      ? [`${paint.strong("plan")}: nothing to write`]
      : [`${paint.strong("plan")}: ${comingText(counts)}`, costText(counts)]),
    ...(counts.children > 0 ? [childrenText] : []),
    // The service calls a language model for every new one, to generate questions about its text.
    ...(questions > 0 ? [`${countText(questions, "qa_model document")}: each stub costs one language model call`] : []),
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

const mustKnow = [
  "Never copied: ids, gaps between positions, hit counts, times, authors, and the sources that documents were synchronised with. The service computes all embeddings again.",
  "Links in the texts to files of the old service still lead there.",
  "Do not index a restored document again: that leaves only the text of the stub that it was made from.",
];

function renderNext({ counts }: CopyResult, page: Page, invocation: Invocation): readonly string[] {
  if (counts.writes + counts.there === 0) return [];
  const title = counts.writes > 0 ? "Write it:" : "Check again what is there:";
  return nextCommand(title, applyCommand(invocation), page);
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
