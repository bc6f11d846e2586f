import { countText, numberText } from "../../amounts.js";
import { wrapToWidth } from "../../cli/display-width.js";
import { shortPath } from "../../cli/table.js";
import { firstOf, type Page, terminalText, wrapped } from "../../cli/text.js";
import type { DatasetPlan, DocumentPlan } from "../../restore/copy/copy-plan.js";
import type { CopiedDocument, CopyResult } from "../../restore/copy/copy-result.js";
import { commandText, type Invocation, withoutOption } from "../../shell-text.js";
import { nameAndId } from "../../words.js";
import {
  applyCommand,
  nextCommand,
  renderDifferences,
  renderPlaces,
  renderTroubles,
  type Trouble,
  verdictText,
} from "../restore/rows.js";
import { documentsIn, namesIn, renderCopyPlan } from "./plan.js";

const mostMissing = { documents: 20, rows: 10 };
const mostDatasets = 20;
const mostProblems = 20;

/** Renders the result of a copy: the verdict, everything missing and why, the findings of the proof, and the next commands. */
export function renderCopied(result: CopyResult, page: Page, invocation: Invocation): string {
  const { applied, plan, differences, proof, journal } = result;
  if (applied === null) return renderCopyPlan(result, page, invocation);
  const names = namesIn(plan);
  const documents = documentsIn(plan);
  const refused = documents.flatMap(({ document_id: id, refused }) =>
    refused === null ? [] : [{ id, row: null, reason: `left out: ${refused}` }],
  );
  const missing = [...refused, ...applied.documents.flatMap(troublesOfCopied)];
  const outcomes = new Map(applied.documents.map(({ document_id, outcome }) => [document_id, outcome]));
  const isRestored = ({ document_id, earlier }: DocumentPlan) =>
    (outcomes.get(document_id) ?? earlier?.state) === "restored"; // by this run of the command, or by an earlier one
  const restored = documents.filter(isRestored).length;
  const count = `${numberText(restored)} of ${countText(documents.length, "document")}`;
  const earlier = documents.some((document) => document.earlier !== null) ? ", earlier ones included" : "";
  const sent = `${countText(applied.writes, "write request")} to ${terminalText(result.base_url)}${earlier}`;
  return [
    ...wrapped(verdictText(result, count, "they are as in the run", page), page),
    ...wrapped(sent, page, page.paint.faint),
    ...renderDatasets(result, page),
    ...renderProblems(applied.problems, page),
    ...renderTroubles("Not restored:", missing, mostMissing, names, page),
    ...renderDifferences("Found by the proof:", differences ?? [], names, page),
    ...renderPlaces({ dump: [proof, "the proof: the documents as they are now"], journal }, page),
    ...renderNext(result, page, invocation),
    ...(restored > 0
      ? nextCommand("Compare the run with the service at any time:", compareCommand(result, invocation), page)
      : []),
  ].join("\n");
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

function renderProblems(problems: readonly string[], page: Page): readonly string[] {
  if (problems.length === 0) return [];
  const renderOne = (each: string) => wrapped(`  ${terminalText(each, 400)}`, page);
  const others = (more: number) => [`  … and ${countText(more, "other")}: --json lists all`];
  const title = wrapToWidth("Not made as planned:", page.columns).map(page.paint.strong);
  return ["", ...title, ...firstOf(problems, mostProblems, renderOne, others)];
}

/** The report about a document that was not completely copied: first why, then its failed rows. */
function troublesOfCopied({ document_id: id, outcome, reason, failed }: CopiedDocument): readonly Trouble[] {
  if (outcome === "restored") return [];
  const rows = failed.map((row) => ({ id, row, reason: row.reason }));
  return [{ id, row: null, reason: `${outcome}: ${reason ?? "no reason is known"}` }, ...rows];
}

function renderNext(
  { applied, status, differences }: CopyResult,
  page: Page,
  invocation: Invocation,
): readonly string[] {
  const again = applyCommand(withoutOption(invocation, "dataset", "new")); // new would start another copy
  const isMissing = applied?.documents.some(({ outcome }) => outcome !== "restored") ?? false;
  const isUnproved = status === "partial" && differences === null;
  return [
    ...(isMissing || isUnproved || (applied?.problems.length ?? 0) > 0
      ? nextCommand("Once the cause is gone, run this again; nothing is written twice:", again, page)
      : []),
    ...(!isMissing && status === "different"
      ? nextCommand("To restore a document again, delete its copy at the service, then run:", again, page)
      : []),
  ];
}

/** The command that compares the run with the service later. */
function compareCommand({ run, base_url }: CopyResult, { program }: Invocation): string {
  return commandText({ program, args: ["verify", shortPath(run.folder), "--against", base_url] });
}
