import { countText, numberText } from "../../amounts.js";
import type { DocumentPlan, ListedLoss, PlanCounts, WhyListed } from "../../compare/lost/restore-plan.js";
import type { RestoreResult } from "../../restore/restore-options.js";
import type { Invocation } from "../../shell-text.js";
import { wrapToWidth } from "../display-width.js";
import { type Page, terminalText } from "../text.js";
import { renderDocumentPlan, sortListed } from "./document-plan.js";
import { applyCommand, chooseLines } from "./next-commands.js";

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
