import { countText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { type Page, terminalText } from "../../cli/text.js";
import {
  type ChildRestore,
  type ChunkRestore,
  type DocumentPlan,
  type Evidence,
  isMissed,
  type ListedLoss,
  type PlanCounts,
  type RestorePlan,
  type WhyListed,
} from "../../compare/lost/restore-plan.js";

import type { RestoreResult } from "../../restore/restore-options.js";
import { commandText, type Invocation, withoutOption, withoutSwitches } from "../../shell-text.js";
import { nameAndId } from "../../words.js";
import { placeOf, rowLines } from "./rows.js";

/** Documents that are shown. */
const mostDocuments = 100;

/**
 * Renders the plan of a restore: per document what is written and what is left alone, totals, what its owner must know, and the
 * commands to go on with. Without an invocation there are no commands, as a question follows.
 */
export function renderPlan(result: RestoreResult, page: Page, invocation?: Invocation): string {
  const { run, base_url, against, plan, counts } = result;
  const wrapped = (text: string) => wrapToWidth(text, page.columns, "  ");
  const target =
    against === null ? `the documents as they stand at ${terminalText(base_url)}` : terminalText(against, 400);
  const head = wrapped(`Run ${run.run_id} of job ${run.job}, compared with ${target}.`);
  if (result.status === "nothing lost")
    return [
      ...head,
      "",
      ...wrapped(`${page.paint.strong(page.paint.good("nothing lost"))}: ${nothingLostText(plan.documents)}`),
    ].join("\n");
  const shown = plan.documents.filter(isWorthShowing);
  const more = shown.length - mostDocuments;
  return [
    ...head,
    ...shown.slice(0, mostDocuments).flatMap((document) => ["", ...renderDocumentPlan(document, page)]),
    ...(more > 0 ? ["", ...wrapped(`… and ${countText(more, "more document")}: --json lists all`)] : []),
    "",
    ...renderTotals(plan.documents, counts, page),
    ...(counts.rows > 0 || invocation === undefined ? ["", ...renderMustKnow(page)] : []),
    ...(invocation === undefined ? [] : renderNext(result, page, invocation)),
  ].join("\n");
}

function isWorthShowing({ refused, restores, listed, losses }: DocumentPlan): boolean {
  return refused !== null || restores.length + listed.length + losses.length > 0;
}

function nothingLostText(documents: readonly DocumentPlan[]): string {
  const present = documents.reduce((sum, document) => sum + document.present, 0);
  if (present === 0) return "the run has no row with a sign that somebody made or changed it by hand";
  return `${countText(present, "row")} made by hand, and everything stands there`;
}

function renderTotals(documents: readonly DocumentPlan[], counts: PlanCounts, { paint, columns }: Page) {
  const listed = documents.flatMap((document) => document.listed);
  const refused = documents.filter((document) => document.refused !== null).length;
  const lines = [
    `${paint.strong("plan")}: ${countText(counts.rows, "row")} to write${counts.rows > 0 ? `: ${writtenText(counts)}` : ""}`,
    ...(counts.rows > 0
      ? [
          `${countText(counts.writes, "write request")} at the least, ${countText(counts.characters, "character")} to embed`,
        ]
      : []),
    ...(listed.length > 0 ? [`${countText(listed.length, "row")} left alone: ${reasonsText(listed)}`] : []),
    ...(refused > 0 ? [`${countText(refused, "document")} refused`] : []),
  ];
  return lines.flatMap((line) => wrapToWidth(line, columns, "  "));
}

/** `3 chunks edited, 2 chunks added`. */
function writtenText(counts: PlanCounts): string {
  const kinds: readonly (readonly [count: number, noun: string, done: string])[] = [
    [counts.chunks_updated, "chunk", "edited"],
    [counts.chunks_added, "chunk", "added"],
    [counts.chunks_disabled, "chunk", "disabled"],
    [counts.children_replaced, "child chunk", "replaced"],
    [counts.children_added, "child chunk", "added"],
  ];
  return kinds
    .filter(([count]) => count > 0)
    .map(([count, noun, done]) => `${countText(count, noun)} ${done}`)
    .join(", ");
}

/** `2 conflict, 120 no evidence`. */
function reasonsText(listed: readonly ListedLoss[]): string {
  const counts = new Map<WhyListed, number>();
  for (const { why } of sortListed(listed)) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts].map(([why, count]) => `${numberText(count)} ${why}`).join(", ");
}

