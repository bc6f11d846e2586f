import { countText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { type Column, renderTable } from "../../cli/table.js";
import { firstOf, inset, type Page, terminalText, wrapped } from "../../cli/text.js";
import {
  type CopyCounts,
  type CopyPlan,
  type DatasetPlan,
  type DocumentPlan,
  type LossPart,
  wishedName,
} from "../../restore/copy/copy-plan.js";
import { type CopyResult, isMade, stateOf } from "../../restore/copy/copy-result.js";
import type { Invocation } from "../../shell-text.js";
import { nameAndId, nameText } from "../../words.js";
import { applyCommand, nextCommand, renderMustKnow, renderPart, renderTroubles } from "../restore/rows.js";

/** Maximum datasets to show, and maximum documents that are not copied. */
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

/** Below this many columns, continuation lines are not indented, because an id would not fit. */
const roomy = 60;

/** The maximum length of a dataset name, in characters (POST /datasets of the Knowledge API). */
const longestName = 40;

/**
 * Renders the plan of a dataset: the target dataset with settings, fields and tags; the documents; the losses. `isSplit`: documents
 * of the dumped dataset go to several target datasets.
 */
function renderDatasetPlan(plan: DatasetPlan, isSplit: boolean, page: Page): readonly string[] {
  const inner = inset(page);
  const isUsed = plan.target.kind === "there" || isMade(plan);
  const facts = isUsed
    ? [targetText(plan), ...(isSplit ? [splitText(plan)] : []), ...settingLines(plan), ...fieldLines(plan)]
    : [noTarget];
  const lines = [
    ...facts.flatMap((text) => wrapToWidth(text, inner.columns, page.columns < roomy ? "" : "  ")),
    ...renderDocuments(plan.documents, inner),
    ...renderLosses(plan, inner),
  ];
  const { dataset_id: id, dataset_name: name } = plan;
  return renderPart(name === id ? null : name, id, lines, page);
}

const noTarget = "→ no dataset is made, because none of its documents is copied";

function targetText(plan: DatasetPlan): string {
  const { dataset_name, target } = plan;
  const wished = wishedName(plan);
  if (target.kind === "there") return `→ the dataset ${nameAndId(target.name, terminalText(target.id, 80))}`;
  if (target.name === dataset_name) return "→ a new dataset of the same name";
  if (target.name === wished) return `→ a new dataset, ${nameText(target.name)}`;
  const why = [...wished].length > longestName ? `is longer than ${longestName} characters` : "is taken there";
  return `→ a new dataset, ${nameText(target.name)}, as the name ${why}`;
}

function splitText({ documents: [first] }: DatasetPlan): string {
  const form = terminalText(first?.doc_form ?? "", 40);
  return `the service needs a dataset for each form: this one is for documents of the form ${form}`;
}

/** The settings of a new dataset that cost money or that the service may not support. */
function settingLines({ target, settings }: DatasetPlan): readonly string[] {
  if (target.kind === "there") return ["settings: they stay as they are"];
  const { indexing_technique, embedding_model: model, embedding_model_provider: provider, permission } = settings;
  const from = provider === null ? "" : ` of ${provider}`;
  const all = [indexing_technique, model === null ? null : `embeddings by ${model}${from}`, permission];
  return [`settings: ${terminalText(all.filter(Boolean).join(", "), 300)}`];
}

function fieldLines({ fields, built_in_fields, tags }: DatasetPlan): readonly string[] {
  const own = fields.map(({ name, type }) => `${name} (${type})`);
  const all = [...own, ...(built_in_fields ? ["the built-in ones"] : [])];
  return [
    ...(all.length > 0 ? [`metadata fields: ${terminalText(all.join(", "), 400)}`] : []),
    ...(tags.length > 0 ? [`tags: ${terminalText(tags.join(", "), 400)}`] : []),
  ];
}

/** How many documents to show in each state. */
const mostDocuments = 20;

/** The table of documents. A narrow terminal drops the counts first. */
const columns: readonly Column<DocumentPlan>[] = [
  { head: "document", cell: nameOf, least: 14 },
  { head: "form", cell: ({ doc_form }) => terminalText(doc_form, 40), drop: 2 },
  { head: "chunks", cell: ({ chunks }) => numberText(chunks), right: true },
  { head: "children", cell: ({ children }) => numberText(children), right: true, drop: 3 },
  { head: "disabled", cell: ({ disabled }) => numberText(disabled), right: true, drop: 1 },
  { head: "characters", cell: ({ characters }) => numberText(characters), right: true },
  { head: "", cell: (document) => remarksOn(document).join("; "), wraps: true },
];

/** Renders the documents to write, then those already at the service; empty if there are none. */
function renderDocuments(documents: readonly DocumentPlan[], page: Page): readonly string[] {
  const ofState = (state: "comes" | "there") => documents.filter((each) => stateOf(each) === state);
  const [coming, there] = [ofState("comes"), ofState("there")];
  if (coming.length + there.length === 0) return [];
  const shown = [coming, there].map((some) => some.slice(0, mostDocuments));
  const [head = [], ...lines] = renderTable(shown.flat(), columns, page);
  const end = shown[0]?.length ?? 0;
  const more = (all: readonly DocumentPlan[], text: string) =>
    all.length > mostDocuments
      ? wrapToWidth(`… and ${numberText(all.length - mostDocuments)} ${text}: --json lists all`, page.columns)
      : [];
  return [
    ...head,
    ...lines.slice(0, end).flat(),
    ...more(coming, "more").map(page.paint.faint),
    ...lines.slice(end).flat(),
    ...more(there, "more that are there already").map(page.paint.faint),
  ];
}

function nameOf({ document_name: name, document_id: id }: DocumentPlan): string {
  return (name === id ? "" : nameText(name)) || terminalText(id, 80);
}

function remarksOn({ earlier, enabled, archived }: DocumentPlan): readonly string[] {
  if (earlier?.state === "restored") return ["there already"];
  return [
    ...(earlier === null ? [] : ["begun earlier"]),
    ...(enabled ? [] : ["ends disabled"]),
    ...(archived ? ["ends archived"] : []),
  ];
}

/** Maximum losses to show per dataset. */
const mostLosses = 20;

/** By the part that a copy loses: text that names the part and how many rows lose it. */
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

/** One loss, shared by several documents. */
interface SharedLoss {
  readonly part: LossPart;
  readonly reason: string;
  rows: number;
  /** Names of documents; empty if the dataset itself has the loss. */
  readonly documents: string[];
}

/** Renders the expected losses of a dataset and its documents, each once; empty if there are none. */
function renderLosses(plan: DatasetPlan, page: Page): readonly string[] {
  const losses = sharedLosses(plan);
  if (losses.length === 0) return [];
  const others = (more: number) => [`… and ${countText(more, "other")}: --json lists all`];
  return ["Not copied:", ...firstOf(losses, mostLosses, (loss) => wrapped(`- ${textOf(loss)}`, page), others)];
}

function sharedLosses({ losses, documents }: DatasetPlan): readonly SharedLoss[] {
  const shared = new Map<string, SharedLoss>();
  const all = [
    ...losses.map((loss) => ({ ...loss, document: undefined })),
    ...documents.flatMap((each) => each.losses.map((loss) => ({ ...loss, document: each.document_name }))),
  ];
  for (const { part, rows, reason, document } of all) {
    const key = `${part}: ${reason}`;
    const own = shared.get(key) ?? { part, reason, rows: 0, documents: [] };
    own.rows += rows;
    if (document !== undefined) own.documents.push(document);
    shared.set(key, own);
  }
  return [...shared.values()];
}

/** `summaries of 5 chunks (2 documents): no request writes them` */
function textOf({ part, reason, rows, documents }: SharedLoss): string {
  const [first = ""] = documents;
  const only = nameText(first) || "1 document";
  const place =
    documents.length === 0 ? "" : ` (${documents.length === 1 ? only : countText(documents.length, "document")})`;
  return `${subjects[part](rows)}${place}: ${terminalText(reason, 300)}`;
}
