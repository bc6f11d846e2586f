import { countText, numberText } from "../../amounts.js";
import { type Page, terminalText, wrapped } from "../../cli/text.js";
import { isMissed, type ListedLoss } from "../../compare/lost/restore-plan.js";
import { type AppliedRow, isMissing, type RestoreResult, type RowOutcome } from "../../restore/lost/restore-options.js";
import type { Invocation } from "../../shell-text.js";
import { decideLines, keepText, renderPlan } from "./plan.js";
import { applyCommand, nextCommand, renderPlaces, renderTroubles, type Trouble, verdictText } from "./rows.js";

const mostMissing = { documents: 100, rows: 10 };
const mostFound = { documents: 100, rows: 100 };

/** Renders the result of a restore: the verdict, every missing row and why, the findings of the proof, and the paths. */
export function renderRestored(result: RestoreResult, page: Page, invocation: Invocation): string {
  const { status, applied, plan, differences } = result;
  if (applied === null || status === "planned" || status === "nothing to restore")
    return renderPlan(result, page, invocation);
  const failed = applied.rows.filter(isMissing).map(troubleOfRow);
  const refused = plan.documents.flatMap(({ document_id: id, refused }) =>
    refused === null ? [] : [{ id, row: null, reason: `refused: ${refused}` }],
  );
  const listed = plan.documents.flatMap(({ document_id: id, listed }) => listed.map((loss) => ({ id, loss })));
  const left = listed.filter(({ loss }) => isMissed(loss)).map(({ id, loss }) => troubleOfLoss(id, loss));
  const found = (differences ?? []).map((row) => ({ id: row.document_id, row, reason: row.reason }));
  const others = listed.length - left.length;
  const without = `${countText(others, "other row")} left alone, found inside a chunk or as you decided: --json lists all`;
  const names = new Map(plan.documents.map(({ document_id, document_name }) => [document_id, document_name]));
  const isWritten = !isNothingWritten(result);
  return [
    ...wrapped(verdictOf(result, page), page),
    ...(isWritten ? wrapped(factsOf(result), page, page.paint.faint) : []),
    ...renderTroubles("Not restored:", [...refused, ...failed, ...left], mostMissing, names, page),
    ...renderTroubles("Found by the proof:", found, mostFound, names, page),
    ...(refused.length + failed.length > 0
      ? nextCommand("Once the cause is gone:", applyCommand(invocation), page)
      : []),
    ...(left.length > 0 ? decideLines(plan, invocation, page) : []),
    ...(others > 0 ? ["", ...wrapped(without, page)] : []),
    ...renderPlaces({ dump: [result.undo, undoText], journal: result.journal }, page),
    ...(isWritten ? ["", ...wrapped(keepText, page)] : []),
  ].join("\n");
}

function isNothingWritten({ applied }: RestoreResult): boolean {
  return applied?.rows.length === 0 && applied.writes === 0;
}

const undoText = "the undo: the documents before the first write";

function verdictOf(result: RestoreResult, page: Page): string {
  const { paint } = page;
  const { status, plan, applied } = result;
  const rows = applied?.rows ?? [];
  const done = numberText(rows.filter((row) => !isMissing(row)).length);
  const missed = plan.documents.flatMap(({ listed }) => listed).filter(isMissed).length;
  const all = rows.length + missed;
  if (isNothingWritten(result)) return `${paint.strong(paint.warn("nothing to write"))}: ${leftText(plan, missed)}`;
  if (status === "proved" && all === 0)
    return `${paint.strong(paint.good("restored"))}: everything was written before; proved`;
  return verdictText(result, `${done} of ${numberText(all)}`, "nothing else changed", page);
}

/** `37 rows are left alone, 1 document is refused` */
function leftText({ documents }: RestoreResult["plan"], missed: number): string {
  const refused = documents.filter((document) => document.refused !== null).length;
  const counted = (count: number, noun: string, rest: string) =>
    count === 0 ? [] : [`${countText(count, noun)} ${count === 1 ? "is" : "are"} ${rest}`];
  return [...counted(missed, "row", "left alone"), ...counted(refused, "document", "refused")].join(", ");
}

function factsOf({ applied, counts, base_url }: RestoreResult): string {
  const isWhole = applied?.rows.every(({ outcome }) => outcome === "written") ?? false;
  const embedded = `${isWhole ? "" : "at most "}${countText(counts.characters, "character")} embedded`;
  const sent = `${countText(applied?.writes ?? 0, "write request")} to ${terminalText(base_url)}`;
  return counts.characters === 0 ? sent : `${sent}, ${embedded}`;
}

const nextSteps: Readonly<Record<RowOutcome, string>> = {
  written: "",
  there: "",
  "changed meanwhile": "look at it in the service, then plan again",
  failed: "run the command again; nothing is written twice",
  "still enabled": "run the command again; the service accepts no change of a chunk for 10 minutes after the last one",
};

function troubleOfRow({ outcome, reason, document_id: id, ...row }: AppliedRow): Trouble {
  return { id, row, reason: `${outcome}: ${reason ?? "no reason is known"}`, next: nextSteps[outcome] };
}

/** A row that needs a decision has no next step here, because one command below covers all of them. */
function troubleOfLoss(id: string, loss: ListedLoss): Trouble {
  return {
    id,
    row: loss,
    reason: `${loss.why}: ${loss.reason}`,
    next: loss.choice === null ? "put it back by hand" : "",
  };
}