const mustKnow = [
  "Some things do not come back: ids, positions of single chunks (added ones come last), hit counts, times, authors, and keywords that were emptied.",
  "kbdump reads each chunk again right before it writes it, but the service takes no condition: an edit in that moment is overwritten. Choose a quiet time.",
  "The next re-index takes all of it again. To keep a text for good, put it into the source document.",
];

function renderMustKnow({ columns }: Page): readonly string[] {
  return ["Before you apply it:", ...mustKnow.flatMap((sentence) => wrapToWidth(`  - ${sentence}`, columns, "    "))];
}

function renderNext({ counts, plan }: RestoreResult, page: Page, invocation: Invocation): readonly string[] {
  const write = counts.rows > 0 ? ["", "Write it:", `  ${applyCommand(invocation)}`] : [];
  return [...write, ...chooseLines(plan, invocation, page)];
}

/** Rows of one kind that are shown of a document. */
const mostWritten = 50;
const mostOthers = 10;

const margin = "  ";
/** On fewer columns, rows have no margin below the title of their section, as an id would not fit beside it. */
const roomy = 60;

const evidenceTexts: Readonly<Record<Evidence, string>> = {
  updated_by: "updated_by names who edited it",
  created_at: "it was created after the indexing",
  disabled_by: "disabled_by names who disabled it",
  customized: "its type is customized",
  history: "the history of the job has what stood there before",
  neighbours: "the same file and settings put the other text between the same two chunks",
  chosen: "you chose it",
};

/** The reasons that are shown first: rows that were certainly made by hand. */
const order: readonly WhyListed[] = ["conflict", "unknown before", "no place", "disabled", "no evidence"];

/** The listed rows of a document, those first that were certainly made by hand. */
export function sortListed(listed: readonly ListedLoss[]): readonly ListedLoss[] {
  return listed.toSorted((one, other) => order.indexOf(one.why) - order.indexOf(other.why));
}

/** Renders the plan of a document: what is written, what is left alone and why, and what no request brings back. */
function renderDocumentPlan(document: DocumentPlan, { paint, columns }: Page): readonly string[] {
  const { document_id: id, document_name: name, refused, restores, listed, losses, present } = document;
  const inner = { paint, columns: columns - margin.length };
  const wrapped = (text: string) => wrapToWidth(text, inner.columns, margin);
  const below = { paint, columns: inner.columns - rowMargin(inner).length };
  const written = restores.map((restore) => chunkLines(restore, below));
  const others = sortListed(listed).map((loss) => listedLines(loss, below));
  const gone = losses.map((loss) =>
    wrapToWidth(
      `${loss.part} of ${placeOf(loss)}: ${terminalText(loss.reason, 300)}`,
      below.columns,
      columns < roomy ? "" : margin,
    ),
  );
  const lines = [
    ...(refused === null ? [] : wrapped(`refused: ${terminalText(refused, 400)}`).map(paint.bad)),
    ...section("To write:", written, mostWritten, inner),
    ...section("Left alone:", others, mostOthers, inner),
    ...section("Cannot be brought back:", gone, mostOthers, inner),
    ...(present > 0 ? wrapped(`still there: ${countText(present, "row")} made by hand`).map(paint.faint) : []),
  ];
  const head = wrapToWidth(nameAndId(name, terminalText(id, 80)), columns, margin);
  return [...head.map(paint.strong), ...lines.map((line) => margin + line)];
}

function section(title: string, rows: readonly (readonly string[])[], most: number, page: Page): readonly string[] {
  if (rows.length === 0) return [];
  const more = rows.length - most;
  const others = more > 0 ? [page.paint.faint(`… and ${countText(more, "other")}: --json lists all`)] : [];
  return [title, ...[...rows.slice(0, most).flat(), ...others].map((line) => rowMargin(page) + line)];
}

function rowMargin({ columns }: Page): string {
  return columns < roomy ? "" : margin;
}

