import { countText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { type Page, terminalText } from "../../cli/text.js";
import type { DatasetPlan, DocumentPlan } from "../../restore/copy/copy-plan.js";
import type { CopiedDocument, CopyResult } from "../../restore/copy/copy-result.js";
import type { Invocation } from "../../shell-text.js";
import { nameAndId } from "../../words.js";
import {
  firstOf,
  nextCommand,
  renderDifferences,
  renderPlaces,
  renderTroubles,
  type Trouble,
  verdictText,
} from "../restore/rows.js";
import { applyCommand, compareCommand, namesIn, renderCopyPlan, resumeInvocation } from "./plan.js";

const mostMissing = { documents: 20, rows: 10 };
const mostDatasets = 20;
const mostProblems = 20;

/** Renders the result of a copy: the verdict, everything missing and why, the findings of the proof, and the next commands. */
export function renderCopied(result: CopyResult, page: Page, invocation: Invocation): string {
  const { applied, plan, differences } = result;
  if (applied === null) return renderCopyPlan(result, page, invocation);
  const names = namesIn(plan);
  const missing = [...allDocuments(result).flatMap(troubleOfRefused), ...applied.documents.flatMap(troublesOfCopied)];
  const isLater = allDocuments(result).some(({ earlier }) => earlier !== null);
  const sent = `${countText(applied.writes, "write request")} to ${terminalText(result.base_url)}${isLater ? ", earlier ones included" : ""}`;
  return [
    ...wrapToWidth(verdictOf(result, page), page.columns, "  "),
    ...wrapToWidth(sent, page.columns, "  ").map(page.paint.faint),
    ...renderDatasets(result, page),
    ...renderProblems(applied.problems, page),
    ...renderTroubles("Not restored:", missing, mostMissing, names, page),
    ...renderDifferences("Found by the proof:", differences ?? [], names, page),
    ...renderPlaces(
      { dump: [result.proof, "the proof: the documents as they are now"], journal: result.journal },
      page,
    ),
    ...renderNext(result, page, invocation),
  ].join("\n");
}

function allDocuments({ plan }: Pick<CopyResult, "plan">): readonly DocumentPlan[] {
  return plan.datasets.flatMap(({ documents }) => documents);
}

function verdictOf(result: CopyResult, page: Page): string {
  const count = `${numberText(restoredIn(result).length)} of ${countText(allDocuments(result).length, "document")}`;
  return verdictText(result, count, "they are as in the run", page);
}

/** Documents restored by this run of the command, or by an earlier one if this one has no outcome for them. */
function restoredIn({ plan, applied }: CopyResult): readonly DocumentPlan[] {
  const outcomes = new Map(applied?.documents.map(({ document_id, outcome }) => [document_id, outcome]));
  return allDocuments({ plan }).filter(({ document_id, earlier }) => {
    const outcome = outcomes.get(document_id);
    return outcome === undefined ? earlier?.state === "restored" : outcome === "restored";
  });
}

/** Renders the names and ids of the datasets that received documents, so that you can find them at the service. */
function renderDatasets({ plan, applied }: CopyResult, { columns }: Page): readonly string[] {
  const lines = plan.datasets.flatMap((dataset) => {
    const id = targetIdOf(dataset, applied?.documents ?? []);
    return id === null ? [] : [`  ${nameAndId(dataset.target.name, terminalText(id, 80))}`];
  });
  if (lines.length === 0) return [];
  const others = (more: number) => [`  … and ${numberText(more)} more: --json lists all`];
  return [
    "",
    lines.length === 1 ? "Dataset:" : "Datasets:",
    ...firstOf(lines, mostDatasets, (line) => wrapToWidth(line, columns, "  "), others),
  ];
}

function targetIdOf({ target, documents: planned }: DatasetPlan, documents: readonly CopiedDocument[]): string | null {
  if (target.kind === "there") return target.id;
  const ids = new Set(planned.map(({ document_id }) => document_id));
  const own = documents.filter(({ document_id }) => ids.has(document_id));
  return own.find(({ target_dataset_id: id }) => id !== null)?.target_dataset_id ?? null;
}

function renderProblems(problems: readonly string[], { paint, columns }: Page): readonly string[] {
  if (problems.length === 0) return [];
  const renderOne = (each: string) => wrapToWidth(`  ${terminalText(each, 400)}`, columns, "    ");
  return [
    "",
    ...wrapToWidth("Not made as planned:", columns).map(paint.strong),
    ...firstOf(problems, mostProblems, renderOne, (more) => [`  … and ${countText(more, "other")}: --json lists all`]),
  ];
}

function troubleOfRefused({ document_id: id, refused }: DocumentPlan): readonly Trouble[] {
  return refused === null ? [] : [{ id, row: null, reason: `left out: ${refused}`, next: "" }];
}

/** The trouble with the document, followed by its failed rows. */
function troublesOfCopied({ document_id: id, outcome, reason, failed }: CopiedDocument): readonly Trouble[] {
  if (outcome === "restored") return [];
  const rows = failed.map((row) => ({ id, row, reason: row.reason, next: "" }));
  return [{ id, row: null, reason: `${outcome}: ${reason ?? "no reason is known"}`, next: "" }, ...rows];
}

function renderNext(result: CopyResult, page: Page, invocation: Invocation): readonly string[] {
  const { applied, status } = result;
  const again = resumeInvocation(invocation);
  const lines = (title: string, command: string) => nextCommand(title, command, page);
  const isMissing = applied?.documents.some(({ outcome }) => outcome !== "restored") ?? false;
  const isUnproved = status === "partial" && result.differences === null;
  const compares = restoredIn(result).length > 0;
  return [
    ...(isMissing || isUnproved || (applied?.problems.length ?? 0) > 0
      ? lines("Once the cause is gone, run this again; nothing is written twice:", applyCommand(again))
      : []),
    ...(!isMissing && status === "different"
      ? lines("To restore a document again, delete its copy at the service, then run:", applyCommand(again))
      : []),
    ...(compares ? lines("Compare the run with the service at any time:", compareCommand(result, invocation)) : []),
  ];
}