function chunkLines(restore: ChunkRestore, page: Page): readonly string[] {
  const { target, texts, disable, children } = restore;
  const place = placeOf({ level: "chunk", position: restore.position, id: restore.chunk_id });
  const remarks = [
    evidenceOf(restore),
    ...(target === null ? [] : [`its id is now ${terminalText(target.id, 80)}`]),
    ...(texts !== null && target === null ? ["it comes back at the end of the document"] : []),
    ...(texts === null && disable ? [terminalText(target?.content ?? "", 80)] : []),
    ...(target?.status === "error" ? ["the chunk that stands there is in error, and is repaired"] : []),
    ...(texts !== null && disable ? ["it is disabled afterwards"] : []),
  ];
  const verb = texts === null ? (disable ? "disable" : "child chunks of") : target === null ? "add" : "edit";
  const row = rowLines(
    {
      title: `${verb} ${place}`,
      paint: verb === "add" ? page.paint.good : page.paint.strong,
      remarks: remarks.filter(Boolean),
      now: texts === null ? null : target,
      next: texts,
    },
    page,
  );
  const inner = { paint: page.paint, columns: page.columns - margin.length };
  return [...row, ...children.flatMap((child) => childLines(child, inner)).map((line) => margin + line)];
}

function childLines({ child_id, position, evidence, content, twin }: ChildRestore, page: Page): readonly string[] {
  const remarks = [evidenceText(evidence), ...(twin === null ? ["it comes back at the end of its chunk"] : [])];
  return rowLines(
    {
      title: `${twin === null ? "add" : "replace"} ${placeOf({ level: "child_chunk", position, id: child_id })}`,
      ...(twin === null ? { paint: page.paint.good } : {}),
      remarks: remarks.filter(Boolean),
      now: twin,
      next: { content },
    },
    page,
  );
}

function listedLines(loss: ListedLoss, page: Page): readonly string[] {
  return rowLines(
    {
      title: `${loss.why}: ${placeOf(loss)}`,
      paint: page.paint.warn,
      remarks: [terminalText(loss.reason, 400), choiceText(loss.choice)],
      now: loss.now === null ? null : { content: loss.now },
      next: { content: loss.content },
    },
    page,
  );
}

/** Says what choosing a listed row does. */
function choiceText(choice: ListedLoss["choice"]): string {
  if (choice === null) return "it cannot be chosen";
  return choice === "replace"
    ? "chosen with --chunk, it replaces the text that stands there"
    : "chosen with --chunk, it is added at the end";
}

/** The history proves another thing of a chunk that was added, and of one that is only disabled. */
function evidenceOf({ target, texts, evidence }: ChunkRestore): string {
  if (target === null) return evidenceText(evidence, "the history of the job saw it come");
  return texts === null ? evidenceText(evidence, "the history of the job has it enabled") : evidenceText(evidence);
}

function evidenceText(evidence: readonly Evidence[], history = evidenceTexts.history): string {
  return evidence.map((each) => (each === "history" ? history : evidenceTexts[each])).join("; ");
}

/** Ids that a command names at the most. */
const mostIds = 20;

/** The command that writes the plan of this one. */
export function applyCommand(invocation: Invocation): string {
  return commandWith(invocation, ["--apply"]);
}

/**
 * The command that plans with the listed rows, too, below its title; nothing where none can be chosen. Those that were certainly
 * made by hand come first. Where there are many, rows without evidence are left out: most of them are rightly gone.
 */
export function chooseLines({ documents }: RestorePlan, invocation: Invocation, { columns }: Page): readonly string[] {
  const rows = documents.flatMap(({ listed }) => listed).filter(({ choice }) => choice !== null);
  const certain = rows.filter(isMissed);
  const isMany = rows.length > mostIds && certain.length > 0;
  const named = isMany ? certain : [...certain, ...rows.filter((row) => !isMissed(row))];
  const ids = named.map(({ id }) => terminalText(id, 80));
  if (ids.length === 0) return [];
  const more = ids.length - mostIds;
  return [
    "",
    ...wrapToWidth("Choose rows that are left alone, by their ids; --json has their whole texts:", columns),
    `  ${commandWith(invocation, ["--chunk", ids.slice(0, mostIds).join(",")], false)}`,
    ...(more > 0 ? [`  … and ${countText(more, "other id")}: --json lists all`] : []),
  ];
}

/** The command once more. The documents as they stand take the place of another run, unless that is kept. */
function commandWith(invocation: Invocation, more: readonly string[], isApplied = true): string {
  const plain = withoutSwitches(invocation, ["apply", "yes", "json"]);
  return commandText(isApplied ? withoutOption(plain, "against") : plain, more);
}
